//! Removes secrets from the values that an error shows, by the names of their members.
//!
//! A field that holds a secret declares it (`Field::secret`). This module covers names that no request declares, such
//! as a misspelled `pin`.

use ecf::Node;

/// Parts of names that mark a secret, in English and Spanish.
const PARTS: [&str; 10] = [
    "secret",
    "passw",
    "passphrase",
    "token",
    "apikey",
    "privatekey",
    "p12",
    "pfx",
    "clave",
    "contras",
];

/// Whole words that mark a secret, too short to be matched inside other words.
const WORDS: [&str; 4] = ["pin", "pwd", "key", "invitation"];

/// The value as an error shows it, or null when it contains a secret.
pub(crate) fn shown(input: &Node) -> Node {
    let shown = input.excerpt();
    let hides = match (input, &shown) {
        // A shortened value is text, not a tree: the names in it stand between quotes.
        (Node::Array(_) | Node::Object(_), Node::Text(start)) => start.split('"').any(is_secret),
        (_, whole) => holds_secret(whole),
    };
    if hides { Node::Null } else { shown }
}

/// Whether a member with this name probably holds a secret.
pub(crate) fn is_secret(name: &str) -> bool {
    let compact: String = name
        .chars()
        .filter(|letter| letter.is_ascii_alphanumeric())
        .map(|letter| letter.to_ascii_lowercase())
        .collect();
    PARTS.iter().any(|part| compact.contains(part)) || words(name).any(|word| WORDS.contains(&word.as_str()))
}

fn holds_secret(node: &Node) -> bool {
    match node {
        Node::Object(members) => members
            .iter()
            .any(|(name, value)| is_secret(name) || holds_secret(value)),
        Node::Array(elements) => elements.iter().any(holds_secret),
        _ => false,
    }
}

/// The words of `snake_case`, `kebab-case` and `camelCase`. The word `key` in the name of an idempotency key does not
/// mark a secret.
fn words(name: &str) -> impl Iterator<Item = String> {
    let mut words = vec![String::new()];
    let mut after_small = false;
    for letter in name.chars() {
        let begins = !letter.is_ascii_alphanumeric() || (letter.is_ascii_uppercase() && after_small);
        if begins {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| letter.is_ascii_alphanumeric()) {
            word.push(letter.to_ascii_lowercase());
        }
        after_small = letter.is_ascii_lowercase();
    }
    let is_idempotency = words.iter().any(|word| word == "idempotency");
    words.into_iter().filter(move |_| !is_idempotency)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a7_names_of_secrets_are_known_in_any_spelling() {
        for name in [
            "pin",
            "PIN",
            "p12_pin",
            "userPin",
            "secret",
            "webhookSecret",
            "secrett",
            "Password",
            "api_key",
            "API-Key",
            "apiKey",
            "p12_base64",
            "token",
            "clave",
            "contraseña",
            "contrasena",
            "invitation_code",
            "private_key",
            "key",
        ] {
            assert!(is_secret(name), "{name}");
        }
        for name in [
            "zzz",
            "shipping",
            "opinion",
            "idempotency_key",
            "idempotencyKey",
            "monkey",
            "Descripcion",
            "ñ",
        ] {
            assert!(!is_secret(name), "{name}");
        }
    }

    #[test]
    fn a7_a_container_with_a_secret_is_not_shown() {
        let node = |text: &str| Node::parse(text.as_bytes()).unwrap();
        assert_eq!(shown(&node(r#"{"a":[1]}"#)), node(r#"{"a":[1]}"#));
        assert_eq!(shown(&node(r#"[{"pin":"1"}]"#)), Node::Null);
        let long = format!(r#"{{"pin":"1234","x":"{}"}}"#, "y".repeat(500));
        assert_eq!(shown(&node(&long)), Node::Null);
        let long = format!(r#"{{"a":"1234","x":"{}"}}"#, "y".repeat(500));
        assert!(matches!(shown(&node(&long)), Node::Text(_)));
        assert_eq!(shown(&node(r#""pin""#)), node(r#""pin""#));
    }
}
