//! A plan for people: `--show-plan`.

use std::fmt::Write;

use super::scalar;
use crate::model::{Arg, BufferRef, Node, Plan, Role};

/// Modules, buffers, then the numbered nodes of both passes, one line each.
pub fn render(plan: &Plan) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = write(&mut text, plan);
    text
}

fn write(out: &mut String, plan: &Plan) -> std::fmt::Result {
    writeln!(out, "modules")?;
    for (index, module) in plan.modules.iter().enumerate() {
        writeln!(out, "  {index}  {} {}", module.source.display(), module.options.join(" "))?;
    }
    writeln!(out, "buffers")?;
    for (index, buffer) in plan.buffers.iter().enumerate() {
        let role = match &buffer.role {
            Role::Input { .. } => "input",
            Role::Cotangent { .. } => "cotangent",
            Role::Output { .. } => "output",
            Role::Grad { .. } => "gradient",
            Role::Scratch => "scratch",
        };
        let kind = format!("{} {:?}", buffer.dtype, buffer.shape);
        writeln!(out, "  {index:<3} {role:<9} {kind:<28} {:>12} B  {}", buffer.bytes(), buffer.name)?;
    }
    for (name, nodes) in [("forward", &plan.forward), ("backward", &plan.backward)] {
        writeln!(out, "{name}{}", if nodes.is_empty() { ": nothing" } else { "" })?;
        for (index, node) in nodes.iter().enumerate() {
            writeln!(out, "  {index:<3} {}", line(plan, node))?;
        }
    }
    Ok(())
}

fn line(plan: &Plan, node: &Node) -> String {
    let place = |place: &BufferRef| match place.byte_offset {
        0 => name(plan, place.buffer),
        offset => format!("{}+{offset}B", name(plan, place.buffer)),
    };
    match node {
        Node::Launch { module, kernel, grid, block, shared_bytes, args, at } => {
            let kernel = plan
                .modules
                .get(*module as usize)
                .and_then(|module| module.kernels.get(*kernel as usize))
                .map_or("?", |kernel| kernel.name.as_str());
            let args: Vec<String> = args
                .iter()
                .map(|arg| match arg {
                    Arg::Buffer(buffer) => place(buffer),
                    Arg::Null => "null".to_owned(),
                    Arg::Scalar(value) => scalar::text(*value),
                })
                .collect();
            let shared = if *shared_bytes > 0 { format!(" shared {shared_bytes}") } else { String::new() };
            format!("{kernel} grid {} block {}{shared} ({})  {at}", dim(*grid), dim(*block), args.join(", "))
        }
        Node::Fill { buffer, value, at } => format!("fill {} = {}  {at}", name(plan, *buffer), scalar::text(*value)),
        Node::Copy { src, dst, bytes, at } => format!("copy {} = {} ({bytes} B)  {at}", place(dst), place(src)),
        Node::Matmul { a, b, out, dtype, m, n, k, batch, trans_a, trans_b, at } => {
            let flip = |flip: bool| if flip { "ᵀ" } else { "" };
            format!(
                "matmul {} = {}{} @ {}{} ({dtype}, {batch}×[{m}, {n}, {k}])  {at}",
                place(out),
                place(a),
                flip(*trans_a),
                place(b),
                flip(*trans_b)
            )
        }
    }
}

/// A buffer's name; where a scratch buffer was made is said once, in the list.
fn name(plan: &Plan, buffer: u32) -> String {
    let Some(buffer) = plan.buffers.get(buffer as usize) else { return "?".to_owned() };
    buffer.name.split(" (").next().unwrap_or_default().to_owned()
}

/// `64` or `64×2×1`.
fn dim([x, y, z]: [u32; 3]) -> String {
    if (y, z) == (1, 1) { x.to_string() } else { format!("{x}×{y}×{z}") }
}
