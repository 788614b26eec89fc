//! The embedded device: unmodified CUDA C++ on host cores, with real blocks, warps and barriers.
