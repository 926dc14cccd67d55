//! `GET /openapi/public-v1.json`: the document that is checked in, which CI holds against the code.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use axum::http::header;
use axum::response::IntoResponse;
use ecf_api::{Fields, FromFields, ValidQuery, ValidationError};
use serde_json::value::RawValue;

const DOCUMENT: &str = include_str!("../../../infra/openapi/public-v1.json");

/// The document without its section `webhooks`; the schemas of the events stay.
static WITHOUT_WEBHOOKS: LazyLock<String> = LazyLock::new(|| {
    let mut sections: BTreeMap<&str, &RawValue> =
        serde_json::from_str(DOCUMENT).expect("the document is a JSON object");
    sections.remove("webhooks");
    serde_json::to_string(&sections).expect("JSON that was read can be written")
});

/// What of the document is wanted.
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
/// Answers with the OpenAPI document. No key is needed. Some generators of clients stop at the `webhooks` section:
/// `?webhooks=false` leaves it out.
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
pub(crate) async fn openapi(ValidQuery(query): ValidQuery<DocumentQuery>) -> impl IntoResponse {
    let document = if query.webhooks {
        DOCUMENT
    } else {
        WITHOUT_WEBHOOKS.as_str()
    };
    (
        [
            (header::CONTENT_TYPE, "application/json"),
            (header::CACHE_CONTROL, "public, max-age=3600"),
        ],
        document,
    )
}
