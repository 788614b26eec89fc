//! fp64 truth: an eager tensor engine with a reverse-mode tape, under PyTorch's names.
