//! `GET /openapi/public-v1.json`: the checked-in document, which CI compares with the code, with the address at which
//! it is served.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::LazyLock;

use axum::Extension;
use axum::http::header;
use axum::response::IntoResponse;
use ecf_api::{Fields, FromFields, ValidQuery, ValidationError};
use ecf_runtime::PublicAddress;
use serde_json::value::RawValue;

const DOCUMENT: &str = include_str!("../../../infra/openapi/public-v1.json");
/// The document's only server: the root of the host that serves it.
const SERVER: &str = r#""url": "/""#;

/// The document without its section `webhooks`. The schemas of the events remain.
static WITHOUT_WEBHOOKS: LazyLock<String> = LazyLock::new(|| {
    let mut sections: BTreeMap<&str, &RawValue> =
        serde_json::from_str(DOCUMENT).expect("the document is a JSON object");
    sections.remove("webhooks");
    serde_json::to_string(&sections).expect("JSON that was read can be written")
});

/// The requested form of the document.
#[derive(Debug)]
pub(crate) struct DocumentQuery {
    webhooks: bool,
}

impl FromFields for DocumentQuery {
    fn read(fields: &mut Fields) -> Option<Self> {
        let webhooks = fields.boolean("webhooks").or(true);
        Some(Self { webhooks })
    }
}

/// Este documento
///
/// Answers with the OpenAPI document. Its `servers` names the address at which it is served, the stage included. No key is needed.
/// Some generators of clients stop at the `webhooks` section: `?webhooks=false` leaves it out.
#[utoipa::path(
    get,
    path = "/openapi/public-v1.json",
    tag = "Servicio",
    params(("webhooks" = Option<bool>, Query, description = "`false`: without the `webhooks` section, for generators of clients")),
    responses(
        (status = 200, description = "The OpenAPI document", body = Object),
        (status = 422, description = "The query is wrong", body = ValidationError),
    ),
    security(()),
)]
pub(crate) async fn openapi(
    base: Option<Extension<PublicAddress>>,
    ValidQuery(query): ValidQuery<DocumentQuery>,
) -> impl IntoResponse {
    let base = base.map(|Extension(PublicAddress(base))| base).unwrap_or_default();
    let published = if query.webhooks {
        DOCUMENT
    } else {
        WITHOUT_WEBHOOKS.as_str()
    };
    (
        [
            (header::CONTENT_TYPE, "application/json"),
            (header::CACHE_CONTROL, "public, max-age=3600"),
        ],
        document(published, &base),
    )
}

/// The document with the given base address; an empty one leaves the root of the host.
fn document(published: &'static str, base: &str) -> Cow<'static, str> {
    if base.is_empty() {
        return Cow::Borrowed(published);
    }
    let url = serde_json::Value::from(base);
    Cow::Owned(published.replacen(SERVER, &format!(r#""url": {url}"#), 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b2_the_document_has_one_server_which_becomes_the_address_that_was_called() {
        assert_eq!(DOCUMENT.matches(SERVER).count(), 1);
        assert_eq!(document(DOCUMENT, ""), DOCUMENT);
        let bases = [
            "https://a1b2.execute-api.us-east-1.amazonaws.com/api",
            "https://ecf.example.com",
        ];
        for base in bases {
            let document: serde_json::Value = serde_json::from_str(&document(DOCUMENT, base)).expect("JSON");
            assert_eq!(document["servers"], serde_json::json!([{ "url": base }]));
            let without: serde_json::Value =
                serde_json::from_str(&super::document(&WITHOUT_WEBHOOKS, base)).expect("JSON");
            assert_eq!(without["servers"], document["servers"]);
        }
    }
}
