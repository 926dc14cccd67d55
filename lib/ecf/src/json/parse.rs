//! Parses JSON in two passes: serde_json checks the syntax, then the tree is built from the text, so that numbers keep
//! their text.

use std::collections::HashSet;

use serde_json::value::RawValue;

use super::{JsonError, Node, Piece};

/// Up to this number, members are compared with each other; more are hashed, to avoid quadratic time.
const COMPARED: usize = 32;
/// Initial capacity: most objects of a receipt have no more members.
const MEMBERS: usize = 8;

pub(super) fn parse(bytes: &[u8]) -> Result<Node, JsonError> {
    if is_utf16(bytes) {
        return Err(JsonError::Utf16);
    }
    let unmarked = Node::without_mark(bytes);
    let mark = bytes.len() - unmarked.len();
    let text = std::str::from_utf8(unmarked).map_err(|error| JsonError::Utf8 {
        offset: mark + error.valid_up_to(),
    })?;
    let source = Source { text, mark };
    let whole: &RawValue = serde_json::from_str(text).map_err(|error| source.syntax(text, &error))?;
    let mut scanner = Scanner {
        source,
        at: source.start(whole.get()),
    };
    scanner.value(0)
}

/// JSON starts with an ASCII character, so in UTF-16 one of its first two bytes is zero (RFC 4627, section 3).
fn is_utf16(bytes: &[u8]) -> bool {
    match bytes {
        [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] => true,
        [first, second, ..] => (*first == 0) != (*second == 0),
        _ => false,
    }
}

/// Reads a text whose syntax is valid except for the escapes in its strings.
struct Scanner<'a> {
    source: Source<'a>,
    at: usize,
}

impl<'a> Scanner<'a> {
    fn value(&mut self, depth: usize) -> Result<Node, JsonError> {
        let first = self.peek();
        if matches!(first, b'{' | b'[') && depth == Node::MAX_DEPTH {
            let offset = self.source.mark + self.at;
            return Err(JsonError::TooDeep { offset });
        }
        Ok(match first {
            b'{' => self.object(depth)?,
            b'[' => self.array(depth)?,
            b'"' => Node::Text(self.text()?),
            _ => match self.bare() {
                "true" => Node::Bool(true),
                "false" => Node::Bool(false),
                "null" => Node::Null,
                number => Node::Number(number.into()),
            },
        })
    }

    fn object(&mut self, depth: usize) -> Result<Node, JsonError> {
        let mut members: Vec<(Piece, Node)> = Vec::with_capacity(MEMBERS);
        let mut seen = HashSet::new();
        self.at += 1;
        while self.peek() != b'}' {
            let start = self.at;
            let key = self.text()?;
            let twice = if members.len() < COMPARED {
                members.iter().any(|(name, _)| *name == key)
            } else {
                if seen.is_empty() {
                    seen.extend(members.iter().map(|(name, _)| name.clone()));
                }
                !seen.insert(key.clone())
            };
            if twice {
                let (line, column) = self.source.place(start);
                return Err(JsonError::DuplicateKey {
                    key: key.into(),
                    line,
                    column,
                    offset: self.source.mark + start,
                });
            }
            self.pass(b':');
            members.push((key, self.value(depth + 1)?));
            self.pass(b',');
        }
        self.at += 1;
        Ok(Node::Object(members))
    }

    fn array(&mut self, depth: usize) -> Result<Node, JsonError> {
        let mut elements = Vec::new();
        self.at += 1;
        while self.peek() != b']' {
            elements.push(self.value(depth + 1)?);
            self.pass(b',');
        }
        self.at += 1;
        Ok(Node::Array(elements))
    }

    /// Reads a string, which starts here with its quote.
    fn text(&mut self) -> Result<Piece, JsonError> {
        let start = self.at;
        let bytes = self.source.text.as_bytes();
        let (mut end, mut has_escapes) = (start + 1, false);
        loop {
            match bytes.get(end) {
                Some(b'\\') => (end, has_escapes) = (end + 2, true),
                Some(b'"') | None => break,
                Some(_) => end += 1,
            }
        }
        self.at = end + 1;
        if !has_escapes {
            return Ok(self.source.text[start + 1..end].into());
        }
        let quoted = &self.source.text[start..=end];
        serde_json::from_str(quoted).map_err(|error| self.source.syntax(quoted, &error))
    }

    /// `true`, `false`, `null` or a number.
    fn bare(&mut self) -> &'a str {
        let rest = &self.source.text[self.at..];
        let ends = |byte: &u8| matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r');
        let length = rest.as_bytes().iter().position(ends).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    /// The next byte that is not a blank: the start of a value, the end of a container, or a separator.
    fn peek(&mut self) -> u8 {
        let bytes = self.source.text.as_bytes();
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = bytes.get(self.at) {
            self.at += 1;
        }
        // Valid JSON never ends before its last value.
        bytes.get(self.at).copied().unwrap_or(b'}')
    }

    /// Skips this character if it comes next.
    fn pass(&mut self, sign: u8) {
        if self.peek() == sign {
            self.at += 1;
            self.peek();
        }
    }
}

/// The whole text, to locate the faults of its parts.
#[derive(Clone, Copy)]
struct Source<'a> {
    text: &'a str,
    /// The length of the byte-order mark before the text, which offsets in errors include.
    mark: usize,
}

impl Source<'_> {
    /// The offset of a part of the text.
    fn start(self, part: &str) -> usize {
        (part.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize)
    }

    fn syntax(self, part: &str, error: &serde_json::Error) -> JsonError {
        let before: usize = part
            .split_inclusive('\n')
            .take(error.line().saturating_sub(1))
            .map(str::len)
            .sum();
        let offset = (self.start(part) + before + error.column().saturating_sub(1)).min(self.text.len());
        let (line, column) = self.place(offset);
        let told = error.to_string();
        // serde_json appends the position inside the part, which differs from that in the whole text.
        let reason = told
            .split_once(" at line ")
            .map_or(told.as_str(), |(reason, _)| reason)
            .to_owned();
        JsonError::Syntax {
            reason,
            line,
            column,
            offset: self.mark + offset,
        }
    }

    /// Line and column of an offset.
    fn place(self, offset: usize) -> (usize, usize) {
        let read = &self.text.as_bytes()[..offset];
        let line_start = read.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        (
            read.iter().filter(|&&byte| byte == b'\n').count() + 1,
            offset - line_start + 1,
        )
    }
}
