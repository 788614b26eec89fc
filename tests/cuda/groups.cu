#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

extern "C" __global__ void tiles(const int* in, int* out) {
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<8> tile = cg::tiled_partition<8>(block);
    int rank = block.thread_rank();
    int* row = out + rank * 6;
    row[0] = cg::reduce(tile, in[rank], cg::plus<int>());
    row[1] = cg::reduce(tile, in[rank], cg::greater<int>());
    row[2] = tile.shfl(in[rank], 2);
    row[3] = tile.thread_rank() + 100 * tile.meta_group_rank();
    row[4] = (int)tile.ballot(in[rank] & 1);
    block.sync();
    row[5] = tile.any(rank == 9) + 2 * tile.all(rank < 16);
}
