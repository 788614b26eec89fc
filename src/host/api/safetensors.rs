//! `popcorn.safetensors`: reading tensors from a file.

use std::collections::HashMap;

use mlua::{Lua, MultiValue, Table};
use safetensors::{Dtype, SafeTensors};

use super::arguments::tensor_to_lua;
use super::arguments::{exactly, string};
use crate::host::HostError;
use crate::model::DType;
use crate::truth::Tensor;

pub(super) fn install(lua: &Lua, popcorn: &Table) -> mlua::Result<()> {
    let module = lua.create_table()?;
    module.set("read", lua.create_function(read)?)?;
    popcorn.set("safetensors", module)
}

/// `popcorn.safetensors.read(path)` → tensors by name, metadata (strings by name).
fn read(lua: &Lua, args: MultiValue) -> mlua::Result<(Table, HashMap<String, String>)> {
    let [path] = exactly("popcorn.safetensors.read", args)?;
    let path = string("popcorn.safetensors.read", &path)?;
    let bytes = std::fs::read(&path).map_err(|e| HostError::environment(format!("{path}: cannot read: {e}")))?;
    let damaged = |error: &dyn std::fmt::Display| HostError::environment(format!("{path}: not safetensors: {error}"));
    let (_, metadata) = SafeTensors::read_metadata(&bytes).map_err(|e| damaged(&e))?;
    let file = SafeTensors::deserialize(&bytes).map_err(|e| damaged(&e))?;
    let tensors = lua.create_table()?;
    for (name, view) in file.tensors() {
        let dtype = dtype_of(view.dtype()).ok_or_else(|| damaged(&format!("{name} is of type {:?}", view.dtype())))?;
        let tensor = Tensor::from_bytes(dtype, view.shape(), view.data()).map_err(|e| damaged(&e))?;
        tensors.set(name, tensor_to_lua(lua, tensor)?)?;
    }
    Ok((tensors, metadata.metadata().clone().unwrap_or_default()))
}

fn dtype_of(dtype: Dtype) -> Option<DType> {
    Some(match dtype {
        Dtype::F64 => DType::F64,
        Dtype::F32 => DType::F32,
        Dtype::F16 => DType::F16,
        Dtype::BF16 => DType::BF16,
        Dtype::I64 => DType::I64,
        Dtype::I32 => DType::I32,
        Dtype::I8 => DType::I8,
        Dtype::BOOL => DType::Bool,
        _ => return None,
    })
}
