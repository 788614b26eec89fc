//! Reverse-mode differentiation: every tracked tensor has one node; nodes are numbered in creation order, so
//! descending numbers are a valid order for the backward pass and no recursion is needed.

use std::collections::{BinaryHeap, HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::error::{Error, Result};
use super::number::Operand;
use super::tensor::Tensor;
use crate::model::DType;

/// Turns the gradient of a node's tensor into gradients of its inputs.
type Backward = Box<dyn FnOnce(Tensor, &mut Sink<'_>) -> Result<()> + Send>;

/// How one tensor came about.
pub(crate) struct Node {
    id: u64,
    op: &'static str,
    shape: Vec<usize>,
    dtype: DType,
    /// The backward pass takes a gradient that still has extents of 1 where this tensor is larger.
    takes_broadcast: bool,
    inputs: Vec<Option<Arc<Node>>>,
    /// Taken by the backward pass, which so frees what was saved for it. None for a leaf.
    backward: Mutex<Option<Backward>>,
}

static NEXT_ID: AtomicU64 = AtomicU64::new(0);

impl Node {
    fn new(op: &'static str, shape: &[usize], dtype: DType) -> Self {
        let id = NEXT_ID.fetch_add(1, Ordering::Relaxed);
        let (inputs, backward) = (Vec::new(), Mutex::new(None));
        Self { id, op, shape: shape.to_vec(), dtype, takes_broadcast: false, inputs, backward }
    }

    pub(crate) fn leaf(shape: &[usize], dtype: DType) -> Arc<Self> {
        Arc::new(Self::new("leaf", shape, dtype))
    }

    /// The gradient in this tensor's shape.
    fn expand(&self, gradient: Tensor) -> Result<Tensor> {
        if gradient.shape() == self.shape { Ok(gradient) } else { gradient.broadcast_to(&self.shape) }
    }
}

impl Drop for Node {
    /// Unlinks iteratively: a chain of nodes may be far longer than the stack is deep.
    fn drop(&mut self) {
        let mut pending = std::mem::take(&mut self.inputs);
        while let Some(input) = pending.pop() {
            if let Some(mut node) = input.and_then(Arc::into_inner) {
                pending.append(&mut node.inputs);
            }
        }
    }
}

/// Puts `output` on the tape if any input is on it. `backward` is called only then; it captures what the backward
/// pass needs (detached, lest a node own itself) and returns that pass.
pub(crate) fn record<F>(
    op: &'static str,
    inputs: &[&Tensor],
    output: Tensor,
    backward: impl FnOnce(&Tensor) -> F,
) -> Tensor
where
    F: FnOnce(Tensor, &mut Sink<'_>) -> Result<()> + Send + 'static,
{
    link(op, inputs, output, backward, false)
}

/// As [`record`] for an op of one operand whose backward pass is elementwise in gradient and saved tensor: it takes a
/// gradient that has yet to be broadcast, which spares the backward pass of a sum from writing it out.
pub(crate) fn record_unary<F>(
    op: &'static str,
    input: &Tensor,
    output: Tensor,
    backward: impl FnOnce(&Tensor) -> F,
) -> Tensor
where
    F: FnOnce(Tensor, &mut Sink<'_>) -> Result<()> + Send + 'static,
{
    link(op, &[input], output, backward, true)
}

fn link<F>(
    op: &'static str,
    inputs: &[&Tensor],
    output: Tensor,
    backward: impl FnOnce(&Tensor) -> F,
    takes_broadcast: bool,
) -> Tensor
where
    F: FnOnce(Tensor, &mut Sink<'_>) -> Result<()> + Send + 'static,
{
    if inputs.iter().all(|input| !input.is_tracked()) {
        return output;
    }
    let mut node = Node::new(op, output.shape(), output.dtype());
    node.takes_broadcast = takes_broadcast;
    node.inputs = inputs.iter().map(|input| input.node().cloned()).collect();
    node.backward = Mutex::new(Some(Box::new(backward(&output))));
    output.with_node(Arc::new(node))
}

/// Where a backward pass puts the gradients of its inputs.
pub(crate) struct Sink<'a> {
    node: &'a Node,
    wanted: &'a HashSet<u64>,
    grads: &'a mut HashMap<u64, Tensor>,
}

impl Sink<'_> {
    fn target(&self, input: usize) -> Option<&Arc<Node>> {
        self.node.inputs[input].as_ref().filter(|node| self.wanted.contains(&node.id))
    }

    /// Whether the gradient of this input is wanted.
    pub(crate) fn wants(&self, input: usize) -> bool {
        self.target(input).is_some()
    }

    /// Adds a gradient, which may have the broadcast shape (it is summed to the input's shape) or extents of 1 where the
    /// input is larger (it counts as expanded), and is cast to the input's dtype.
    pub(crate) fn add(&mut self, input: usize, grad: Tensor) -> Result<()> {
        let Some(target) = self.target(input) else { return Ok(()) };
        let id = target.id;
        let grad = grad.sum_to(&target.shape)?.to_dtype(target.dtype)?;
        let total = match self.grads.remove(&id) {
            Some(mut seen) => {
                seen.accumulate(&grad)?;
                seen
            }
            None => grad,
        };
        self.grads.insert(id, total);
        Ok(())
    }

    /// Adds the product of the gradient and the other factor, for a broadcast operand without writing the product out.
    pub(crate) fn add_product(&mut self, input: usize, grad: &Tensor, factor: &Operand) -> Result<()> {
        let Some(target) = self.target(input) else { return Ok(()) };
        let fused = match factor {
            Operand::Tensor(factor) => grad.product_sum_to(factor, &target.shape)?,
            Operand::Number(_) => None,
        };
        match fused {
            Some(sum) => self.add(input, sum),
            None => self.add(input, grad.mul(factor.clone())?),
        }
    }

    /// As [`Sink::add`] for a gradient that is zero outside a part: `write` adds it into the full gradient in place, so
    /// that a loop over slices costs the slices and not the whole tensor each time.
    pub(crate) fn add_part(&mut self, input: usize, write: impl FnOnce(&mut Tensor) -> Result<()>) -> Result<()> {
        let Some(target) = self.target(input).cloned() else { return Ok(()) };
        let mut total = match self.grads.remove(&target.id) {
            Some(seen) => target.expand(seen)?,
            None => Tensor::zeros(&target.shape, target.dtype)?,
        };
        write(&mut total)?;
        self.grads.insert(target.id, total);
        Ok(())
    }
}

/// Vector-Jacobian product: the gradient of `sum(outputs · cotangents)` by each of `inputs`, in each input's shape and
/// dtype; `None` where the outputs do not depend on the input. Saved intermediates are released on the way, so a
/// second call through the same computation is an error.
pub fn grad(outputs: &[Tensor], cotangents: &[Tensor], inputs: &[Tensor]) -> Result<Vec<Option<Tensor>>> {
    let fault = |message: String| Error::misuse("grad", message);
    if outputs.len() != cotangents.len() {
        return Err(fault(format!("{} outputs but {} cotangents", outputs.len(), cotangents.len())));
    }
    let mut targets = Vec::with_capacity(inputs.len());
    for (index, input) in inputs.iter().enumerate() {
        let missing = || fault(format!("input {index} ({}) does not require gradients", input.describe()));
        targets.push(input.node().ok_or_else(missing)?.id);
    }
    let roots: Vec<_> = outputs.iter().filter_map(Tensor::node).cloned().collect();
    let wanted = nodes_towards(&roots, &targets);
    let mut grads: HashMap<u64, Tensor> = HashMap::new();
    let mut queue = BinaryHeap::new();
    let mut nodes: HashMap<u64, Arc<Node>> = HashMap::new();
    for (index, (output, cotangent)) in outputs.iter().zip(cotangents).enumerate() {
        if output.shape() != cotangent.shape() || output.dtype() != cotangent.dtype() {
            let (got, expected) = (cotangent.describe(), output.describe());
            return Err(fault(format!("cotangent {index} is {got}, its output is {expected}")));
        }
        let Some(node) = output.node().filter(|node| wanted.contains(&node.id)) else { continue };
        match grads.get_mut(&node.id) {
            Some(seen) => seen.accumulate(cotangent)?,
            None => {
                grads.insert(node.id, cotangent.detach());
                nodes.insert(node.id, node.clone());
                queue.push(node.id);
            }
        }
    }
    let mut found: HashMap<u64, Tensor> = HashMap::new();
    while let Some(id) = queue.pop() {
        let (Some(node), Some(gradient)) = (nodes.remove(&id), grads.remove(&id)) else { continue };
        if targets.contains(&id) {
            found.insert(id, node.expand(gradient.clone())?);
        }
        if !node.inputs.iter().flatten().any(|input| wanted.contains(&input.id)) {
            continue;
        }
        let pass = node.backward.lock().unwrap_or_else(PoisonError::into_inner).take();
        let pass = pass.ok_or_else(|| {
            fault(format!("the tape through '{}' was used by an earlier grad; compute the outputs again", node.op))
        })?;
        let gradient = if node.takes_broadcast { gradient } else { node.expand(gradient)? };
        pass(gradient, &mut Sink { node: &node, wanted: &wanted, grads: &mut grads })?;
        for input in node.inputs.iter().flatten() {
            if grads.contains_key(&input.id) && !nodes.contains_key(&input.id) {
                nodes.insert(input.id, input.clone());
                queue.push(input.id);
            }
        }
    }
    Ok(targets.iter().map(|id| found.get(id).cloned()).collect())
}

/// Ids of the nodes between `roots` and `targets`, both included.
fn nodes_towards(roots: &[Arc<Node>], targets: &[u64]) -> HashSet<u64> {
    let oldest = targets.iter().copied().min().unwrap_or(u64::MAX);
    let mut seen = HashSet::new();
    let mut order: Vec<&Node> = Vec::new();
    let mut pending: Vec<&Arc<Node>> = roots.iter().collect();
    while let Some(node) = pending.pop() {
        if node.id >= oldest && seen.insert(node.id) {
            order.push(node);
            pending.extend(node.inputs.iter().flatten());
        }
    }
    order.sort_unstable_by_key(|node| node.id);
    let mut wanted = HashSet::new();
    for node in order {
        if targets.contains(&node.id) || node.inputs.iter().flatten().any(|input| wanted.contains(&input.id)) {
            wanted.insert(node.id);
        }
    }
    wanted
}
