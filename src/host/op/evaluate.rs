//! Running an op's reference: truth in float64 on the rounded inputs, honest error at the case's own dtype.

use std::time::{Duration, Instant};

use mlua::{MultiValue, Value};

use super::Op;
use super::inputs::extents;
use super::signature::scalar_to_lua;
use crate::host::HostError;
use crate::host::api::arguments::{tensor_from_lua, tensor_to_lua};
use crate::model::{Argument, Case, DType, TensorMeta};
use crate::truth::{Tensor, grad};

/// What a reference gave.
#[derive(Clone, Debug)]
pub struct Evaluation {
    pub outputs: Vec<Tensor>,
    /// Gradient of `sum(outputs · cotangents)` by each input that needs one, in signature order; None where the outputs
    /// do not depend on the input. Empty when no cotangents were given.
    pub grads: Vec<(String, Option<Tensor>)>,
    /// Wall time of the reference, and of its gradients (zero without cotangents).
    pub forward: Duration,
    pub backward: Duration,
}

impl Op {
    /// Runs the reference on `inputs` (as [`Op::draw`] gives them) with every float cast to `dtype`: [`DType::F64`] for
    /// truth, the case's own for the honest error. Cotangents (one per output, None for outputs that are no floats)
    /// ask for gradients. Outputs are checked against the declared types.
    pub fn evaluate(
        &self,
        case: &Case,
        inputs: &[(String, Tensor)],
        cotangents: Option<&[Option<Tensor>]>,
        dtype: DType,
    ) -> Result<Evaluation, HostError> {
        // The signature at float64 is the signature of truth: there, every float is float64.
        let case = &Case { dtype, ..case.clone() };
        let lua = self.lua()?;
        let needs_grad = if cotangents.is_some() { self.grads(case) } else { Vec::new() };
        let mut leaves = Vec::new();
        let mut args = MultiValue::new();
        for argument in self.arguments(case)? {
            args.push_back(match argument {
                Argument::Absent { .. } => Value::Nil,
                Argument::Scalar { value, .. } => scalar_to_lua(&lua, &value)?,
                Argument::Tensor(meta) => {
                    let mut value = self.input(&meta, inputs)?;
                    if needs_grad.contains(&meta.name) {
                        value = value.requires_grad().map_err(|error| self.fault(error))?;
                        leaves.push(value.clone());
                    }
                    tensor_to_lua(&lua, value)?
                }
            });
        }
        let start = Instant::now();
        let returned: MultiValue = self.call(&self.functions.reference, "reference", args)?;
        let forward = start.elapsed();
        let outputs = self.check_outputs(case, &returned)?;
        let start = Instant::now();
        let grads = match cotangents {
            None => Vec::new(),
            Some(cotangents) => {
                let grads = self.gradients(&outputs, cotangents, &leaves)?;
                needs_grad.into_iter().zip(grads).collect()
            }
        };
        let backward = if cotangents.is_some() { start.elapsed() } else { Duration::ZERO };
        drop(returned);
        // Tensors are large and Lua sees only their handles: let go of the intermediates now.
        lua.gc_collect()?;
        Ok(Evaluation { outputs: outputs.iter().map(Tensor::detach).collect(), grads, forward, backward })
    }

    /// One input at the evaluation's dtype.
    fn input(&self, meta: &TensorMeta, inputs: &[(String, Tensor)]) -> Result<Tensor, HostError> {
        let found = inputs.iter().find(|(name, _)| *name == meta.name);
        let (_, value) = found.ok_or_else(|| self.fault(format!("input '{}' is missing", meta.name)))?;
        if value.shape() != extents(meta) || value.dtype().is_float() != meta.dtype.is_float() {
            let (expected, got) = (describe(meta), value.describe());
            return Err(self.fault(format!("input '{}' must be {expected}, got {got}", meta.name)));
        }
        value.to_dtype(meta.dtype).map(|value| value.detach()).map_err(|error| self.fault(error))
    }

    fn check_outputs(&self, case: &Case, returned: &MultiValue) -> Result<Vec<Tensor>, HostError> {
        let declared = self.output_metas(case)?;
        if returned.len() != declared.len() {
            let (got, expected) = (returned.len(), declared.len());
            return Err(
                self.fault(format!("the reference returned {got} values, 'returns' declares {expected}, at {case}"))
            );
        }
        let output = |(i, (value, meta)): (usize, (&Value, &TensorMeta))| {
            let expected = describe(meta);
            let position = i + 1;
            let Some(tensor) = tensor_from_lua(value) else {
                let got = value.type_name();
                return Err(self
                    .fault(format!("output {position} of the reference is a {got}, declared {expected}, at {case}")));
            };
            if tensor.shape() != extents(meta) || tensor.dtype() != meta.dtype {
                let got = tensor.describe();
                return Err(
                    self.fault(format!("output {position} of the reference is {got}, declared {expected}, at {case}"))
                );
            }
            Ok(tensor)
        };
        returned.iter().zip(&declared).enumerate().map(output).collect()
    }

    fn gradients(
        &self,
        outputs: &[Tensor],
        cotangents: &[Option<Tensor>],
        leaves: &[Tensor],
    ) -> Result<Vec<Option<Tensor>>, HostError> {
        if outputs.len() != cotangents.len() {
            let (got, expected) = (cotangents.len(), outputs.len());
            return Err(self.fault(format!("{got} cotangents for {expected} outputs")));
        }
        let mut roots = Vec::new();
        let mut seeds = Vec::new();
        for (output, cotangent) in outputs.iter().zip(cotangents) {
            if let Some(cotangent) = cotangent {
                roots.push(output.clone());
                seeds.push(cotangent.to_dtype(output.dtype()).map_err(|error| self.fault(error))?);
            }
        }
        grad(&roots, &seeds, leaves).map_err(|error| self.fault(error))
    }
}

/// `bfloat16[4, 8]`.
fn describe(meta: &TensorMeta) -> String {
    format!("{}{:?}", meta.dtype, meta.shape)
}
