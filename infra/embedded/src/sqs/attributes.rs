//! Message attributes: their checks, their size and the digest that SDKs compare.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use md5::{Digest, Md5};
use serde::{Deserialize, Serialize};

use super::errors;
use crate::aws_json::AwsError;

const MAX_ATTRIBUTES: usize = 10;
/// The byte that says in the digest how a value is carried.
const CARRIED_AS_STRING: u8 = 1;
const CARRIED_AS_BINARY: u8 = 2;

pub(crate) type Attributes = BTreeMap<String, Attribute>;

#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct Attribute {
    data_type: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) string_value: Option<String>,
    /// Base64, as the protocol carries it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    binary_value: Option<String>,
}

enum Content<'a> {
    Text(&'a str),
    Binary(Vec<u8>),
}

impl Attribute {
    fn content(&self, name: &str) -> Result<Content<'_>, AwsError> {
        let invalid = |reason: &str| errors::invalid_parameter(format!("The message attribute '{name}' {reason}"));
        let carrier = self.data_type.split('.').next().unwrap_or_default();
        match (carrier, &self.string_value, &self.binary_value) {
            ("String" | "Number", Some(text), None) if !text.is_empty() => Ok(Content::Text(text)),
            ("Binary", None, Some(encoded)) => match STANDARD.decode(encoded) {
                Ok(bytes) if !bytes.is_empty() => Ok(Content::Binary(bytes)),
                _ => Err(invalid("must contain a non-empty binary value.")),
            },
            ("String" | "Number" | "Binary", _, _) => {
                Err(invalid("must contain a non-empty value of its type, and no other."))
            }
            _ => Err(invalid("has an invalid type prefix: must be String, Number or Binary.")),
        }
    }
}

/// Checks the attributes of a message and tells how much they add to its size.
pub(crate) fn checked_size_bytes(attributes: &Attributes) -> Result<usize, AwsError> {
    if attributes.len() > MAX_ATTRIBUTES {
        return Err(errors::invalid_parameter(format!(
            "Number of message attributes [{}] exceeds the allowed maximum [{MAX_ATTRIBUTES}].",
            attributes.len()
        )));
    }
    let mut size = 0;
    for (name, attribute) in attributes {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if name.is_empty() || name.len() > 256 || !name.chars().all(plain) {
            return Err(errors::invalid_parameter(format!(
                "Invalid message attribute name '{name}'."
            )));
        }
        let value = match attribute.content(name)? {
            Content::Text(text) => text.len(),
            Content::Binary(bytes) => bytes.len(),
        };
        size += name.len() + attribute.data_type.len() + value;
    }
    Ok(size)
}

/// The digest over attributes in the order of their names; none over none.
pub(crate) fn digest(attributes: &Attributes) -> Result<Option<String>, AwsError> {
    if attributes.is_empty() {
        return Ok(None);
    }
    let mut md5 = Md5::new();
    let mut part = |carrier: Option<u8>, bytes: &[u8]| {
        if let Some(carrier) = carrier {
            md5.update([carrier]);
        }
        // Sizes are below the limit of a message, so they fit.
        md5.update(u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_be_bytes());
        md5.update(bytes);
    };
    for (name, attribute) in attributes {
        part(None, name.as_bytes());
        part(None, attribute.data_type.as_bytes());
        match attribute.content(name)? {
            Content::Text(text) => part(Some(CARRIED_AS_STRING), text.as_bytes()),
            Content::Binary(bytes) => part(Some(CARRIED_AS_BINARY), &bytes),
        }
    }
    Ok(Some(hex::encode(md5.finalize())))
}

/// Keeps what a receiver asked for: names, prefixes that end in `.*`, or `All`.
pub(crate) fn select(mut attributes: Attributes, wanted: &[String]) -> Attributes {
    attributes.retain(|name, _| {
        wanted.iter().any(|pattern| {
            pattern == "All"
                || pattern == name
                || pattern
                    .strip_suffix(".*")
                    .is_some_and(|prefix| name.starts_with(prefix))
        })
    });
    attributes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attributes(json: &str) -> Attributes {
        serde_json::from_str(json).expect("the test's own JSON")
    }

    #[test]
    fn the_digest_is_the_one_that_sdks_compute() {
        let one = attributes(r#"{"timestamp": {"DataType": "Number", "StringValue": "1493147359900"}}"#);
        let digest = digest(&one).expect("valid attributes");
        assert_eq!(digest.as_deref(), Some("235c5c510d26fb653d073faed50ae77c"));
    }

    #[test]
    fn a_value_must_be_of_its_type() {
        for wrong in [
            r#"{"a": {"DataType": "String"}}"#,
            r#"{"a": {"DataType": "String", "StringValue": ""}}"#,
            r#"{"a": {"DataType": "Binary", "StringValue": "x"}}"#,
            r#"{"a": {"DataType": "Date", "StringValue": "x"}}"#,
            r#"{"a b": {"DataType": "String", "StringValue": "x"}}"#,
        ] {
            assert!(checked_size_bytes(&attributes(wrong)).is_err(), "{wrong}");
        }
        let right = r#"{"a": {"DataType": "String.kind", "StringValue": "xyz"}}"#;
        let size = checked_size_bytes(&attributes(right)).expect("valid attributes");
        assert_eq!(size, 1 + 11 + 3);
    }

    #[test]
    fn receivers_choose_by_name_and_prefix() {
        let all = attributes(
            r#"{"ecf.type": {"DataType": "String", "StringValue": "31"},
                "ecf.state": {"DataType": "String", "StringValue": "signed"},
                "other": {"DataType": "String", "StringValue": "x"}}"#,
        );
        let names = |wanted: &[&str]| {
            let wanted: Vec<String> = wanted.iter().map(|name| (*name).to_owned()).collect();
            select(all.clone(), &wanted).into_keys().collect::<Vec<_>>()
        };
        assert_eq!(names(&["ecf.*"]), ["ecf.state", "ecf.type"]);
        assert_eq!(names(&["other"]), ["other"]);
        assert_eq!(names(&["All"]).len(), 3);
        assert!(names(&[]).is_empty());
    }
}
