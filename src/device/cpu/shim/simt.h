// CUDA C++ for host compilers: what NVRTC declares before the first line of a .cu file.
#pragma once
#include "simt/base.h"
#include "simt/vector_types.h"
#include "simt/abi.h"
#include "simt/sync.h"
#include "simt/atomic.h"
#include "simt/math.h"
#include "simt/integer.h"
#include "simt/memory.h"
#include "simt/unsupported.h"
#include "simt/entry.h"
#include "simt/qualifiers.h"
