//! The stored request of a receipt that is issued later.
//!
//! The request is stored, not the completed document: rules and ranges may change until then, so the worker reads,
//! completes and validates the document again.

use bytes::Bytes;
use ecf::rules::OnConditional;
use ecf::{Amounts, JsonError, Node};
use thiserror::Error;

/// The values of `on_conditional`.
pub const ON_CONDITIONAL: [(&str, OnConditional); 2] =
    [("refuse", OnConditional::Refuse), ("warn", OnConditional::Warn)];
/// The values of `amounts`.
pub const AMOUNTS: [(&str, Amounts); 2] = [("scaled", Amounts::Scaled), ("verbatim", Amounts::Verbatim)];

/// The parts of a request that the record lacks: the document, and the options for validating and writing it.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredRequest {
    /// The document.
    pub payload: Node,
    /// How to treat what the authority would accept only conditionally.
    pub on_conditional: Option<OnConditional>,
    /// How amounts are written.
    pub amounts: Option<Amounts>,
    /// The summary (RFCE) that a certification workbook prescribes, without its security code. `None` when the summary
    /// follows from the document.
    pub summary: Option<Node>,
}

/// Why a stored request cannot be read.
#[derive(Debug, Error)]
pub enum StoredRequestError {
    /// The bytes are not JSON.
    #[error("the stored request is not JSON")]
    Json(#[from] JsonError),
    /// The document is missing.
    #[error("the stored request has no payload")]
    NoPayload,
    /// An option has an unknown value.
    #[error("the stored request says {name} = {value:?}")]
    Unknown {
        /// The option.
        name: &'static str,
        /// Its value.
        value: String,
    },
}

impl StoredRequest {
    /// The bytes to store.
    ///
    /// # Errors
    /// Fails when the document cannot be written as JSON.
    pub fn to_json(&self) -> Result<Bytes, serde_json::Error> {
        let text = |text: Option<&str>| text.map_or(Node::Null, |text| Node::Text(text.into()));
        let mut members = vec![
            ("payload".into(), self.payload.clone()),
            (
                "on_conditional".into(),
                text(self.on_conditional.map(OnConditional::as_str)),
            ),
            (
                "amounts".into(),
                text(self.amounts.map(|amounts| name_of(&AMOUNTS, amounts))),
            ),
        ];
        if let Some(summary) = &self.summary {
            members.push(("summary".into(), summary.clone()));
        }
        serde_json::to_vec(&Node::Object(members)).map(Bytes::from)
    }

    /// Reads the stored bytes.
    ///
    /// # Errors
    /// Fails when the bytes were not written by [`StoredRequest::to_json`].
    pub fn read(bytes: &[u8]) -> Result<Self, StoredRequestError> {
        let stored = Node::parse(bytes)?;
        let node = |name: &str| stored.get(name).cloned();
        Ok(Self {
            payload: node("payload").ok_or(StoredRequestError::NoPayload)?,
            on_conditional: choice(&stored, "on_conditional", &ON_CONDITIONAL)?,
            amounts: choice(&stored, "amounts", &AMOUNTS)?,
            summary: node("summary"),
        })
    }
}

fn name_of<T: Copy + PartialEq>(choices: &[(&'static str, T)], wanted: T) -> &'static str {
    let known = choices.iter().find(|(_, value)| *value == wanted);
    known.map(|(name, _)| *name).expect("every value is in the list")
}

fn choice<T: Copy>(stored: &Node, name: &'static str, choices: &[(&str, T)]) -> Result<Option<T>, StoredRequestError> {
    let Some(given) = stored.get(name).and_then(Node::as_text) else {
        return Ok(None);
    };
    let known = choices.iter().find(|(choice, _)| *choice == given);
    known
        .map(|(_, value)| Some(*value))
        .ok_or_else(|| StoredRequestError::Unknown {
            name,
            value: given.to_owned(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(summary: Option<Node>) -> StoredRequest {
        StoredRequest {
            payload: Node::parse(br#"{"Encabezado":{"Version":"1.0"}}"#).unwrap(),
            on_conditional: Some(OnConditional::Warn),
            amounts: Some(Amounts::Verbatim),
            summary,
        }
    }

    #[test]
    fn a_stored_request_reads_back_and_an_older_version_reads_it_too() {
        let bytes = request(None).to_json().unwrap();
        let expected = r#"{"payload":{"Encabezado":{"Version":"1.0"}},"on_conditional":"warn","amounts":"verbatim"}"#;
        assert_eq!(std::str::from_utf8(&bytes).unwrap(), expected);
        assert_eq!(StoredRequest::read(&bytes).unwrap(), request(None));

        let summary = Node::parse(br#"{"Encabezado":{"Emisor":{"RazonSocialEmisor":"Otra"}}}"#).unwrap();
        let bytes = request(Some(summary.clone())).to_json().unwrap();
        assert_eq!(StoredRequest::read(&bytes).unwrap(), request(Some(summary)));
    }

    #[test]
    fn what_was_not_written_here_is_refused() {
        for bytes in ["", "[]", "{}", r#"{"payload":{},"amounts":"rounded"}"#] {
            assert!(StoredRequest::read(bytes.as_bytes()).is_err(), "{bytes}");
        }
    }
}
