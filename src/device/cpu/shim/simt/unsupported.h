// Names that exist on a GPU and cannot run here: a call is a compile error at the caller's line that names the feature.
#pragma once
typedef unsigned long long cudaTextureObject_t;
typedef unsigned long long cudaSurfaceObject_t;
#define SIMT_NONE(name, what)                                                                       \
    template <class T = void, class... A>                                                           \
    __attribute__((error("unsupported on the cpu device: " what))) T name(A...);
SIMT_NONE(tex1D, "textures (tex1D)")
SIMT_NONE(tex1Dfetch, "textures (tex1Dfetch)")
SIMT_NONE(tex2D, "textures (tex2D)")
SIMT_NONE(tex3D, "textures (tex3D)")
SIMT_NONE(surf1Dread, "surfaces (surf1Dread)")
SIMT_NONE(surf2Dread, "surfaces (surf2Dread)")
SIMT_NONE(surf2Dwrite, "surfaces (surf2Dwrite)")
SIMT_NONE(cudaGridDependencySynchronize, "programmatic dependent launch (cudaGridDependencySynchronize)")
SIMT_NONE(cudaTriggerProgrammaticLaunchCompletion,
          "programmatic dependent launch (cudaTriggerProgrammaticLaunchCompletion)")
#undef SIMT_NONE
