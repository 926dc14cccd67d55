//! `aprobacioncomercial` and `anulacionrangos`: messages that the authority accepts (1) or refuses (2) at once.

use ecf::Environment;

use crate::answer::Answer;
use crate::client::{Effect, TaxAuth};
use crate::endpoints::Service;
use crate::error::{Lost, TaxAuthError};
use crate::token::Token;
use crate::upload::Upload;

/// The authority's ruling on a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ruling {
    /// Accepted.
    Taken(Answer),
    /// Refused, for the reasons in the answer.
    Refused(Answer),
}

impl Ruling {
    /// The whole answer.
    #[must_use]
    pub fn answer(&self) -> &Answer {
        let (Self::Taken(answer) | Self::Refused(answer)) = self;
        answer
    }

    /// `None`: the answer says neither.
    fn of(answer: Answer) -> Option<Self> {
        // Seen as 1, "1" and "01".
        match answer.codigo_number() {
            Some(1) => Some(Self::Taken(answer)),
            Some(2) => Some(Self::Refused(answer)),
            _ => None,
        }
    }
}

impl TaxAuth {
    /// Submits a message to one of the two services.
    pub(crate) async fn rule(
        &self,
        service: Service,
        environment: Environment,
        token: &Token,
        upload: &Upload,
    ) -> Result<Ruling, TaxAuthError> {
        let sent = self.upload(service, environment, Some(token), upload, Effect::Submits);
        let answer = match sent.await {
            Err(TaxAuthError::Refused { answer, .. }) => {
                return Ok(Ruling::Refused(upload.asked().check(service, *answer)?));
            }
            reply => upload.asked().check(service, reply?.answer())?,
        };
        Ruling::of(answer.clone()).ok_or_else(|| TaxAuthError::Unknown {
            service,
            cause: Lost::Odd(Box::new(answer)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ruling(body: &str) -> Option<Ruling> {
        Ruling::of(Answer::read(body.as_bytes()))
    }

    #[test]
    fn yes_and_no_are_read_in_every_spelling() {
        for body in [
            r#"{"mensaje":[],"estado":"Aprobación Comercial Aprobada.","codigo":"01"}"#,
            r#"{"rnc":"130000001","codigo":1,"nombre":"X","mensajes":["Secuencias anuladas."]}"#,
            "<RespuestaAnulacionRango><rnc>1</rnc><codigo>1</codigo></RespuestaAnulacionRango>",
        ] {
            assert!(matches!(ruling(body), Some(Ruling::Taken(_))), "{body}");
        }
        let refused = r#"{"mensaje":["La factura no fue encontrada."],"estado":"Rechazada.","codigo":"02"}"#;
        let Some(Ruling::Refused(answer)) = ruling(refused) else {
            panic!("{refused}")
        };
        assert_eq!(answer.words().as_deref(), Some("La factura no fue encontrada."));
    }

    #[test]
    fn what_says_neither_proves_nothing() {
        for body in [
            "",
            "{}",
            "OK",
            r#"{"codigo":"7"}"#,
            "<html><title>Mantenimiento</title></html>",
        ] {
            assert_eq!(ruling(body), None, "{body}");
        }
    }
}
