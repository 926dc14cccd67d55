//! `autenticacion`: exchanges a signed seed for a token that is valid for about an hour.

use ecf::Environment;

use crate::answer::Answer;
use crate::body::Body;
use crate::client::{Effect, TaxAuth};
use crate::endpoints::Service;
use crate::error::TaxAuthError;
use crate::upload::Upload;

/// A token with its dates, as received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Grant {
    pub(crate) token: String,
    pub(crate) expira: Option<String>,
    pub(crate) expedido: Option<String>,
}

/// A success without a seed or token.
#[derive(Debug)]
pub(crate) struct Odd(pub(crate) Box<Answer>);

impl TaxAuth {
    /// The seed's bytes. The caller checks that they are a seed before signing them.
    pub(crate) async fn seed(&self, environment: Environment) -> Result<Result<Vec<u8>, Odd>, TaxAuthError> {
        let reply = self.ask(Service::Semilla, environment, None, &[]).await?;
        let bytes = reply.bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&reply.bytes);
        if is_seed(bytes) {
            Ok(Ok(bytes.to_vec()))
        } else {
            Ok(Err(Odd(Box::new(reply.answer()))))
        }
    }

    pub(crate) async fn validate_seed(
        &self,
        environment: Environment,
        signed_seed: Vec<u8>,
    ) -> Result<Result<Grant, Odd>, TaxAuthError> {
        let upload = Upload::seed(signed_seed);
        // The call is safe to retry: a lost answer costs one unused token.
        let reply = self
            .upload(Service::ValidarSemilla, environment, None, &upload, Effect::None)
            .await?;
        Ok(grant(&reply.body()).ok_or_else(|| Odd(Box::new(reply.answer()))))
    }
}

/// Our signature represents the taxpayer: only a seed is signed.
pub(crate) fn is_seed(bytes: &[u8]) -> bool {
    crate::body::xml_root(bytes).as_deref() == Some("SemillaModel")
}

/// The token in an answer, and its expiry as received. Every taxpayer's authentication service answers in the
/// authority's format.
#[must_use]
pub fn read_grant(bytes: &[u8]) -> Option<(String, Option<String>)> {
    let grant = grant(&Body::read(bytes))?;
    Some((grant.token, grant.expira))
}

pub(crate) fn grant(body: &Body) -> Option<Grant> {
    let record = body.as_record()?;
    Some(Grant {
        token: record.text("token")?.to_owned(),
        expira: record.text("expira").map(str::to_owned),
        expedido: record.text("expedido").map(str::to_owned),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_read_in_json_and_in_xml() {
        let expected = Grant {
            token: "t".into(),
            expira: Some("2026-11-27T13:00:00Z".into()),
            expedido: Some("2026-11-27T12:00:00Z".into()),
        };
        for body in [
            r#"{"token":"t","expira":"2026-11-27T13:00:00Z","expedido":"2026-11-27T12:00:00Z"}"#,
            r#"{"Token":"t","Expira":"2026-11-27T13:00:00Z","Expedido":"2026-11-27T12:00:00Z"}"#,
            "<RespuestaAutenticacion><token>t</token><expira>2026-11-27T13:00:00Z</expira>\
             <expedido>2026-11-27T12:00:00Z</expedido></RespuestaAutenticacion>",
        ] {
            assert_eq!(grant(&Body::read(body.as_bytes())).as_ref(), Some(&expected), "{body}");
        }
    }

    #[test]
    fn what_carries_no_token_is_no_grant() {
        for body in ["", "t", r#"{"token":""}"#, r#"{"token":null}"#, r#"{"mensaje":"no"}"#] {
            assert_eq!(grant(&Body::read(body.as_bytes())), None, "{body}");
        }
    }
}
