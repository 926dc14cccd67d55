//! Alternative spellings of paths in the contract: `eCF` for `ecf`, `dgii` for `taxauth`.
//!
//! The gateway is case-sensitive, so the template has twin routes. This module maps both to one.

use http::{Uri, uri::PathAndQuery};

const PREFIX: &str = "/api/v1/";
const SPELLINGS: [(&str, &str); 2] = [("eCF", "ecf"), ("dgii", "taxauth")];

/// The address with the canonical spelling of the first segment after `/api/v1/`; `None` when it has it already.
pub(super) fn rewritten(uri: &Uri) -> Option<Uri> {
    let rest = uri.path().strip_prefix(PREFIX)?;
    let segment = rest.split('/').next().unwrap_or(rest);
    let (other, own) = SPELLINGS.into_iter().find(|(other, _)| *other == segment)?;
    let mut path = format!("{PREFIX}{own}{}", &rest[other.len()..]);
    if let Some(query) = uri.query() {
        path.push('?');
        path.push_str(query);
    }
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(PathAndQuery::try_from(path).ok()?);
    Uri::from_parts(parts).ok()
}

/// The same path in its alternative spelling, if it has one: `/api/v1/eCF/states` for `/api/v1/ecf/states`.
pub fn other_spelling(path: &str) -> Option<String> {
    let rest = path.strip_prefix(PREFIX)?;
    let segment = rest.split('/').next().unwrap_or(rest);
    let (other, own) = SPELLINGS.into_iter().find(|(_, own)| *own == segment)?;
    Some(format!("{PREFIX}{other}{}", &rest[own.len()..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_first_segment_after_the_version_is_rewritten() {
        let table = [
            ("/api/v1/eCF", Some("/api/v1/ecf")),
            ("/api/v1/eCF/", Some("/api/v1/ecf/")),
            ("/api/v1/eCF?mode=online", Some("/api/v1/ecf?mode=online")),
            ("/api/v1/eCF/a%2Fb/rfce?x=/eCF/", Some("/api/v1/ecf/a%2Fb/rfce?x=/eCF/")),
            ("/api/v1/eCF/eCF", Some("/api/v1/ecf/eCF")),
            ("/api/v1/dgii/rnc/131880681", Some("/api/v1/taxauth/rnc/131880681")),
            (
                "https://example.com/api/v1/dgii/status",
                Some("https://example.com/api/v1/taxauth/status"),
            ),
            ("/api/v1/ecf", None),
            ("/api/v1/taxauth/status", None),
            ("/api/v1/ECF", None),
            ("/api/v1/eCFs", None),
            ("/api/v1/client/eCF", None),
            ("/api/v2/eCF", None),
            ("/eCF", None),
            ("/fe/recepcion/api/eCF", None),
        ];
        for (path, expected) in table {
            let uri: Uri = path.parse().unwrap();
            assert_eq!(
                rewritten(&uri).map(|uri| uri.to_string()).as_deref(),
                expected,
                "{path}"
            );
        }
    }
}
