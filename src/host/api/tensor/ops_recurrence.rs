//! Loops over time: the recurrence of linear attention, and the general loop with a step in Lua.

use super::args::Args;
use super::op::{Op, Returned, many, op};
use super::step::LuaStep;
use crate::truth::{LinearRecurrence, Result, Tensor, scan};

pub(super) const OPS: &[Op] = &[
    op(
        "linear_recurrence",
        "q: Tensor, k: Tensor, v: Tensor, options?: { decay?: Tensor, a?: Tensor, b?: Tensor, state?: Tensor, \
         transposed?: boolean, read_first?: boolean, erase_undecayed?: boolean } -> Tensor, Tensor",
        "`S = diag(decay) S + b (a^T diag(decay) S) + k v^T; o = q^T S` from step to step, `k` [..., steps, keys] and `v` \
         [..., steps, values]: returns `o` [..., steps, values] and the last state [..., keys, values]. `decay` is as `k` \
         or has width 1 (default 1), `a` and `b` are as `k` (default 0), `state` is the first state (default 0). With \
         `erase_undecayed`, `a` reads the state before its decay; with `read_first`, `q` reads the state before the \
         step; with `transposed`, `q` is as `v`, and `o = S q` as `k`.",
        linear_recurrence,
    ),
    op(
        "scan",
        "step: fun(...: Tensor): Tensor..., carries: Tensor[], xs: Tensor[], constants?: Tensor[] -> Tensor...",
        "Runs `step(carries..., slices of xs at t..., constants...) -> carries..., outputs...` over dim 0 of `xs`: returns \
         the last carries, then each output stacked along a new dim 0. Gradients take the memory of about 2 sqrt(steps) \
         steps and the time of one more pass; they reach only what is passed, so pass every tensor that the step uses.",
        run_scan,
    ),
];

fn linear_recurrence(args: &mut Args) -> Result<Returned> {
    let (q, k, v) = (args.tensor("q")?, args.tensor("k")?, args.tensor("v")?);
    let (decay, state) = (args.named_tensor("decay")?, args.named_tensor("state")?);
    let erase = match (args.named_tensor("a")?, args.named_tensor("b")?) {
        (Some(a), Some(b)) => Some((a, b)),
        (None, None) => None,
        _ => return Err(args.fault("arguments 'a' and 'b' come together".into())),
    };
    let transposed = args.named_flag("transposed")?;
    let (read_first, erase_undecayed) = (args.named_flag("read_first")?, args.named_flag("erase_undecayed")?);
    let options = LinearRecurrence { decay, erase, state, read_first, transposed, erase_undecayed };
    many(Tensor::linear_recurrence(&q, &k, &v, &options).map(|(o, state)| vec![o, state]))
}

fn run_scan(args: &mut Args) -> Result<Returned> {
    let step = LuaStep::new(args.function("step")?);
    let (carries, xs) = (args.tensors("carries")?, args.tensors("xs")?);
    let constants = args.optional_tensors("constants")?;
    many(scan(move |arguments: &[Tensor]| step.call(arguments), &carries, &xs, &constants))
}
