//! Validates a plan, wherever it came from: judge and launcher believe nothing that they have not checked here.

use std::collections::HashSet;

use super::{limits, scalar};
use crate::model::{Arg, Argument, Buffer, BufferRef, DType, KernelInfo, Node, ParamKind, Plan, Role, Signature};

/// Checks a plan against the op's signature: structure, and every input, cotangent, output and gradient present once
/// with the shape and dtype that the op declares. The error is one line.
pub fn check(plan: &Plan, signature: &Signature) -> Result<(), String> {
    check_structure(plan)?;
    let mut wanted: Vec<(Role, DType, &[u64])> = Vec::new();
    for argument in &signature.args {
        if let Argument::Tensor(meta) = argument {
            wanted.push((Role::Input { param: meta.name.clone() }, meta.dtype, &meta.shape));
            if signature.grads.contains(&meta.name) {
                wanted.push((Role::Grad { param: meta.name.clone() }, meta.dtype, &meta.shape));
            }
        }
    }
    for (index, meta) in (0..).zip(&signature.outputs) {
        wanted.push((Role::Output { index }, meta.dtype, &meta.shape));
        if !signature.grads.is_empty() && meta.dtype.is_float() {
            wanted.push((Role::Cotangent { index }, meta.dtype, &meta.shape));
        }
    }
    for (role, dtype, shape) in &wanted {
        let mut found = plan.buffers.iter().filter(|buffer| buffer.role == *role);
        let buffer = found.next().ok_or_else(|| format!("plan has no buffer for {role:?}"))?;
        if found.next().is_some() {
            return Err(format!("plan has two buffers for {role:?}"));
        }
        if buffer.dtype != *dtype || buffer.shape != *shape {
            return Err(format!(
                "plan's {role:?} is {} {:?}, the op has {dtype} {shape:?}",
                buffer.dtype, buffer.shape
            ));
        }
    }
    let extra = plan
        .buffers
        .iter()
        .find(|buffer| buffer.role != Role::Scratch && !wanted.iter().any(|(role, _, _)| *role == buffer.role));
    match extra {
        Some(buffer) => Err(format!("plan has a buffer for {:?}, which the op does not have", buffer.role)),
        None => Ok(()),
    }
}

/// Checks a plan in itself: indices, ranges, sizes, limits, nothing written to inputs by fills, copies and products.
pub fn check_structure(plan: &Plan) -> Result<(), String> {
    let limit = |what: &str, count: usize, most: usize| match count > most {
        true => Err(format!("plan has {count} {what}, at most {most} are possible")),
        false => Ok(()),
    };
    limit("modules", plan.modules.len(), limits::MODULES)?;
    limit("buffers", plan.buffers.len(), limits::BUFFERS)?;
    limit("nodes", plan.forward.len() + plan.backward.len(), limits::NODES)?;
    let mut roles = HashSet::new();
    for buffer in &plan.buffers {
        bytes(buffer).ok_or_else(|| format!("plan's buffer '{}' has an impossible size", buffer.name))?;
        if buffer.role != Role::Scratch && !roles.insert(format!("{:?}", buffer.role)) {
            return Err(format!("plan has two buffers for {:?}", buffer.role));
        }
    }
    for (pass, nodes) in [("forward", &plan.forward), ("backward", &plan.backward)] {
        for (index, node) in nodes.iter().enumerate() {
            check_node(plan, node).map_err(|why| format!("plan's {pass} node {index}: {why}"))?;
        }
    }
    Ok(())
}

/// Bytes of a buffer, None where they do not fit in 63 bits.
fn bytes(buffer: &Buffer) -> Option<u64> {
    let size = buffer.dtype.size() as u64;
    buffer.shape.iter().try_fold(size, |product, extent| product.checked_mul(*extent)).filter(|bytes| *bytes < 1 << 63)
}

fn buffer(plan: &Plan, index: u32) -> Result<&Buffer, String> {
    plan.buffers.get(index as usize).ok_or_else(|| format!("there is no buffer {index}"))
}

/// A range of a buffer lies inside it and starts at a whole element.
fn range(plan: &Plan, place: BufferRef, length: u64) -> Result<&Buffer, String> {
    let buffer = buffer(plan, place.buffer)?;
    let inside = place.byte_offset.checked_add(length).is_some_and(|end| end <= buffer.bytes());
    match inside && place.byte_offset.is_multiple_of(buffer.dtype.size() as u64) {
        true => Ok(buffer),
        false => Err(format!("bytes {} + {length} do not lie in '{}'", place.byte_offset, buffer.name)),
    }
}

fn writable(buffer: &Buffer) -> Result<(), String> {
    match buffer.role {
        Role::Input { .. } | Role::Cotangent { .. } => {
            Err(format!("'{}' is an input and cannot be written", buffer.name))
        }
        _ => Ok(()),
    }
}

fn check_node(plan: &Plan, node: &Node) -> Result<(), String> {
    match node {
        Node::Launch { module, kernel, grid, block, args, .. } => {
            let module = plan.modules.get(*module as usize).ok_or_else(|| format!("there is no module {module}"))?;
            let kernel = module.kernels.get(*kernel as usize).ok_or_else(|| format!("there is no kernel {kernel}"))?;
            let in_limits =
                |extents: &[u32; 3], most: &[u32; 3]| extents.iter().zip(most).all(|(n, most)| (1..=*most).contains(n));
            let threads: u64 = block.iter().map(|extent| u64::from(*extent)).product();
            if !in_limits(grid, &limits::GRID) || !in_limits(block, &limits::BLOCK) || threads > limits::BLOCK_THREADS {
                return Err(format!("grid {grid:?} or block {block:?} is impossible"));
            }
            check_arguments(plan, kernel, args)
        }
        Node::Fill { buffer: index, value, .. } => {
            let buffer = buffer(plan, *index)?;
            writable(buffer)?;
            match scalar::is_element(*value, buffer.dtype) {
                true => Ok(()),
                false => Err(format!("fill value {value:?} is no {} of '{}'", buffer.dtype, buffer.name)),
            }
        }
        Node::Copy { src, dst, bytes, .. } => {
            range(plan, *src, *bytes)?;
            writable(range(plan, *dst, *bytes)?)?;
            let apart = src.buffer != dst.buffer || src.byte_offset.abs_diff(dst.byte_offset) >= *bytes;
            if apart { Ok(()) } else { Err("a copy overlaps itself".to_owned()) }
        }
        Node::Matmul { a, b, out, dtype, m, n, k, batch, .. } => {
            if !dtype.is_float() {
                return Err(format!("a product of {dtype}"));
            }
            for (place, rows, columns) in [(a, m, k), (b, k, n), (out, m, n)] {
                let length = [*rows, *columns, *batch]
                    .iter()
                    .try_fold(dtype.size() as u64, |product, extent| product.checked_mul(*extent))
                    .ok_or_else(|| "a product of impossible size".to_owned())?;
                let buffer = range(plan, *place, length)?;
                if buffer.dtype != *dtype {
                    return Err(format!("a product of {dtype} uses '{}' of {}", buffer.name, buffer.dtype));
                }
            }
            if out.buffer == a.buffer || out.buffer == b.buffer {
                return Err("a product writes its own operand".to_owned());
            }
            writable(buffer(plan, out.buffer)?)
        }
    }
}

fn check_arguments(plan: &Plan, kernel: &KernelInfo, args: &[Arg]) -> Result<(), String> {
    let name = &kernel.name;
    if args.len() != kernel.params.len() {
        return Err(format!("kernel {name} takes {} arguments, got {}", kernel.params.len(), args.len()));
    }
    let total: u64 = kernel.params.iter().map(|param| u64::from(param.size)).sum();
    if total > limits::ARGUMENT_BYTES {
        return Err(format!("kernel {name} has {total} bytes of parameters"));
    }
    for (index, (arg, param)) in args.iter().zip(&kernel.params).enumerate() {
        let fits = match (arg, param.kind) {
            (Arg::Null, ParamKind::Pointer { .. }) => true,
            (Arg::Buffer(place), ParamKind::Pointer { element, .. }) => {
                let buffer = range(plan, *place, 0)?;
                element.is_none_or(|element| element == buffer.dtype)
            }
            (Arg::Scalar(value), kind) => scalar::fits(*value, kind, param.size),
            _ => false,
        };
        if !fits {
            return Err(format!("kernel {name}: argument {} is {arg:?}, parameter is {param:?}", index + 1));
        }
    }
    Ok(())
}
