//! Compiles what was launched, and fits each launch to its kernel's real parameter list.

use std::path::Path;

use super::error::candidate;
use super::recorder::{Given, Launch, Recorder, Step};
use super::{limits, scalar};
use crate::device::{CompileErrorKind, CompileJob, Compiler};
use crate::model::{Arg, DType, KernelInfo, Module, Node, ParamInfo, ParamKind, Plan, PlanError, PlanErrorKind};

/// Turns a finished recording into a plan.
pub(super) fn resolve(recorder: Recorder, compiler: &dyn Compiler, cache_dir: &Path) -> Result<Plan, PlanError> {
    let mut modules = Vec::new();
    let mut index_of = Vec::new();
    for ((source, options), kernels) in &recorder.modules {
        index_of.push(modules.len() as u32);
        if kernels.is_empty() {
            continue; // declared, but no kernel of it is launched by this case
        }
        let job = CompileJob {
            source: source.clone(),
            options: options.clone(),
            kernels: kernels.iter().cloned().collect(),
            cache_dir: cache_dir.to_owned(),
        };
        modules.push(compiler.compile(&job).map_err(|error| PlanError {
            kind: match error.kind {
                CompileErrorKind::Source => PlanErrorKind::Compile,
                CompileErrorKind::Environment => PlanErrorKind::Environment,
            },
            message: error.message,
            detail: error.log,
        })?);
    }
    let names: Vec<Vec<&String>> = recorder.modules.values().map(|kernels| kernels.iter().collect()).collect();
    let resolve_all = |steps: Vec<Step>| -> Result<Vec<Node>, PlanError> {
        steps
            .into_iter()
            .map(|step| match step {
                Step::Node(node) => Ok(node),
                Step::Launch(launch) => {
                    let name = names[launch.module][launch.kernel];
                    let module = index_of[launch.module];
                    fit(launch, module, name, &modules[module as usize])
                }
            })
            .collect()
    };
    let forward = resolve_all(recorder.forward)?;
    let backward = resolve_all(recorder.backward)?;
    let buffers = recorder.slots.into_iter().map(|slot| slot.buffer).collect();
    Ok(Plan { compiler: compiler.describe(), modules, buffers, forward, backward })
}

fn fit(launch: Launch, module: u32, name: &str, compiled: &Module) -> Result<Node, PlanError> {
    let Some((kernel, info)) = compiled.kernels.iter().enumerate().find(|(_, info)| info.name == name) else {
        return Err(PlanError {
            kind: PlanErrorKind::Environment,
            message: format!("{}: the compiler left out kernel {name}", launch.at),
            detail: String::new(),
        });
    };
    let args = arguments(&launch, info).map_err(|message| PlanError {
        kind: PlanErrorKind::Launch,
        message: format!("{}: kernel {name}: {message}", launch.at),
        detail: format!("parameters of {name}: {}", signature(info)),
    })?;
    let Launch { grid, block, shared_bytes, at, .. } = launch;
    Ok(Node::Launch { module, kernel: kernel as u32, grid, block, shared_bytes, args, at })
}

fn arguments(launch: &Launch, info: &KernelInfo) -> Result<Vec<Arg>, String> {
    let (given, wanted) = (launch.args.len(), info.params.len());
    if given != wanted {
        let hint =
            if given < wanted { " (a trailing nil vanishes; pass gpu.null for a tensor that is absent)" } else { "" };
        return Err(format!("takes {wanted} arguments ({}), got {given}{hint}", signature(info)));
    }
    let bytes: u64 = info.params.iter().map(|param| u64::from(param.size)).sum();
    if bytes > limits::ARGUMENT_BYTES {
        return Err(format!("its parameters are {bytes} bytes, at most {} are possible", limits::ARGUMENT_BYTES));
    }
    let pairs = launch.args.iter().zip(&info.params).enumerate();
    pairs
        .map(|(index, (given, param))| {
            argument(*given, param)
                .map_err(|why| format!("argument {}: parameter is {}, {why}", index + 1, kind(param)))
        })
        .collect()
}

fn argument(given: Given, param: &ParamInfo) -> Result<Arg, String> {
    match (param.kind, given) {
        (ParamKind::Pointer { .. }, Given::Null) => Ok(Arg::Null),
        (ParamKind::Pointer { element, .. }, Given::Tensor { at, dtype }) => match element {
            Some(element) if element != dtype => Err(format!("got a {dtype} tensor")),
            _ => Ok(Arg::Buffer(at)),
        },
        (ParamKind::Int { signed }, Given::Int(value)) => scalar::integer(value, param.size, signed)
            .map(Arg::Scalar)
            .ok_or_else(|| format!("got integer {value}, which is out of range")),
        (ParamKind::Int { .. }, Given::Float(value)) if value.fract() == 0.0 => {
            Err(format!("got float {value:?}; write an integer (divide with // or gpu.cdiv)"))
        }
        (ParamKind::Float, Given::Float(value)) => match param.size {
            4 | 8 => scalar::float(value, param.size)
                .map(Arg::Scalar)
                .ok_or_else(|| format!("got float {value:?}, which is out of range")),
            _ => Err("which cannot be passed from Lua; take a float and convert in the kernel".to_owned()),
        },
        (ParamKind::Float, Given::Int(value)) => Err(format!("got integer {value}; write {value}.0 (or gpu.f32(…))")),
        (ParamKind::Bool, Given::Bool(value)) => Ok(Arg::Scalar(crate::model::ScalarValue::Bool(value))),
        (ParamKind::Struct, _) => Err("which cannot be passed from Lua; pass its members".to_owned()),
        (kind, Given::Exact(value)) if scalar::fits(value, kind, param.size) => Ok(Arg::Scalar(value)),
        (_, given) => Err(format!("got {}", self::given(given))),
    }
}

fn given(given: Given) -> String {
    match given {
        Given::Tensor { dtype, .. } => format!("a {dtype} tensor"),
        Given::Null => "gpu.null".to_owned(),
        Given::Int(value) => format!("integer {value}"),
        Given::Float(value) => format!("float {value:?}"),
        Given::Bool(value) => format!("boolean {value}"),
        Given::Exact(value) => format!("a scalar of {} bytes ({})", scalar::size(value), scalar::text(value)),
    }
}

/// A parameter's type as C++ spells it, where it is one of ours.
fn kind(param: &ParamInfo) -> String {
    match param.kind {
        ParamKind::Pointer { element, is_const } => {
            format!("{}{}*", if is_const { "const " } else { "" }, element.map_or("void", DType::cuda_name))
        }
        ParamKind::Int { signed: true } if param.size == 4 => "int".to_owned(),
        ParamKind::Int { signed: false } if param.size == 4 => "unsigned int".to_owned(),
        ParamKind::Int { signed } => format!("{}int{}_t", if signed { "" } else { "u" }, param.size * 8),
        ParamKind::Float if param.size == 8 => "double".to_owned(),
        ParamKind::Float if param.size == 4 => "float".to_owned(),
        ParamKind::Float => format!("a float of {} bytes", param.size),
        ParamKind::Bool => "bool".to_owned(),
        ParamKind::Struct => format!("a struct of {} bytes", param.size),
    }
}

fn signature(info: &KernelInfo) -> String {
    info.params.iter().map(kind).collect::<Vec<_>>().join(", ")
}

/// Refuses a plan that would not fit in a frame.
pub(super) fn limit_size(plan: &Plan, file: &str) -> Result<(), PlanError> {
    let mut count = Counter(0);
    // Counting cannot fail; a plan has no map with keys that are not strings.
    let _ = serde_json::to_writer(&mut count, plan);
    if count.0 > limits::PLAN_BYTES {
        return Err(candidate(format!(
            "{file}: the plan is {:.1} MiB of launches, at most {} MiB are possible",
            count.0 as f64 / f64::from(1 << 20),
            limits::PLAN_BYTES >> 20
        )));
    }
    Ok(())
}

struct Counter(usize);

impl std::io::Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
