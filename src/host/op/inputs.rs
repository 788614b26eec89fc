//! Drawing an op's inputs and cotangents: the same bits for the same case and seed, everywhere.

use bytemuck::cast_slice;
use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};
use mlua::Value;
use rayon::prelude::*;

use super::{Bound, Op, TensorParam};
use crate::case::{Stream, StreamKey, case_id, draw_bernoulli, draw_int, draw_normal};
use crate::host::HostError;
use crate::host::api::arguments::{tensor_from_lua, tensor_to_lua};
use crate::host::api::rng::Rng;
use crate::model::{Argument, Case, DType, TensorMeta};
use crate::truth::Tensor;

impl Op {
    /// The tensor arguments of `case` for one seed, in signature order, each rounded to its dtype.
    ///
    /// Floats are standard normal, integers uniform in their range (with both its ends), booleans fair; then the op's
    /// `inputs` function of that parameter, if any, transforms the raw draw.
    pub fn draw(&self, case: &Case, seed: u64) -> Result<Vec<(String, Tensor)>, HostError> {
        let id = case_id(case);
        let mut inputs = Vec::new();
        for argument in self.arguments(case)? {
            let Argument::Tensor(meta) = argument else { continue };
            let Some(param) = self.spec.tensors().find(|tensor| tensor.name == meta.name) else { continue };
            let key = StreamKey { case_id: &id, seed, name: &meta.name, draw: 0 };
            let raw = self.raw_draw(param, &meta, case, Stream::new(key))?;
            let value = match self.functions.inputs.get(&meta.name) {
                None => raw,
                Some(transform) => {
                    let lua = self.lua()?;
                    let rng = Rng::new(id.clone(), seed, meta.name.clone());
                    let args = (tensor_to_lua(&lua, raw)?, self.case_view(&lua, case)?, lua.create_userdata(rng)?);
                    let value: Value = self.call(transform, &format!("inputs.{}", meta.name), args)?;
                    let value = tensor_from_lua(&value).ok_or_else(|| {
                        self.fault(format!("inputs.{}: expected a tensor, got {}", meta.name, value.type_name()))
                    })?;
                    self.check_input(&meta, value)?
                }
            };
            let value = round(&value, meta.dtype).map_err(|error| self.fault(error))?;
            inputs.push((meta.name, value));
        }
        Ok(inputs)
    }

    /// Standard normal cotangents of the outputs, rounded to each output's dtype; None for an output that is no float.
    pub fn draw_cotangents(&self, case: &Case, seed: u64) -> Result<Vec<Option<Tensor>>, HostError> {
        let id = case_id(case);
        let cotangent = |meta: TensorMeta| {
            if !meta.dtype.is_float() {
                return Ok(None);
            }
            let name = format!("d{}", meta.name);
            let stream = Stream::new(StreamKey { case_id: &id, seed, name: &name, draw: 0 });
            let values = normal(&extents(&meta), stream).and_then(|values| round(&values, meta.dtype));
            values.map(Some).map_err(|error| self.fault(error))
        };
        self.output_metas(case)?.into_iter().map(cotangent).collect()
    }

    fn raw_draw(
        &self,
        param: &TensorParam,
        meta: &TensorMeta,
        case: &Case,
        stream: Stream,
    ) -> Result<Tensor, HostError> {
        let shape = extents(meta);
        let n = shape.iter().product();
        let drawn = match (&param.range, meta.dtype) {
            (None, DType::Bool) => {
                let bytes: Vec<u8> = draw_bernoulli(stream, n, 0.5).into_iter().map(u8::from).collect();
                Tensor::from_bytes(DType::Bool, &shape, &bytes)
            }
            (None, _) => normal(&shape, stream),
            (Some((low, high)), dtype) => {
                let bound = |bound: &Bound| match bound {
                    Bound::Number(value) => Ok(*value),
                    Bound::Extent(extent) => extent.value(case).map(|value| value as i64),
                };
                let low = bound(low).map_err(|m| self.fault(format!("{}: range: {m}", meta.name)))?;
                let high = bound(high).map_err(|m| self.fault(format!("{}: range: {m}", meta.name)))?;
                if n > 0 && low >= high {
                    return Err(self.fault(format!("{}: the range {low} .. {high} is empty at {case}", meta.name)));
                }
                let mut ints = draw_int(stream, n, low, high);
                // Both ends of the range occur in every draw: a kernel that goes wrong there must not get by.
                if n >= 2 {
                    ints[n / 3] = low;
                    ints[2 * n / 3] = high - 1;
                }
                Tensor::from_i64(&shape, &ints).and_then(|ints| ints.to_dtype(dtype))
            }
        };
        drawn.map_err(|error| self.fault(error))
    }

    /// A transform keeps shape and kind; floats may have any float dtype, since they are rounded afterwards.
    fn check_input(&self, meta: &TensorMeta, value: Tensor) -> Result<Tensor, HostError> {
        let same_kind = if meta.dtype.is_float() { value.dtype().is_float() } else { value.dtype() == meta.dtype };
        if value.shape() == extents(meta) && same_kind {
            return Ok(value.detach());
        }
        let kind = if meta.dtype.is_float() { "float".to_owned() } else { meta.dtype.to_string() };
        Err(self.fault(format!(
            "inputs.{}: expected a {kind} tensor of shape {:?}, got {}",
            meta.name,
            meta.shape,
            value.describe()
        )))
    }
}

/// Extents as the tensor engine wants them.
pub(super) fn extents(meta: &TensorMeta) -> Vec<usize> {
    meta.shape.iter().map(|&extent| extent as usize).collect()
}

/// A float32 tensor of standard normal values.
pub(crate) fn normal(shape: &[usize], stream: Stream) -> crate::truth::Result<Tensor> {
    let values = draw_normal(stream, shape.iter().product());
    Tensor::from_bytes(DType::F32, shape, cast_slice(&values))
}

/// To nearest, ties to even. f32 draws, the usual case, go straight to 16 bits.
fn round(value: &Tensor, dtype: DType) -> crate::truth::Result<Tensor> {
    if value.dtype() != DType::F32 || !matches!(dtype, DType::F16 | DType::BF16) {
        return value.to_dtype(dtype);
    }
    const CHUNK: usize = 1 << 14;
    let source: &[f32] = cast_slice(value.as_bytes());
    let mut bits = vec![0_u16; source.len()];
    bits.par_chunks_mut(CHUNK).zip(source.par_chunks(CHUNK)).for_each(|(bits, source)| match dtype {
        DType::F16 => bytemuck::cast_slice_mut::<u16, f16>(bits).convert_from_f32_slice(source),
        _ => bytemuck::cast_slice_mut::<u16, bf16>(bits).convert_from_f32_slice(source),
    });
    Tensor::from_bytes(dtype, value.shape(), cast_slice(&bits))
}
