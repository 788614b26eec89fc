//! Einstein summation over any number of operands, as permutations and batched matrix products.

use super::matmul::product;
use crate::truth::error::{Error, Result};
use crate::truth::tensor::Tensor;

/// A subscript: a letter, or a dim that `...` stands for (counted from the right).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Label {
    Batch(usize),
    Letter(char),
}

/// An operand whose dims carry labels, each once.
struct Labelled {
    tensor: Tensor,
    labels: Vec<Label>,
}

impl Tensor {
    /// `torch.einsum`: letters name dims, `...` the others; without `->` the letters that occur once, in alphabetical
    /// order, are kept.
    pub fn einsum(equation: &str, operands: &[Self]) -> Result<Self> {
        let fault = |why: String| Error::misuse("einsum", format!("'{equation}': {why}"));
        let (inputs, output) = match equation.split_once("->") {
            Some((inputs, output)) => (inputs, Some(output)),
            None => (equation, None),
        };
        let inputs: Vec<&str> = inputs.split(',').collect();
        if inputs.len() != operands.len() || operands.is_empty() {
            return Err(fault(format!("{} subscripts for {} operands", inputs.len(), operands.len())));
        }
        let mut terms = Vec::with_capacity(operands.len());
        for (index, (text, operand)) in inputs.iter().zip(operands).enumerate() {
            let labels = parse_labels(text, Some(operand.ndim())).map_err(&fault)?;
            if labels.len() != operand.ndim() {
                let (named, shape) = (labels.len(), operand.shape());
                return Err(fault(format!("operand {index} has shape {shape:?} but {named} subscripts")));
            }
            terms.push(Labelled { tensor: operand.clone(), labels });
        }
        let widest = |label: &Label| matches!(label, Label::Batch(_));
        let batch_rank = terms.iter().map(|term| term.labels.iter().filter(|label| widest(label)).count()).max();
        let kept = match output {
            Some(text) => parse_labels(text, None).map_err(&fault)?,
            None => implied_output(&terms),
        };
        let kept = expand_ellipsis(kept, output, batch_rank.unwrap_or(0));
        check_extents(&terms, &kept).map_err(&fault)?;
        let mut terms = terms.into_iter().map(Labelled::with_distinct_labels).collect::<Result<Vec<_>>>()?;
        let first = terms.remove(0);
        let mut result = first;
        while !terms.is_empty() {
            let next = terms.remove(0);
            let needed = |label: &Label| kept.contains(label) || terms.iter().any(|term| term.labels.contains(label));
            result = contract(result, next, needed)?;
        }
        result.reduce_to(&kept)
    }
}

/// Labels of one subscript; `...` becomes as many batch labels as `rank` leaves (none if there is no rank yet).
fn parse_labels(text: &str, rank: Option<usize>) -> std::result::Result<Vec<Label>, String> {
    let text: String = text.chars().filter(|letter| !letter.is_whitespace()).collect();
    let letters = text.replace("...", "");
    if let Some(other) = letters.chars().find(|letter| !letter.is_ascii_alphabetic()) {
        return Err(format!("'{other}' is not a letter"));
    }
    let Some((before, after)) = text.split_once("...") else {
        return Ok(letters.chars().map(Label::Letter).collect());
    };
    if after.contains('.') {
        return Err("'...' may appear once per subscript".into());
    }
    let hidden = rank.unwrap_or(0).saturating_sub(letters.len());
    let batch = (0..hidden).rev().map(Label::Batch);
    Ok(before.chars().map(Label::Letter).chain(batch).chain(after.chars().map(Label::Letter)).collect())
}

/// Without `->`: the letters that occur exactly once, sorted; batch dims come in front.
fn implied_output(terms: &[Labelled]) -> Vec<Label> {
    let mut letters: Vec<Label> = terms.iter().flat_map(|term| term.labels.iter().copied()).collect();
    letters.retain(|label| matches!(label, Label::Letter(_)));
    letters.sort_unstable();
    let once = letters.chunk_by(|a, b| a == b).filter(|run| run.len() == 1);
    once.map(|run| run[0]).collect()
}

/// Puts the batch labels where the output's `...` stands (in front if the output is implied).
fn expand_ellipsis(kept: Vec<Label>, output: Option<&str>, batch_rank: usize) -> Vec<Label> {
    let before = match output {
        None => 0,
        Some(text) => match text.split_once("...") {
            Some((before, _)) => before.chars().filter(|letter| !letter.is_whitespace()).count(),
            None => return kept,
        },
    };
    let (front, back) = kept.split_at(before);
    front.iter().copied().chain((0..batch_rank).rev().map(Label::Batch)).chain(back.iter().copied()).collect()
}

fn check_extents(terms: &[Labelled], kept: &[Label]) -> std::result::Result<(), String> {
    let mut extents: std::collections::BTreeMap<Label, usize> = std::collections::BTreeMap::new();
    for term in terms {
        for (&label, &extent) in term.labels.iter().zip(term.tensor.shape()) {
            let seen = extents.entry(label).or_insert(extent);
            match (*seen, extent) {
                (a, b) if a == b => {}
                (1, b) => *seen = b,
                (_, 1) => {}
                (a, b) => return Err(format!("{} has extents {a} and {b}", label.describe())),
            }
        }
    }
    for (index, label) in kept.iter().enumerate() {
        if !extents.contains_key(label) {
            return Err(format!("output {} names no dim of an operand", label.describe()));
        }
        if kept[..index].contains(label) {
            return Err(format!("output {} appears twice", label.describe()));
        }
    }
    Ok(())
}

impl Label {
    fn describe(self) -> String {
        match self {
            Self::Letter(letter) => format!("subscript '{letter}'"),
            Self::Batch(dim) => format!("dim {} of '...'", -1 - dim as isize),
        }
    }
}

impl Labelled {
    /// Repeated labels become diagonals.
    fn with_distinct_labels(self) -> Result<Self> {
        let Self { mut tensor, mut labels } = self;
        let mut at = 0;
        while at < labels.len() {
            match labels[..at].iter().position(|label| *label == labels[at]) {
                Some(first) => {
                    tensor = tensor.diagonal(0, first as isize, at as isize)?;
                    let label = labels.remove(at);
                    labels.remove(first);
                    labels.push(label);
                    at = 0;
                }
                None => at += 1,
            }
        }
        Ok(Self { tensor, labels })
    }

    fn extent(&self, label: Label) -> Option<usize> {
        self.labels.iter().position(|own| *own == label).map(|dim| self.tensor.shape()[dim])
    }

    /// Sums away the dims whose label `keep` refuses.
    fn sum_unless(self, keep: impl Fn(&Label) -> bool) -> Result<Self> {
        let gone: Vec<isize> =
            (0..self.labels.len()).filter(|&dim| !keep(&self.labels[dim])).map(|dim| dim as isize).collect();
        if gone.is_empty() {
            return Ok(self);
        }
        let labels = self.labels.into_iter().filter(keep).collect();
        Ok(Self { tensor: self.tensor.sum(&gone, false)?.to_dtype(self.tensor.dtype())?, labels })
    }

    /// Dims in the order of `labels`; absent ones become extent 1.
    fn arrange(&self, labels: &[Label]) -> Result<Tensor> {
        let present: Vec<usize> =
            labels.iter().filter_map(|label| self.labels.iter().position(|own| own == label)).collect();
        let shape = labels.iter().map(|&label| self.extent(label).unwrap_or(1)).collect();
        self.tensor.permute_by(&present)?.reshape_to(shape)
    }

    fn reduce_to(self, kept: &[Label]) -> Result<Tensor> {
        let reduced = self.sum_unless(|label| kept.contains(label))?;
        reduced.arrange(kept)
    }
}

/// The product of two operands with the labels summed away that neither the output nor a later operand needs.
fn contract(a: Labelled, b: Labelled, needed: impl Fn(&Label) -> bool) -> Result<Labelled> {
    let a = a.sum_unless(|label| needed(label) || b.labels.contains(label))?;
    let b = b.sum_unless(|label| needed(label) || a.labels.contains(label))?;
    let shared = |label: &&Label| b.labels.contains(label) && a.labels.contains(label);
    let batch: Vec<Label> = a.labels.iter().filter(shared).filter(|label| needed(label)).copied().collect();
    let summed: Vec<Label> = a.labels.iter().filter(shared).filter(|label| !needed(label)).copied().collect();
    let own = |x: &Labelled, y: &Labelled| -> Vec<Label> {
        x.labels.iter().filter(|label| !y.labels.contains(label)).copied().collect()
    };
    let (rows, columns) = (own(&a, &b), own(&b, &a));
    let dtype = crate::truth::number::promote_types(a.tensor.dtype(), b.tensor.dtype());
    let widest = |label: &Label| match (a.extent(*label), b.extent(*label)) {
        (None | Some(1), Some(extent)) | (Some(extent), _) => extent,
        (None, None) => 1,
    };
    let extents = |labels: &[Label]| labels.iter().map(widest).collect::<Vec<usize>>();
    let arrange = |x: &Labelled, order: [&[Label]; 3]| -> Result<Tensor> {
        let labels = order.concat();
        let y = x.arrange(&labels)?;
        let folded = order.iter().map(|part| extents(part).iter().product()).collect();
        y.broadcast_to(&extents(&labels))?.to_dtype(dtype)?.reshape_to(folded)
    };
    let left = arrange(&a, [&batch, &rows, &summed])?;
    let right = arrange(&b, [&batch, &summed, &columns])?;
    let y = left.in_compute_dtype(|left| product(left, &right.to_dtype(left.dtype())?, false, false))?;
    let labels = [batch, rows, columns].concat();
    let shape = labels.iter().map(widest).collect();
    Ok(Labelled { tensor: y.reshape_to(shape)?, labels })
}
