//! The errors of the store, by the caller's possible reaction.

use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use aws_smithy_runtime_api::client::orchestrator::HttpResponse;

type Source = Box<dyn std::error::Error + Send + Sync>;

/// A failure of the store. "Not found" and expected conflicts are outcomes of the methods, not errors.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Throttled, timed out or unreachable: a retry may succeed. Whether the call took effect is unknown.
    #[error("{operation} did not get a definite answer")]
    Retry {
        operation: &'static str,
        #[source]
        source: Source,
    },
    /// Other writers kept changing the record; nothing was written.
    #[error("{operation} lost {attempts} races for the same record")]
    Contended { operation: &'static str, attempts: u32 },
    /// A stored record cannot be parsed.
    #[error("record {key} is corrupt: {attribute} {why}")]
    Corrupt {
        key: String,
        attribute: &'static str,
        why: String,
    },
    /// This process was started without the address that the call needs.
    #[error("no address is configured for {0}")]
    NotConfigured(&'static str),
    /// Rejected for a reason that a retry does not remove: permissions, a missing table, an invalid request.
    #[error("{operation} was refused")]
    Unexpected {
        operation: &'static str,
        #[source]
        source: Source,
    },
}

impl StoreError {
    /// Whether a retry may succeed.
    pub fn is_retryable(&self) -> bool {
        matches!(self, Self::Retry { .. } | Self::Contended { .. })
    }

    pub fn corrupt(key: impl ToString, attribute: &'static str, why: impl ToString) -> Self {
        Self::Corrupt {
            key: key.to_string(),
            attribute,
            why: why.to_string(),
        }
    }

    pub fn unexpected(operation: &'static str, source: impl Into<Source>) -> Self {
        Self::Unexpected {
            operation,
            source: source.into(),
        }
    }

    pub fn retry(operation: &'static str, source: impl Into<Source>) -> Self {
        Self::Retry {
            operation,
            source: source.into(),
        }
    }

    pub(crate) fn from_sdk<E>(operation: &'static str, error: SdkError<E, HttpResponse>) -> Self
    where
        E: ProvideErrorMetadata + std::error::Error + Send + Sync + 'static,
    {
        let again = match &error {
            SdkError::ConstructionFailure(_) => false,
            SdkError::ServiceError(refusal) => {
                let status = refusal.raw().status().as_u16();
                status >= 500 || status == 429 || refusal.err().code().is_some_and(passes_with_time)
            }
            // No answer, or one that could not be parsed.
            _ => true,
        };
        if again {
            Self::retry(operation, error)
        } else {
            Self::unexpected(operation, error)
        }
    }
}

/// Error codes of the four services that mean "retry later" with a 4xx status.
fn passes_with_time(code: &str) -> bool {
    matches!(
        code,
        "ProvisionedThroughputExceededException"
            | "ThrottlingException"
            | "ThrottlingError"
            | "RequestLimitExceeded"
            | "RequestThrottled"
            | "TooManyRequestsException"
            | "LimitExceededException"
            | "TransactionConflictException"
            | "TransactionInProgressException"
            | "ReplicatedWriteConflictException"
            | "OverLimit"
            | "KmsThrottled"
            | "SlowDown"
            | "RequestTimeout"
            | "OperationAborted"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_time_can_mend_is_retryable() {
        assert!(StoreError::retry("put", "timed out").is_retryable());
        assert!(
            StoreError::Contended {
                operation: "put",
                attempts: 5
            }
            .is_retryable()
        );
        assert!(!StoreError::unexpected("put", "access denied").is_retryable());
        assert!(!StoreError::corrupt("co#1", "st", "is missing").is_retryable());
        assert!(passes_with_time("ThrottlingException"));
        assert!(!passes_with_time("ValidationException"));
    }

    #[test]
    fn the_message_names_key_attribute_and_reason() {
        let error = StoreError::corrupt("r#1", "st", "is missing");
        assert_eq!(error.to_string(), "record r#1 is corrupt: st is missing");
    }
}
