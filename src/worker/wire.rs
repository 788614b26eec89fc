//! Frames: a length (u32, little-endian) and that many bytes of JSON.

use std::io::{self, ErrorKind, Read, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// The largest frame, bytes. A plan is limited to 8 MiB; a request carries one plan and its buffer table.
pub(super) const MAX_FRAME: usize = 16 << 20;

/// What is wrong with a stream of frames.
#[derive(Debug, thiserror::Error)]
pub(super) enum WireError {
    #[error("a frame of {0} bytes, over the limit of {MAX_FRAME}")]
    TooLarge(usize),
    #[error("the stream ended inside a frame")]
    Truncated,
    #[error("not the expected message: {0}")]
    Malformed(#[from] serde_json::Error),
    #[error(transparent)]
    Io(io::Error),
}

/// Writes one frame.
pub(super) fn write(stream: &mut impl Write, message: &impl Serialize) -> Result<(), WireError> {
    let body = serde_json::to_vec(message)?;
    if body.len() > MAX_FRAME {
        return Err(WireError::TooLarge(body.len()));
    }
    // One write, so that a frame is either there or not when the writer dies.
    let mut frame = Vec::with_capacity(4 + body.len());
    frame.extend_from_slice(&(body.len() as u32).to_le_bytes());
    frame.extend_from_slice(&body);
    stream.write_all(&frame).and_then(|()| stream.flush()).map_err(WireError::Io)
}

/// Reads one frame; None at the end of the stream.
pub(super) fn read<T: DeserializeOwned>(stream: &mut impl Read) -> Result<Option<T>, WireError> {
    let mut length = [0; 4];
    match stream.read(&mut length) {
        Ok(0) => return Ok(None),
        Ok(n) => fill(stream, &mut length[n..])?,
        Err(error) if error.kind() == ErrorKind::Interrupted => fill(stream, &mut length)?,
        Err(error) => return Err(WireError::Io(error)),
    }
    let length = u32::from_le_bytes(length) as usize;
    if length > MAX_FRAME {
        return Err(WireError::TooLarge(length));
    }
    let mut body = vec![0; length];
    fill(stream, &mut body)?;
    Ok(Some(serde_json::from_slice(&body)?))
}

fn fill(stream: &mut impl Read, bytes: &mut [u8]) -> Result<(), WireError> {
    stream.read_exact(bytes).map_err(|error| match error.kind() {
        ErrorKind::UnexpectedEof => WireError::Truncated,
        _ => WireError::Io(error),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{LauncherFrame, Stage};
    use proptest::prelude::*;

    #[test]
    fn frames_round_trip_and_the_end_is_the_end() {
        let mut bytes = Vec::new();
        for stage in [Stage::Load, Stage::Forward] {
            write(&mut bytes, &LauncherFrame::Stage(stage)).unwrap();
        }
        let mut stream = &bytes[..];
        assert_eq!(read::<LauncherFrame>(&mut stream).unwrap(), Some(LauncherFrame::Stage(Stage::Load)));
        assert_eq!(read::<LauncherFrame>(&mut stream).unwrap(), Some(LauncherFrame::Stage(Stage::Forward)));
        assert_eq!(read::<LauncherFrame>(&mut stream).unwrap(), None);
    }

    #[test]
    fn a_huge_length_is_refused_before_it_is_allocated() {
        let mut stream = &[0xff, 0xff, 0xff, 0xff, b'{'][..];
        assert!(matches!(read::<LauncherFrame>(&mut stream), Err(WireError::TooLarge(_))));
    }

    #[test]
    fn a_cut_frame_and_an_unknown_field_are_errors() {
        let mut bytes = Vec::new();
        write(&mut bytes, &LauncherFrame::Stage(Stage::Load)).unwrap();
        for cut in 1..bytes.len() {
            assert!(matches!(read::<LauncherFrame>(&mut &bytes[..cut]), Err(WireError::Truncated)), "{cut}");
        }
        let mut bytes = Vec::new();
        write(&mut bytes, &serde_json::json!({ "failed": { "kind": "oom", "message": "m", "verdict": "keep" } })).unwrap();
        assert!(matches!(read::<LauncherFrame>(&mut &bytes[..]), Err(WireError::Malformed(_))));
    }

    proptest! {
        #[test]
        fn garbage_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let mut stream = &bytes[..];
            while let Ok(Some(_)) = read::<LauncherFrame>(&mut stream) {}
        }
    }
}
