//! The hash that compares a repeated request with the first one.

use sha2::{Digest, Sha256};

use super::Node;

pub(super) fn payload_hash(node: &Node) -> [u8; 32] {
    let mut hasher = Sha256::new();
    feed(node, &mut hasher);
    hasher.finalize().into()
}

/// Feeds a letter for the kind, the length and the content of each value, so that two different trees never feed the
/// same bytes.
fn feed(node: &Node, hasher: &mut Sha256) {
    match node {
        Node::Null => hasher.update(b"n"),
        Node::Bool(value) => hasher.update(if *value { b"t" } else { b"f" }),
        Node::Number(text) => part(b'd', normalised(text).as_bytes(), hasher),
        Node::Text(text) => part(b's', text.as_bytes(), hasher),
        Node::Array(elements) => {
            part(b'a', &(elements.len() as u64).to_be_bytes(), hasher);
            elements.iter().for_each(|element| feed(element, hasher));
        }
        Node::Object(members) => {
            part(b'o', &(members.len() as u64).to_be_bytes(), hasher);
            let mut sorted: Vec<_> = members.iter().collect();
            sorted.sort_by(|(left, _), (right, _)| left.cmp(right));
            for (key, value) in sorted {
                part(b'k', key.as_bytes(), hasher);
                feed(value, hasher);
            }
        }
    }
}

fn part(kind: u8, content: &[u8], hasher: &mut Sha256) {
    hasher.update([kind]);
    hasher.update((content.len() as u64).to_be_bytes());
    hasher.update(content);
}

/// A number as sign, digits without zeros at the ends, and power of ten: one text per value.
fn normalised(number: &str) -> String {
    let (sign, unsigned) = number.strip_prefix('-').map_or(("", number), |rest| ("-", rest));
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let significant = digits.trim_start_matches('0').trim_end_matches('0');
    if significant.is_empty() {
        return "0".to_owned();
    }
    let dropped = digits.len() - digits.trim_end_matches('0').len();
    let shift = dropped as i128 - fraction.len() as i128;
    match exponent
        .parse::<i128>()
        .ok()
        .and_then(|exponent| exponent.checked_add(shift))
    {
        Some(power) => format!("{sign}{significant}e{power}"),
        // An exponent of more than 38 digits is compared as text.
        None => number.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(text: &str) -> [u8; 32] {
        Node::parse(text.as_bytes()).unwrap().payload_hash()
    }

    #[test]
    fn order_blanks_and_the_spelling_of_numbers_do_not_count() {
        let one = hash(r#"{"a":1,"b":[10,{"c":0.50,"d":0}]}"#);
        assert_eq!(one, hash(r#"{ "b": [1e1, {"d": -0.0, "c": 5E-1}], "a": 1.00 }"#));
    }

    #[test]
    fn values_kinds_and_the_order_of_lists_count() {
        let texts = [
            r#"{"a":1}"#,
            r#"{"a":"1"}"#,
            r#"{"a":-1}"#,
            r#"{"a":10}"#,
            r#"{"a":[1]}"#,
            r#"{"a":[1,2]}"#,
            r#"{"a":[2,1]}"#,
            r#"{"a":null}"#,
            r#"{}"#,
            r#"{"a":true}"#,
            r#"{"a":{"b":1}}"#,
            r#"{"a":1e99999999999999999999999999999999999999999}"#,
        ];
        for (index, left) in texts.iter().enumerate() {
            for right in &texts[index + 1..] {
                assert_ne!(hash(left), hash(right), "{left} {right}");
            }
        }
    }
}
