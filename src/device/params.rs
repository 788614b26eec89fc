//! Parameter lists of kernels, as the compiler wrote them into an object: per kernel a mark, the kernel's index, the
//! number of parameters, then four words each (size, kind, pointee, const) and one unused parameter.

use crate::model::{DType, ParamInfo, ParamKind};

/// Mark of a list.
const MAGIC: u32 = 0x504f_5043;

/// Lists by kernel index; None when one is missing or cut short.
pub(in crate::device) fn read(data: &[u8], kernels: usize) -> Option<Vec<Vec<ParamInfo>>> {
    let words: Vec<u32> =
        data.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect();
    let mut lists = vec![None; kernels];
    let mut at = 0;
    while at + 3 <= words.len() {
        if words[at] != MAGIC {
            at += 1;
            continue;
        }
        let (index, len) = (words[at + 1] as usize, words[at + 2] as usize);
        let params = words.get(at + 3..at + 3 + 4 * len)?;
        *lists.get_mut(index)? = Some(params.chunks_exact(4).map(parameter).collect());
        at += 3 + 4 * (len + 1);
    }
    lists.into_iter().collect()
}

fn parameter(words: &[u32]) -> ParamInfo {
    let kind = match words[1] {
        1 => ParamKind::Pointer { element: element(words[2]), is_const: words[3] != 0 },
        2 => ParamKind::Int { signed: true },
        3 => ParamKind::Int { signed: false },
        4 => ParamKind::Float,
        5 => ParamKind::Bool,
        _ => ParamKind::Struct,
    };
    ParamInfo { size: words[0], kind }
}

fn element(code: u32) -> Option<DType> {
    Some(match code {
        1 => DType::F64,
        2 => DType::F32,
        3 => DType::F16,
        4 => DType::BF16,
        5 => DType::I64,
        6 => DType::I32,
        7 => DType::I8,
        8 => DType::Bool,
        _ => return None,
    })
}
