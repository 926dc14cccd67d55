//! `recepcionfc`: receives summaries (RFCE) of consumer invoices. The answer contains the verdict and no identifier.

use ecf::Environment;

use crate::client::{Effect, TaxAuth};
use crate::endpoints::Service;
use crate::error::{Lost, TaxAuthError};
use crate::token::Token;
use crate::upload::Upload;
use crate::verdict::{Estado, Judged};

impl TaxAuth {
    pub(crate) async fn send_summary(
        &self,
        environment: Environment,
        token: &Token,
        upload: &Upload,
    ) -> Result<Judged, TaxAuthError> {
        let service = Service::RecepcionFc;
        let reply = match self
            .upload(service, environment, Some(token), upload, Effect::Submits)
            .await
        {
            // A rejection may come with a 4xx status. Any other answer with such a status is a refusal.
            Err(TaxAuthError::Refused {
                answer,
                status,
                service,
            }) => {
                let judged = Judged::of(upload.asked().check(service, *answer)?);
                return match judged.verdict {
                    Estado::Rejected { .. } => Ok(judged),
                    _ => Err(TaxAuthError::Refused {
                        service,
                        status,
                        answer: Box::new(judged.answer),
                    }),
                };
            }
            reply => reply?,
        };
        let judged = Judged::of(upload.asked().check(service, reply.answer())?);
        match judged.verdict {
            Estado::Unclear | Estado::NotFound => Err(TaxAuthError::Unknown {
                service,
                cause: Lost::Odd(Box::new(judged.answer)),
            }),
            _ => Ok(judged),
        }
    }
}
