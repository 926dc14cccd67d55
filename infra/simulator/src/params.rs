//! Query parameters. Names match in any letter case, as at the authority.

use axum::extract::Query;
use http::Uri;

/// The query parameters of a URI.
#[derive(Debug)]
pub(crate) struct Params(Vec<(String, String)>);

impl Params {
    pub(crate) fn of(uri: &Uri) -> Self {
        Self(Query::try_from_uri(uri).map(|Query(pairs)| pairs).unwrap_or_default())
    }

    /// The value of the first parameter that has one of these names and is not empty.
    pub(crate) fn get(&self, names: &[&str]) -> Option<&str> {
        let named = |name: &str| names.iter().any(|one| one.eq_ignore_ascii_case(name));
        self.0
            .iter()
            .find(|(name, value)| named(name) && !value.is_empty())
            .map(|(_, value)| value.trim())
    }
}
