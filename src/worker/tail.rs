//! The last lines of a stream, in bounded memory however much flows past.

use std::collections::VecDeque;

const LINES: usize = 8;
/// Bytes kept of one line.
const LINE_BYTES: usize = 400;

/// Keeps the last eight non-empty lines.
#[derive(Debug, Default)]
pub(super) struct Tail {
    lines: VecDeque<String>,
    open: Vec<u8>,
}

impl Tail {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            let room = LINE_BYTES.saturating_sub(self.open.len());
            let (text, ends) = part.strip_suffix(b"\n").map_or((part, false), |text| (text, true));
            self.open.extend_from_slice(&text[..text.len().min(room)]);
            if ends {
                self.close();
            }
        }
    }

    fn close(&mut self) {
        let line = String::from_utf8_lossy(&self.open).trim_end().to_owned();
        self.open.clear();
        if line.is_empty() {
            return;
        }
        if self.lines.len() == LINES {
            self.lines.pop_front();
        }
        self.lines.push_back(line);
    }

    /// The lines, oldest first; a last line without an end counts.
    pub(super) fn finish(mut self) -> Vec<String> {
        self.close();
        self.lines.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_last_lines_only() {
        let mut tail = Tail::default();
        for index in 0..100_000 {
            tail.push(format!("line {index}\n\n").as_bytes());
        }
        tail.push(b"open");
        tail.push(b" end");
        let lines = tail.finish();
        assert_eq!(lines.len(), LINES);
        assert_eq!(lines[0], "line 99993");
        assert_eq!(lines[7], "open end");
    }

    #[test]
    fn a_line_without_end_stays_small() {
        let mut tail = Tail::default();
        for _ in 0..1000 {
            tail.push(&[b'x'; 65_536]);
        }
        assert!(tail.open.capacity() <= 2 * LINE_BYTES);
        assert_eq!(tail.finish(), ["x".repeat(LINE_BYTES)]);
    }
}
