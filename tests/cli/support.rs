//! A throw-away workspace with a tiny op, its candidate, and a cache of its own.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

pub(crate) const POPCORN: &str = env!("CARGO_BIN_EXE_popcorn");

pub(crate) const TWICE_OP: &str = r#"
return {
  summary = "Twice its input.",
  tags = { "test" },
  params = { { "x", "float[..., hidden]" } },
  returns = { "float[..., hidden]" },
  reference = function(x) return (x:upcast() * 2):to(x.dtype) end,
  impls = { popcorn = "twice_cu" },
}
"#;

pub(crate) const TWICE_CU: &str = r#"#include <cuda_bf16.h>
#include <cuda_fp16.h>
template <typename T>
__global__ void twice(const T* x, T* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = T(2.f * float(x[i]));
}
"#;

pub(crate) const TWICE_LUA: &str = r#"local mod = gpu.compile("twice.cu")
local M = {}
local function twice(x)
  local y = gpu.empty_like(x)
  mod:kernel("twice", x.dtype) { grid = gpu.cdiv(x.numel, 64), block = 64, x, y, x.numel }
  return y
end
function M.twice(x) return twice(x) end
function M.twice_backward(saved, dy) return { x = twice(dy) } end
return M
"#;

/// A small case of the op above.
pub(crate) const CASE: &str = "hidden=33,batch=(4,),float32";

pub(crate) struct Fixture {
    folder: TempDir,
}

/// What a run of `popcorn loop try … --json` left behind.
pub(crate) struct Tried {
    pub(crate) code: i32,
    pub(crate) record: Value,
    pub(crate) stderr: String,
}

impl Tried {
    pub(crate) fn status(&self) -> &str {
        self.record["results"][0]["status"].as_str().unwrap_or("no result")
    }

    pub(crate) fn reason(&self) -> &str {
        self.record["results"][0]["reason"].as_str().unwrap_or("no reason")
    }

    /// Reason and the lines kept with it.
    pub(crate) fn words(&self) -> String {
        format!("{} {}", self.reason(), self.record["results"][0]["detail"])
    }
}

impl Fixture {
    /// A workspace with the op `twice` and a right candidate.
    pub(crate) fn new() -> Self {
        let fixture = Self { folder: TempDir::new().expect("a temporary folder") };
        for folder in ["ws/ops", "ws/scripts", "ws/kernels"] {
            std::fs::create_dir_all(fixture.folder.path().join(folder)).expect("a folder");
        }
        fixture.write("ops/twice.lua", TWICE_OP);
        fixture.write("kernels/twice.cu", TWICE_CU);
        fixture.write("kernels/twice_cu.lua", TWICE_LUA);
        fixture
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join("ws")
    }

    pub(crate) fn cache(&self) -> PathBuf {
        self.folder.path().join("cache")
    }

    pub(crate) fn log(&self, op: &str) -> PathBuf {
        self.cache().join("v4/loop").join(format!("{op}.jsonl"))
    }

    pub(crate) fn log_lines(&self, op: &str) -> Vec<String> {
        std::fs::read_to_string(self.log(op)).unwrap_or_default().lines().map(str::to_owned).collect()
    }

    pub(crate) fn write(&self, relative: &str, text: &str) {
        let path = self.root().join(relative);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }

    /// Replaces text in a workspace file; the text must be there.
    pub(crate) fn edit(&self, relative: &str, from: &str, to: &str) {
        let path = self.root().join(relative);
        let text = std::fs::read_to_string(&path).expect("a file");
        assert!(text.contains(from), "{relative} has no '{from}'");
        std::fs::write(path, text.replace(from, to)).expect("a file");
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(POPCORN);
        command.args(args).current_dir(self.root()).env("POPCORN_CACHE_DIR", self.cache()).env("NO_COLOR", "1");
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().expect("popcorn starts")
    }

    /// `popcorn loop try twice` on one small case with two draws, and its record.
    pub(crate) fn try_twice(&self, more: &[&str]) -> Tried {
        let mut args = vec!["loop", "try", "twice", "--case", CASE, "--reps", "2", "--json"];
        args.extend(more);
        let output = self.run(&args);
        let stdout = text(&output.stdout);
        let stderr = text(&output.stderr);
        let record = serde_json::from_str(stdout.trim())
            .unwrap_or_else(|_| panic!("no record on stdout: {stdout:?}, stderr {stderr:?}"));
        Tried { code: output.status.code().expect("an exit code"), record, stderr }
    }
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs a command that must fail with `code`, with every word in stderr and nothing on stdout.
pub(crate) fn assert_fails(output: &Output, code: i32, words: &[&str]) {
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "stdout {stdout:?}, stderr {stderr:?}");
    for word in words {
        assert!(stderr.contains(word), "stderr lacks {word:?}: {stderr}");
    }
    assert!(!stderr.contains("panicked"), "{stderr}");
}

/// Processes whose command line contains `word`, other than this one.
pub(crate) fn processes_with(word: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").expect("/proc").flatten() {
        let path: &Path = &entry.path();
        let is_process =
            path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.parse::<u32>().is_ok());
        if !is_process || path.ends_with(std::process::id().to_string()) {
            continue;
        }
        let line = std::fs::read(path.join("cmdline")).map(|bytes| text(&bytes).replace('\0', " ")).unwrap_or_default();
        let environment = std::fs::read(path.join("environ")).map(|bytes| text(&bytes)).unwrap_or_default();
        if !line.is_empty() && (line.contains(word) || environment.contains(word)) {
            found.push(line);
        }
    }
    found
}
