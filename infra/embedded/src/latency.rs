//! The time that a call to AWS takes, which a loopback port does not have.

use std::time::Duration;

use http::{HeaderMap, Method};

use crate::calls::operation;

/// How long each call waits before it is executed. The default is not at all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Latency {
    pub dynamodb: Duration,
    pub s3_put: Duration,
    /// Every call to S3 that is not a `PUT`.
    pub s3_get: Duration,
    pub sqs: Duration,
    pub secrets_manager: Duration,
}

impl Latency {
    /// Assumed for calls from a function to AWS in the same region. The values are round figures, not measurements.
    pub const ASSUMED: Self = Self {
        dynamodb: Duration::from_millis(5),
        s3_put: Duration::from_millis(30),
        s3_get: Duration::from_millis(15),
        sqs: Duration::from_millis(8),
        secrets_manager: Duration::from_millis(10),
    };

    pub(crate) fn of(&self, method: &Method, headers: &HeaderMap) -> Duration {
        match operation(method, headers) {
            ("DynamoDB", _) => self.dynamodb,
            ("AmazonSQS", _) => self.sqs,
            ("secretsmanager", _) => self.secrets_manager,
            (_, "PUT") => self.s3_put,
            _ => self.s3_get,
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

    use super::*;

    #[test]
    fn each_call_waits_as_long_as_its_service_takes() {
        let latency = |method: Method, target: Option<&str>| {
            let mut headers = HeaderMap::new();
            if let Some(target) = target {
                headers.insert("x-amz-target", target.parse().unwrap());
            }
            Latency::ASSUMED.of(&method, &headers).as_millis()
        };
        assert_eq!(latency(Method::POST, Some("DynamoDB_20120810.GetItem")), 5);
        assert_eq!(latency(Method::POST, Some("AmazonSQS.SendMessage")), 8);
        assert_eq!(latency(Method::POST, Some("secretsmanager.GetSecretValue")), 10);
        assert_eq!(latency(Method::PUT, None), 30);
        assert_eq!(latency(Method::GET, None), 15);
        assert_eq!(Latency::default().of(&Method::PUT, &HeaderMap::new()), Duration::ZERO);
    }
}
