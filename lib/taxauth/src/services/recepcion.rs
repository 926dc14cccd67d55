//! `recepcion`: receives receipts in full; all types except consumer invoices below the summary limit.

use ecf::Environment;

use crate::answer::Answer;
use crate::body::Body;
use crate::client::{Effect, TaxAuth};
use crate::endpoints::Service;
use crate::error::{Lost, TaxAuthError};
use crate::token::Token;
use crate::upload::Upload;
use crate::verdict::Estado;

/// The longest text that is accepted as a submission identifier, in characters.
const MAX_TRACK_ID_CHARS: usize = 100;

/// The outcome of a submitted receipt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sent {
    /// Received, but not judged yet: the verdict is looked up by this identifier.
    Track {
        /// The identifier of the submission.
        track_id: String,
        /// The whole answer.
        answer: Answer,
    },
    /// Refused at once, with a message. When it [says "already used"](Answer::says_already_used), an earlier copy was
    /// taken.
    Refused(Answer),
}

impl TaxAuth {
    pub(crate) async fn send_receipt(
        &self,
        environment: Environment,
        token: &Token,
        upload: &Upload,
    ) -> Result<Sent, TaxAuthError> {
        let reply = match self
            .upload(Service::Recepcion, environment, Some(token), upload, Effect::Submits)
            .await
        {
            Err(TaxAuthError::Refused { answer, .. }) => return Ok(Sent::Refused(*answer)),
            reply => reply?,
        };
        let answer = upload.asked().check(Service::Recepcion, reply.answer())?;
        sent(&reply.body(), answer).map_err(|answer| TaxAuthError::Unknown {
            service: Service::Recepcion,
            cause: Lost::Odd(answer),
        })
    }
}

/// Reads a success. The error is an answer that is neither an identifier nor a refusal.
fn sent(body: &Body, answer: Answer) -> Result<Sent, Box<Answer>> {
    let track_id = match body {
        // A bare GUID is an identifier without its envelope.
        Body::Text(text) if is_guid(text) => Some(text.clone()),
        _ => answer
            .track_id
            .clone()
            .filter(|id| id.chars().count() <= MAX_TRACK_ID_CHARS),
    };
    if let Some(track_id) = track_id {
        return Ok(Sent::Track { track_id, answer });
    }
    let is_refusal = match body {
        // `error` and `mensaje` are set when the file is refused at once (technical description, reception).
        Body::Record(_) => answer.is_by_the_service() && !answer.mensajes.is_empty(),
        _ => false,
    };
    match Estado::of(&answer) {
        Estado::Rejected { .. } => Ok(Sent::Refused(answer)),
        Estado::Unclear if is_refusal => Ok(Sent::Refused(answer)),
        _ => Err(Box::new(answer)),
    }
}

fn is_guid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &str) -> Result<Sent, Box<Answer>> {
        sent(&Body::read(body.as_bytes()), Answer::read(body.as_bytes()))
    }

    #[test]
    fn an_identifier_is_found_in_every_shape() {
        let guid = "d2b6e27c-3908-46f3-afaa-2207b9501b4b";
        for body in [
            format!(r#"{{"trackId":"{guid}","error":null,"mensaje":null}}"#),
            format!(r#"{{"TrackID":"{guid}","mensaje":"Recibido"}}"#),
            format!(r#"[{{"trackId":"{guid}"}}]"#),
            format!("\"{guid}\""),
            guid.to_owned(),
            format!("<RespuestaRecepcion><trackId>{guid}</trackId><error/></RespuestaRecepcion>"),
            format!(r#""{{\"trackId\":\"{guid}\"}}""#),
        ] {
            assert!(
                matches!(read(&body), Ok(Sent::Track { track_id, .. }) if track_id == guid),
                "{body}"
            );
        }
    }

    #[test]
    fn a_record_with_words_and_no_identifier_is_a_refusal() {
        for body in [
            r#"{"trackId":null,"error":"Archivo no válido","mensaje":null}"#,
            r#"{"trackId":"","mensaje":"La longitud del nombre del archivo no es válida"}"#,
            r#"{"mensajes":[{"codigo":"001","valor":"Archivo no válido"}]}"#,
            r#"{"codigo":2,"estado":"Rechazado"}"#,
            "<RespuestaRecepcion><error>no</error></RespuestaRecepcion>",
        ] {
            assert!(matches!(read(body), Ok(Sent::Refused(_))), "{body}");
        }
    }

    #[test]
    fn a_success_that_says_nothing_proves_nothing() {
        for body in [
            "",
            "{}",
            "OK",
            r#"{"trackId":null,"error":null,"mensaje":null}"#,
            r#"{"codigo":1,"estado":"Aceptado","mensajes":["x"]}"#,
            r#"{"title":"Error","status":200}"#,
            "<html><title>Mantenimiento</title></html>",
            "[]",
        ] {
            assert!(read(body).is_err(), "{body}");
        }
    }
}
