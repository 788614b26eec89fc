// What each object carries for the host; comes after the kernels and their entry list.
#pragma once
extern "C" {
__attribute__((visibility("hidden"))) simt_runtime simt_host;
__attribute__((visibility("hidden"))) dim3 simt_block_dim, simt_grid_dim;
}
static void simt_locate_shared(simt_shared* out) {
    *out = simt_shared{simt_shared_begin, simt_shared_end, simt_dynamic, &simt_here};
}
