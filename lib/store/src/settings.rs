//! The deployment's settings that several functions share, read from a function's environment.

use ecf::StampHosts;
use ecf_runtime::env::{Env, EnvError};

use crate::{Clients, QueueUrls, SubmissionUrls};

impl Clients {
    /// The clients that Lambda's own variables describe: `AWS_REGION`, and `AWS_ENDPOINT_URL` for services that are not AWS's.
    pub fn from_env(env: &Env) -> Result<Self, EnvError> {
        Ok(Self::deployed(
            env.required("AWS_REGION")?,
            env.optional("AWS_ENDPOINT_URL")?,
        ))
    }
}

impl QueueUrls {
    /// The queues that the function may send to: those whose variables it has.
    pub fn from_env(env: &Env) -> Result<Self, EnvError> {
        let submission = match env.optional("SUBMISSION_QUEUE_TESTECF_URL")? {
            Some(testecf) => Some(SubmissionUrls {
                testecf,
                certecf: env.required("SUBMISSION_QUEUE_CERTECF_URL")?,
                ecf: env.required("SUBMISSION_QUEUE_ECF_URL")?,
            }),
            None => None,
        };
        Ok(Self {
            issuing: env.optional("ISSUING_QUEUE_URL")?,
            submission,
            webhook: env.optional("WEBHOOK_QUEUE_URL")?,
            webhook_slow: env.optional("WEBHOOK_SLOW_QUEUE_URL")?,
            exchange: env.optional("EXCHANGE_QUEUE_URL")?,
            certification: env.optional("CERTIFICATION_QUEUE_URL")?,
        })
    }
}

/// The authority's hosts in the address of a receipt's stamp: its own, unless `STAMP_ECF_URL` or `STAMP_FC_URL` names others.
pub fn stamp_hosts(env: &Env) -> Result<StampHosts, EnvError> {
    let mut hosts = StampHosts::default();
    if let Some(ecf) = env.optional("STAMP_ECF_URL")? {
        hosts.ecf = ecf;
    }
    if let Some(fc) = env.optional("STAMP_FC_URL")? {
        hosts.fc = fc;
    }
    Ok(hosts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(variables: &[(&str, &str)]) -> Env {
        let variables = variables.iter();
        Env::of(
            variables
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
        )
    }

    #[test]
    fn the_submission_queues_come_together() {
        let urls = QueueUrls::from_env(&given(&[
            ("SUBMISSION_QUEUE_TESTECF_URL", "t"),
            ("SUBMISSION_QUEUE_CERTECF_URL", "c"),
        ]));
        assert!(matches!(
            urls,
            Err(EnvError::Missing {
                name: "SUBMISSION_QUEUE_ECF_URL"
            })
        ));
        let urls = QueueUrls::from_env(&given(&[("WEBHOOK_QUEUE_URL", "w")])).expect("only one queue is needed");
        assert!(urls.submission.is_none());
        assert_eq!(urls.webhook.as_deref(), Some("w"));
    }
}
