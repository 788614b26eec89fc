//! Lua numbers to scalars of exact width. Nothing is rounded or wrapped silently: what does not fit is an error.

use half::{bf16, f16};
use mlua::Value;

use super::error::describe;
use crate::model::{DType, ParamKind, ScalarValue};

/// A fill value as an element of `dtype`. Floats take integers and floats, integers take integers, bool takes booleans.
pub(super) fn element(value: &Value, dtype: DType) -> Result<ScalarValue, String> {
    let misfit = |expected: &str| format!("a {dtype} value must be {expected}, got {}", describe(value));
    if dtype.is_float() {
        let number = match value {
            Value::Integer(value) => *value as f64,
            Value::Number(value) => *value,
            _ => return Err(misfit("a number")),
        };
        let (stored, back) = match dtype {
            DType::F16 => {
                let stored = f16::from_f64(number);
                (ScalarValue::F16Bits(stored.to_bits()), stored.to_f64())
            }
            DType::BF16 => {
                let stored = bf16::from_f64(number);
                (ScalarValue::BF16Bits(stored.to_bits()), stored.to_f64())
            }
            DType::F32 => (ScalarValue::F32Bits((number as f32).to_bits()), f64::from(number as f32)),
            _ => (ScalarValue::F64Bits(number.to_bits()), number),
        };
        return if number.is_finite() && !back.is_finite() { Err(misfit("in range")) } else { Ok(stored) };
    }
    match (dtype, value) {
        (DType::Bool, Value::Boolean(value)) => Ok(ScalarValue::Bool(*value)),
        (DType::Bool, _) => Err(misfit("true or false")),
        (_, Value::Integer(value)) => integer(*value, dtype.size() as u32, true).ok_or_else(|| misfit("in range")),
        _ => Err(misfit("an integer")),
    }
}

/// `value` as an integer of `size` bytes, or None where it does not fit.
pub(super) fn integer(value: i64, size: u32, signed: bool) -> Option<ScalarValue> {
    match (size, signed) {
        (1, true) => value.try_into().ok().map(ScalarValue::I8),
        (2, true) => value.try_into().ok().map(ScalarValue::I16),
        (4, true) => value.try_into().ok().map(ScalarValue::I32),
        (8, true) => Some(ScalarValue::I64(value)),
        (1, false) => value.try_into().ok().map(ScalarValue::U8),
        (2, false) => value.try_into().ok().map(ScalarValue::U16),
        (4, false) => value.try_into().ok().map(ScalarValue::U32),
        (8, false) => value.try_into().ok().map(ScalarValue::U64),
        _ => None,
    }
}

/// `value` as a float of `size` bytes; None where a finite value would become infinite or the size is no float's.
pub(super) fn float(value: f64, size: u32) -> Option<ScalarValue> {
    match size {
        4 if value.is_finite() && !(value as f32).is_finite() => None,
        4 => Some(ScalarValue::F32Bits((value as f32).to_bits())),
        8 => Some(ScalarValue::F64Bits(value.to_bits())),
        _ => None,
    }
}

/// Bytes of a scalar.
pub(super) fn size(value: ScalarValue) -> u32 {
    match value {
        ScalarValue::I8(_) | ScalarValue::U8(_) | ScalarValue::Bool(_) => 1,
        ScalarValue::I16(_) | ScalarValue::U16(_) | ScalarValue::F16Bits(_) | ScalarValue::BF16Bits(_) => 2,
        ScalarValue::I32(_) | ScalarValue::U32(_) | ScalarValue::F32Bits(_) => 4,
        ScalarValue::I64(_) | ScalarValue::U64(_) | ScalarValue::F64Bits(_) => 8,
    }
}

/// Whether a scalar may be handed to a parameter of this kind and size as it is.
pub(super) fn fits(value: ScalarValue, kind: ParamKind, bytes: u32) -> bool {
    use ScalarValue::{Bool, F32Bits, F64Bits, I8, I16, I32, I64, U8, U16, U32, U64};
    let kind_fits = match kind {
        ParamKind::Int { signed: true } => matches!(value, I8(_) | I16(_) | I32(_) | I64(_)),
        ParamKind::Int { signed: false } => matches!(value, U8(_) | U16(_) | U32(_) | U64(_)),
        ParamKind::Float => matches!(value, F32Bits(_) | F64Bits(_)),
        ParamKind::Bool => matches!(value, Bool(_)),
        ParamKind::Pointer { .. } | ParamKind::Struct => false,
    };
    kind_fits && size(value) == bytes
}

/// Whether a fill value is an element of `dtype`.
pub(super) fn is_element(value: ScalarValue, dtype: DType) -> bool {
    use ScalarValue::{BF16Bits, Bool, F16Bits, F32Bits, F64Bits, I8, I32, I64};
    match dtype {
        DType::F64 => matches!(value, F64Bits(_)),
        DType::F32 => matches!(value, F32Bits(_)),
        DType::F16 => matches!(value, F16Bits(_)),
        DType::BF16 => matches!(value, BF16Bits(_)),
        DType::I64 => matches!(value, I64(_)),
        DType::I32 => matches!(value, I32(_)),
        DType::I8 => matches!(value, I8(_)),
        DType::Bool => matches!(value, Bool(_)),
    }
}

/// A scalar as C++ would write it, for messages and `--show-plan`.
pub(super) fn text(value: ScalarValue) -> String {
    match value {
        ScalarValue::I8(v) => v.to_string(),
        ScalarValue::I16(v) => v.to_string(),
        ScalarValue::I32(v) => v.to_string(),
        ScalarValue::I64(v) => v.to_string(),
        ScalarValue::U8(v) => v.to_string(),
        ScalarValue::U16(v) => v.to_string(),
        ScalarValue::U32(v) => v.to_string(),
        ScalarValue::U64(v) => v.to_string(),
        ScalarValue::F16Bits(bits) => format!("{:?}", f16::from_bits(bits)),
        ScalarValue::BF16Bits(bits) => format!("{:?}", bf16::from_bits(bits)),
        ScalarValue::F32Bits(bits) => format!("{:?}", f32::from_bits(bits)),
        ScalarValue::F64Bits(bits) => format!("{:?}", f64::from_bits(bits)),
        ScalarValue::Bool(v) => v.to_string(),
    }
}
