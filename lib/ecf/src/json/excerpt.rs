//! The part of a value that an error shows.

use std::io;

use super::Node;

/// Upper bound of a text in characters, and of a list or an object in bytes of JSON.
const LONGEST: usize = 200;

pub(super) fn excerpt(node: &Node) -> Node {
    match node {
        Node::Null | Node::Bool(_) => node.clone(),
        Node::Number(text) if text.len() <= LONGEST => node.clone(),
        Node::Number(text) | Node::Text(text) => Node::Text(match text.char_indices().nth(LONGEST) {
            Some((end, _)) => cut(&text[..end]),
            None => text.clone(),
        }),
        Node::Array(_) | Node::Object(_) => {
            let mut start = Start(Vec::with_capacity(LONGEST));
            match serde_json::to_writer(&mut start, node) {
                Ok(()) => node.clone(),
                // The cut may be inside a character.
                Err(_) => Node::Text(cut(String::from_utf8_lossy(&start.0).trim_end_matches('\u{fffd}'))),
            }
        }
    }
}

fn cut(text: &str) -> super::Piece {
    format!("{text}…").into()
}

/// Accepts the first bytes and then fails, so that a large value is not written completely.
struct Start(Vec<u8>);

impl io::Write for Start {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(LONGEST - self.0.len());
        self.0.extend_from_slice(&bytes[..taken]);
        if taken < bytes.len() {
            return Err(io::ErrorKind::WriteZero.into());
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a7_short_values_are_whole_and_long_ones_are_cut() {
        for short in ["null", "true", "12.50", r#""ñ""#, r#"{"a":[1,"b"]}"#] {
            let node = Node::parse(short.as_bytes()).unwrap();
            assert_eq!(node.excerpt(), node);
        }
        let text = |node: &Node| node.excerpt().as_text().map(str::to_owned).unwrap();
        assert_eq!(text(&Node::Text("ñ".repeat(500).into())).chars().count(), 201);
        assert_eq!(text(&Node::Number("1".repeat(500).into())).chars().count(), 201);
        let list = Node::Array(vec![Node::Text("ñ".into()); 500]);
        let shown = text(&list);
        assert!(shown.starts_with(r#"["ñ","ñ""#) && shown.ends_with('…'), "{shown}");
        assert!(shown.len() <= LONGEST + '…'.len_utf8());
    }
}
