//! Rejects what an operation does not declare: unknown query parameters, and a body where the operation takes none.
//! Without it, a misspelt `validate_only` would issue a receipt.

use axum::{
    body::{Body, to_bytes},
    extract::{MatchedPath, Request},
    middleware::Next,
    response::Response,
};
use ecf::Node;
use ecf_language::say;
use ecf_store::api_keys::KeyScope;
use http::Method;

use super::BODY_LIMIT_BYTES;
use crate::{ApiError, FieldError, error::secret::is_secret, query::pairs};

/// The operations of the contract, one per line: `POST /api/v1/ecf?mode&amounts body issue`. The last words are the
/// required permission. `cargo run -- openapi` generates the file from the handlers' declarations, together with the
/// published document.
const OPERATIONS: &str = include_str!("operations.txt");
/// Only paths of the contract. Other issuers call the services under `/fe/` and may send any parameter.
const PREFIX: &str = "/api/v1/";
/// Marks an operation that changes settings of the whole company.
const HIGHEST_ENVIRONMENT: &str = "highest_environment";

/// An operation's declaration.
#[derive(Debug, PartialEq, Eq)]
struct Operation {
    query: Vec<&'static str>,
    takes_body: bool,
    needs: Needs,
}

/// The permission that an operation requires of the API key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Needs {
    pub(crate) scope: KeyScope,
    /// The operation changes settings of the whole company, production included.
    pub(crate) highest_environment: bool,
}

/// The permission that a request requires. An operation that the contract does not list requires the full scope, unless
/// it only reads.
pub(crate) fn needs(method: &Method, path: Option<&str>) -> Needs {
    let listed = path.and_then(|path| find(method, path));
    listed.map_or_else(|| Needs::of_unlisted(method), |operation| operation.needs)
}

pub(super) async fn refuse_undeclared(request: Request, next: Next) -> Result<Response, ApiError> {
    let path = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str);
    let Some(operation) = path.and_then(|path| find(request.method(), path)) else {
        return Ok(next.run(request).await);
    };
    let mut errors = operation.unknown(pairs(request.uri())?);
    let (parts, mut body) = request.into_parts();
    if !operation.takes_body {
        let bytes = to_bytes(body, BODY_LIMIT_BYTES)
            .await
            .map_err(|_| ApiError::payload_too_large(BODY_LIMIT_BYTES))?;
        // Many libraries send an empty object instead of no body; in PHP it is an empty list.
        if !matches!(bytes.trim_ascii(), b"" | b"{}" | b"[]" | b"null") {
            let msg = say!(
                "Extra inputs are not permitted: this operation takes no body",
                "no se admite: esta operación no lleva cuerpo"
            );
            errors.push(FieldError::new(["body"], "extra_forbidden", msg));
        }
        body = Body::from(bytes);
    }
    if errors.is_empty() {
        Ok(next.run(Request::from_parts(parts, body)).await)
    } else {
        Err(ApiError::validation(errors))
    }
}

impl Needs {
    fn of_unlisted(method: &Method) -> Self {
        Self {
            scope: match *method {
                Method::GET | Method::HEAD => KeyScope::Read,
                _ => KeyScope::Full,
            },
            highest_environment: false,
        }
    }
}

impl Operation {
    fn unknown(&self, pairs: Vec<(String, String)>) -> Vec<FieldError> {
        let unknown = pairs
            .into_iter()
            .filter(|(name, _)| !self.query.contains(&name.as_str()));
        let error = |(name, value): (String, String)| {
            let error = FieldError::unknown(&["query"], &name, &self.query);
            if is_secret(&name) {
                error
            } else {
                error.with_input(&Node::Text(value.into()))
            }
        };
        unknown.map(error).collect()
    }
}

/// The operation of a route; `None` outside the contract and for a method that the path does not have. A route that the
/// contract does not list takes no parameter.
fn find(method: &Method, path: &str) -> Option<Operation> {
    if !path.starts_with(PREFIX) {
        return None;
    }
    let spelled = match method {
        &Method::HEAD => "GET",
        method => method.as_str(),
    };
    let mut is_listed = false;
    for line in OPERATIONS.lines() {
        let mut words = line.split(' ');
        let (listed, target) = (words.next()?, words.next()?);
        let (listed_path, query) = target.split_once('?').unwrap_or((target, ""));
        is_listed |= listed_path == path;
        if listed == spelled && listed_path == path {
            let rest: Vec<&str> = words.collect();
            let unlisted = Needs::of_unlisted(method);
            return Some(Operation {
                query: query.split('&').filter(|name| !name.is_empty()).collect(),
                takes_body: rest.contains(&"body"),
                needs: Needs {
                    scope: rest.iter().find_map(|word| word.parse().ok()).unwrap_or(unlisted.scope),
                    highest_environment: rest.contains(&HIGHEST_ENVIRONMENT),
                },
            });
        }
    }
    (!is_listed).then_some(Operation {
        query: Vec::new(),
        takes_body: true,
        needs: Needs::of_unlisted(method),
    })
}
