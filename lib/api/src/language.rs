//! The language of one answer.
//!
//! The edge reads `Accept-Language` once. Texts are [`Bilingual`] until they are serialized; only then one of the two
//! is taken. Outside of a request that is English.

use std::cell::Cell;

use axum::response::Response;
use ecf_language::{Bilingual, Language};
use ecf_store::Words;
use http::{HeaderMap, HeaderValue, header};
use serde::{Serialize, Serializer};

tokio::task_local! {
    static ANSWER: Answer;
}

struct Answer {
    language: Language,
    /// Whether a text was written into the answer.
    has_texts: Cell<bool>,
}

/// Runs what makes an answer, in the language that the caller accepts. An answer with texts says their language.
pub(crate) async fn speak(headers: &HeaderMap, answer: impl Future<Output = Response>) -> Response {
    let accepted = headers
        .get(header::ACCEPT_LANGUAGE)
        .and_then(|value| value.to_str().ok());
    let language = Language::accepted(accepted.unwrap_or_default());
    let has_texts = Cell::new(false);
    ANSWER
        .scope(Answer { language, has_texts }, async move {
            let mut response = answer.await;
            if ANSWER.with(|answer| answer.has_texts.get()) {
                let tag = HeaderValue::from_static(language.tag());
                let headers = response.headers_mut();
                headers.insert(header::CONTENT_LANGUAGE, tag);
                headers.append(header::VARY, HeaderValue::from_static("accept-language"));
            }
            response
        })
        .await
}

/// The language of the answer that is being made.
pub(crate) fn spoken() -> Language {
    let noted = ANSWER.try_with(|answer| {
        answer.has_texts.set(true);
        answer.language
    });
    noted.unwrap_or_default()
}

/// A text of an answer, in the caller's language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spoken(pub Bilingual);

impl Serialize for Spoken {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.in_language(spoken()))
    }
}

impl From<Words> for Spoken {
    fn from(words: Words) -> Self {
        Self(words.into())
    }
}

impl From<Bilingual> for Spoken {
    fn from(text: Bilingual) -> Self {
        Self(text)
    }
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::body::{Body, to_bytes};
    use axum::routing::get;
    use ecf_language::say;
    use http::{Request, StatusCode};
    use serde_json::{Value, json};
    use tower::ServiceExt;

    use super::*;
    use crate::{ApiError, FieldError};

    /// A service that refuses, warns, and says nothing.
    fn service() -> Router {
        let field = || {
            let loc = ["body", "payload", "DetallesItems", "Item", "8", "NombreItem"];
            FieldError::new(loc, "value_error", say!("it is empty", "está vacío"))
        };
        let coded = || ApiError::conflict("taken", say!("the number is taken", "el número está ocupado"));
        crate::finish(
            Router::new()
                .route("/fields", get(async move || ApiError::validation(vec![field()])))
                .route("/coded", get(async move || coded()))
                .route(
                    "/warned",
                    get(async move || {
                        let why = Spoken(say!("no receipt", "ningún comprobante"));
                        axum::Json(json!({ "warnings": [field()], "reason": why }))
                    }),
                )
                .route("/silent", get(async || axum::Json(json!({ "ok": true })))),
        )
    }

    async fn ask(path: &str, accepted: Option<&str>) -> (StatusCode, Option<HeaderValue>, Value) {
        let mut request = Request::get(path);
        if let Some(accepted) = accepted {
            request = request.header(header::ACCEPT_LANGUAGE, accepted);
        }
        let response = service().oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
        let language = response.headers().get(header::CONTENT_LANGUAGE).cloned();
        let varies = response.headers().get(header::VARY).is_some();
        assert_eq!(varies, language.is_some(), "{path}");
        let status = response.status();
        let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
        (status, language, serde_json::from_slice(&body).unwrap())
    }

    #[tokio::test]
    async fn p6_sentences_are_in_the_language_that_the_caller_accepts() {
        for (accepted, language, msg) in [
            (Some("es"), "es", "NombreItem, línea 9: está vacío"),
            (Some("es-DO,es;q=0.9,en;q=0.8"), "es", "NombreItem, línea 9: está vacío"),
            (Some("en;q=0.5, es;q=0.6"), "es", "NombreItem, línea 9: está vacío"),
            (Some("en, es"), "en", "NombreItem, line 9: it is empty"),
            (Some("fr"), "en", "NombreItem, line 9: it is empty"),
            (Some("*"), "en", "NombreItem, line 9: it is empty"),
            (None, "en", "NombreItem, line 9: it is empty"),
        ] {
            let (status, said, body) = ask("/fields", accepted).await;
            assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
            assert_eq!(said.unwrap(), language, "{accepted:?}");
            assert_eq!(body["detail"][0]["msg"], msg, "{accepted:?}");
            assert_eq!(body["detail"][0]["ctx"], json!({ "code": "value_error" }));
        }
    }

    #[tokio::test]
    async fn p6_other_errors_warnings_and_unknown_paths_are_too() {
        let (_, _, body) = ask("/coded", Some("es")).await;
        assert_eq!(body["detail"]["message"], "el número está ocupado");
        assert!(body["detail"]["request_id"].is_string());
        let (status, language, body) = ask("/warned", Some("es")).await;
        assert_eq!(
            (status, language.unwrap()),
            (StatusCode::OK, HeaderValue::from_static("es"))
        );
        assert_eq!(body["reason"], "ningún comprobante");
        assert_eq!(body["warnings"][0]["msg"], "NombreItem, línea 9: está vacío");
        let (status, _, body) = ask("/nowhere", Some("es")).await;
        assert_eq!(status, StatusCode::NOT_FOUND);
        let message = body["detail"]["message"].as_str().unwrap();
        assert!(message.starts_with("no hay nada"), "{message}");
    }

    #[tokio::test]
    async fn p6_an_answer_without_sentences_names_no_language() {
        let (status, language, _) = ask("/silent", Some("es")).await;
        assert_eq!((status, language), (StatusCode::OK, None));
    }
}
