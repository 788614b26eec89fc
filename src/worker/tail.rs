//! The last lines of a stream, in bounded memory.

use std::collections::VecDeque;
use std::io::Read;

use crate::model::Fault;

/// Longer lines are cut, bytes.
const LINE: usize = 2000;

/// The last lines of a stream that may never end a line.
#[derive(Default)]
pub(super) struct Tail {
    lines: VecDeque<String>,
    open: Vec<u8>,
}

impl Tail {
    /// Reads to the end of `stream`, which a dead child's descendants may delay.
    pub(super) fn of(mut stream: impl Read) -> Self {
        let mut tail = Self::default();
        let mut buffer = [0; 8192];
        while let Ok(read) = stream.read(&mut buffer) {
            if read == 0 {
                break;
            }
            tail.push(&buffer[..read]);
        }
        tail
    }

    fn push(&mut self, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|&byte| byte == b'\n') {
            let room = LINE.saturating_sub(self.open.len());
            self.open.extend_from_slice(&piece[..piece.len().min(room)]);
            if piece.ends_with(b"\n") {
                self.close();
            }
        }
    }

    fn close(&mut self) {
        let line = String::from_utf8_lossy(&self.open).trim_end().to_owned();
        self.open.clear();
        if !line.is_empty() {
            if self.lines.len() == Fault::DETAIL_LINES {
                self.lines.pop_front();
            }
            self.lines.push_back(line);
        }
    }

    pub(super) fn into_lines(mut self) -> Vec<String> {
        self.close();
        self.lines.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_kept_and_long_ones_cut() {
        let text: String = (0..100).map(|i| format!("line {i}\n")).collect();
        let lines = Tail::of(text.as_bytes()).into_lines();
        assert_eq!((lines.len(), lines[0].as_str(), lines[7].as_str()), (8, "line 92", "line 99"));
        let endless = vec![b'x'; 1_000_000];
        assert_eq!(Tail::of(&endless[..]).into_lines()[0].len(), LINE);
        assert!(Tail::of(&b"\n\n"[..]).into_lines().is_empty());
        assert_eq!(Tail::of(&b"\xff no end"[..]).into_lines(), ["\u{fffd} no end"]);
    }
}
