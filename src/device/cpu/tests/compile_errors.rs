//! What a user reads when a `.cu` file is refused.

use super::{cache_dir, compile_in};
use crate::device::CompileErrorKind;

/// The message for a source and a kernel name.
fn refusal_of(source: &str, kernel: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("k.cu");
    std::fs::write(&file, source).unwrap();
    match compile_in(&cache_dir(), &file, &[kernel], &[]) {
        Ok(_) => panic!("accepted: {source}"),
        Err(error) => {
            assert_eq!(error.kind, CompileErrorKind::Source, "{error}");
            assert!(!error.message.contains('\n'));
            error.message
        }
    }
}

fn refused(source: &str, message: &str) {
    let got = refusal_of(source, "k");
    assert!(got.contains(message), "wanted {message:?}, got {got:?}");
}

#[test]
fn unsupported_features_are_named_with_their_line() {
    let kernel = "extern \"C\" __global__ void k(float* x) { x[0] = 1; }\n";
    for (include, feature) in [
        ("mma.h", "tensor-core fragments (wmma)"),
        ("cuda/pipeline", "asynchronous copy pipelines"),
        ("cuda/barrier", "asynchronous barriers"),
        ("cub/cub.cuh", "CUB"),
        ("cutlass/cutlass.h", "CUTLASS"),
        ("cuda_fp8.h", "fp8"),
    ] {
        refused(
            &format!("\n#include <{include}>\n{kernel}"),
            &format!("k.cu:2: unsupported on the cpu device: {feature}"),
        );
    }
    refused(&format!("#include <vector>\n{kernel}"), "k.cu:1: the standard library header <vector>");
    refused(
        "extern \"C\" __global__ void k(unsigned* x) {\n  asm volatile(\"mov.u32 %0, %%laneid;\" : \"=r\"(x[0]));\n}\n",
        "k.cu:2: unsupported on the cpu device: inline PTX asm",
    );
    refused(
        "extern \"C\" __global__ void k(unsigned* x) {\n  __asm__(\"nop;\");\n}\n",
        "k.cu:2: unsupported on the cpu device: inline PTX asm",
    );
    refused(
        "extern \"C\" __global__ void k(cudaTextureObject_t t, float* x) {\n  x[0] = tex1Dfetch<float>(t, 0);\n}\n",
        "k.cu:2: unsupported on the cpu device: textures (tex1Dfetch)",
    );
    refused(
        "__global__ void child(float* x) { x[0] = 1; }\nextern \"C\" __global__ void k(float* x) {\n  child<<<1, 32>>>(x);\n}\n",
        "k.cu:3: unsupported on the cpu device: dynamic parallelism",
    );
    refused(
        "#include <cooperative_groups.h>\nextern \"C\" __global__ void k(float* x) {\n  cooperative_groups::this_grid().sync();\n}\n",
        "k.cu:3: unsupported on the cpu device: grid-wide sync",
    );
    refused(
        "extern \"C\" __global__ void k(int* x) {\n  x[0] = __vadd4(x[0], x[1]);\n}\n",
        "k.cu:2: unknown or unsupported intrinsic '__vadd4'",
    );
    refused(
        "extern \"C\" __global__ void k(int* x) {\n  if (x[0]) throw 1;\n}\n",
        "k.cu:2: exceptions are not allowed",
    );
}

#[test]
fn features_in_comments_and_strings_are_no_features() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("k.cu");
    std::fs::write(&file, "// asm(\"not code\") and <<<1,2>>>\nextern \"C\" __global__ void k(int* x) { const char* s = \"asm <<<\"; x[0] = s[0]; }\n").unwrap();
    compile_in(&cache_dir(), &file, &["k"], &[]).unwrap();
}

#[test]
fn plain_mistakes_have_file_and_line() {
    refused("extern \"C\" __global__ void k(int* x) {\n  x[0] = 1\n}\n", "k.cu:2: expected ';'");
    refused(
        "extern \"C\" __global__ void k(int* x) {\n  x[0] = blockDimm.x;\n}\n",
        "k.cu:2: 'blockDimm' is not declared",
    );
    refused(
        "extern \"C\" __global__ void k(int* x) {\n  x[0] = __shfl_sync(0xffffffff, *(int4*)x, 0).x;\n}\n",
        "k.cu:2: ",
    );
    refused("", "no kernel 'k' in k.cu; it defines no __global__ function");
    refused(
        "extern \"C\" int system(const char*);\nextern \"C\" __global__ void k(int* x) { x[0] = system(\"true\"); }\n",
        "k.cu:1: undefined symbol 'system'",
    );
    refused(
        "namespace a { __device__ int helper(int); }\nextern \"C\" __global__ void k(int* x) {\n  x[0] = a::helper(1); }\n",
        "k.cu:1: undefined symbol 'helper'",
    );
    refused(
        "extern \"C\" __global__ void k(int* x) {\n  __shared__ int s = 5;\n  x[0] = s++;\n}\n",
        "k.cu:2: __shared__ variable 's' has an initial value",
    );
    refused(
        "struct S { int a; __device__ S() : a(3) {} };\nextern \"C\" __global__ void k(int* x) {\n  __shared__ S s;\n  x[0] = s.a++;\n}\n",
        "k.cu:3: __shared__ variable 's'",
    );
    refused(
        "extern \"C\" __global__ void k(float* x, int n) {\n  float big[200000];\n  for (int i = 0; i < 200000; ++i) big[i] = x[i];\n  x[0] = big[n];\n}\n",
        "bytes of local memory",
    );
}

#[test]
fn missing_and_wrong_kernels() {
    let source = "extern \"C\" __global__ void rms_norm(float* x) {}\n__global__ void softmax(float* x) {}\n\
                  __device__ void helper(float* x) {}\ntemplate <class T> __global__ void scale(T* x) {}\n\
                  __device__ int counts() { return 1; }\n";
    let got = |kernel| refusal_of(source, kernel);
    assert_eq!(
        got("rms_nrom"),
        "k.cu: no kernel 'rms_nrom' in k.cu; it has: rms_norm, softmax, scale; did you mean 'rms_norm'?"
    );
    assert!(got("helper").contains("'helper' is a __device__ function, not a kernel"));
    assert!(got("counts").contains("'counts' is a __device__ function, not a kernel"));
    assert!(got("scale").contains("name an instance, such as scale<float>"), "{}", got("scale"));
    assert!(got("scale<flaot>").contains("kernel 'scale<flaot>'"), "{}", got("scale<flaot>"));
    for hostile in ["", "k; int x", "k\n#error", "k\"", "k<", "1k", "k{}"] {
        assert!(got(hostile).contains("is not a kernel name expression"), "{hostile:?}");
    }
}

#[test]
fn options() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("k.cu");
    std::fs::create_dir(dir.path().join("inc dir")).unwrap();
    std::fs::write(dir.path().join("inc dir/two.h"), "#define TWO 2\n").unwrap();
    std::fs::write(
        &file,
        "#include \"two.h\"\nextern \"C\" __global__ void k(int* x) { x[0] = VALUE + TWO + FLAG; }\n",
    )
    .unwrap();
    let compile = |options: &[&str]| compile_in(&cache_dir(), &file, &["k"], options);
    compile(&["-DVALUE=3", "-D", "FLAG", "-I", "inc dir", "--use_fast_math"]).unwrap();
    compile(&["-DVALUE=(1, 2)", "-DFLAG=1", "-Iinc dir"]).unwrap();
    for (bad, part) in [
        ("-O3", "option '-O3' is not supported"),
        ("-D1X=2", "names no macro"),
        ("-Inowhere", "names no folder"),
        ("--gpu-architecture=sm_90", "not supported"),
    ] {
        let error = compile(&["-DVALUE=3", "-DFLAG", "-Iinc dir", bad]).unwrap_err();
        assert!(error.message.contains(part), "{error}");
    }
    assert!(compile(&["-DVALUE=3"]).unwrap_err().message.contains("header 'two.h' not found"));
}
