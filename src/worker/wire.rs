//! Frames on a pipe: a little-endian u32 length, then that many bytes of JSON. Both directions, strict.

use std::io::{self, Read, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Largest frame, header excluded.
pub(super) const FRAME_BYTES: usize = 16 << 20;
const HEADER: usize = 4;

/// Why bytes are no message.
#[derive(Debug, thiserror::Error)]
pub(super) enum WireError {
    #[error("a frame of {0} bytes, at most {FRAME_BYTES} are allowed")]
    TooLong(u64),
    #[error("the stream ended inside a frame")]
    Truncated,
    #[error("not a message of the protocol: {0}")]
    Schema(String),
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// A message as bytes, header included.
pub(super) fn encode(message: &impl Serialize) -> Result<Vec<u8>, WireError> {
    let mut bytes = vec![0; HEADER];
    serde_json::to_writer(&mut bytes, message).map_err(|error| WireError::Schema(error.to_string()))?;
    let length = bytes.len() - HEADER;
    if length > FRAME_BYTES {
        return Err(WireError::TooLong(length as u64));
    }
    bytes[..HEADER].copy_from_slice(&(length as u32).to_le_bytes());
    Ok(bytes)
}

/// Writes one frame with a single `write_all`.
pub(super) fn send(mut to: impl Write, message: &impl Serialize) -> Result<(), WireError> {
    to.write_all(&encode(message)?)?;
    Ok(())
}

/// Reads one frame; blocks until it is whole.
pub(super) fn receive<T: DeserializeOwned>(mut from: impl Read) -> Result<T, WireError> {
    let mut frames = Frames::default();
    let mut buffer = vec![0; 64 << 10];
    loop {
        if let Some(frame) = frames.next()? {
            return decode(&frame);
        }
        match from.read(&mut buffer)? {
            0 => return Err(WireError::Truncated),
            count => frames.push(&buffer[..count]),
        }
    }
}

/// Parses a frame's body. The path of a bad value is named.
pub(super) fn decode<T: DeserializeOwned>(frame: &[u8]) -> Result<T, WireError> {
    let mut json = serde_json::Deserializer::from_slice(frame);
    let message = serde_path_to_error::deserialize(&mut json).map_err(|error| WireError::Schema(error.to_string()))?;
    json.end().map_err(|error| WireError::Schema(error.to_string()))?;
    Ok(message)
}

/// Cuts a byte stream into frames. Memory grows with the bytes that came, never with a length that was only claimed.
#[derive(Debug, Default)]
pub(super) struct Frames {
    bytes: Vec<u8>,
}

impl Frames {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// The next whole frame's body.
    pub(super) fn next(&mut self) -> Result<Option<Vec<u8>>, WireError> {
        let Some(header) = self.bytes.first_chunk::<HEADER>() else { return Ok(None) };
        let length = u32::from_le_bytes(*header) as usize;
        if length > FRAME_BYTES {
            return Err(WireError::TooLong(length as u64));
        }
        if self.bytes.len() < HEADER + length {
            return Ok(None);
        }
        let frame = self.bytes[HEADER..HEADER + length].to_vec();
        self.bytes.drain(..HEADER + length);
        Ok(Some(frame))
    }

    /// The stream is over: nothing may be left.
    pub(super) fn finish(&self) -> Result<(), WireError> {
        if self.bytes.is_empty() { Ok(()) } else { Err(WireError::Truncated) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{LauncherFrame, Stage};

    #[test]
    fn frames_survive_any_split() {
        let messages = [LauncherFrame::Stage(Stage::Load), LauncherFrame::Stage(Stage::Backward)];
        let stream: Vec<u8> = messages.iter().flat_map(|message| encode(message).unwrap()).collect();
        for split in 1..stream.len() {
            let mut frames = Frames::default();
            let mut seen = Vec::new();
            for part in stream.chunks(split) {
                frames.push(part);
                while let Some(frame) = frames.next().unwrap() {
                    seen.push(decode::<LauncherFrame>(&frame).unwrap());
                }
            }
            frames.finish().unwrap();
            assert_eq!(seen, messages);
        }
    }

    #[test]
    fn hostile_bytes_are_errors() {
        let body = |text: &str| [(text.len() as u32).to_le_bytes().as_slice(), text.as_bytes()].concat();
        let bad: [(Vec<u8>, &str); 8] = [
            (vec![], "ended inside"),
            (vec![1, 0], "ended inside"),
            (vec![0xFF; 8], "at most"),
            (body(""), "EOF"),
            (body("{"), "EOF"),
            (body("{\"stage\":\"warp\"}"), "unknown variant"),
            (body("{\"stage\":\"load\"} x"), "trailing"),
            (body("{\"stage\":\"load\",\"done\":1}"), "expected"),
        ];
        for (bytes, expected) in bad {
            let error = receive::<LauncherFrame>(bytes.as_slice()).unwrap_err().to_string();
            assert!(error.contains(expected), "{bytes:?}: {error}");
        }
    }

    proptest::proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(bytes: Vec<u8>) {
            let _ = receive::<LauncherFrame>(bytes.as_slice());
            let _ = receive::<crate::model::LaunchRequest>(bytes.as_slice());
        }
    }
}
