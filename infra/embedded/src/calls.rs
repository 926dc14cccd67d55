//! Counts the requests of each operation, including retries of the SDK.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use http::{HeaderMap, Method};

/// The counts; clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Calls(Arc<Mutex<BTreeMap<String, u64>>>);

impl Calls {
    pub(crate) fn count(&self, method: &Method, headers: &HeaderMap) {
        let (service, operation) = operation(method, headers);
        *self.lock().entry(format!("{service} {operation}")).or_default() += 1;
    }

    pub(crate) fn so_far(&self) -> BTreeMap<String, u64> {
        self.lock().clone()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, u64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The service and the operation that a request names: `DynamoDB` and `UpdateItem`, `S3` and `PUT`.
pub(crate) fn operation<'r>(method: &'r Method, headers: &'r HeaderMap) -> (&'r str, &'r str) {
    let target = headers.get("x-amz-target").and_then(|value| value.to_str().ok());
    match target.and_then(|target| target.split_once('.')) {
        // `DynamoDB_20120810` contains a version as well.
        Some((service, operation)) => (service.split('_').next().unwrap_or(service), operation),
        None => ("S3", method.as_str()),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

    use super::*;

    #[test]
    fn operations_are_counted_by_service_and_name() {
        let calls = Calls::default();
        let mut headers = HeaderMap::new();
        calls.count(&Method::PUT, &headers);
        headers.insert("x-amz-target", "DynamoDB_20120810.UpdateItem".parse().unwrap());
        calls.count(&Method::POST, &headers);
        calls.count(&Method::POST, &headers);
        let counted: Vec<_> = calls.so_far().into_iter().collect();
        assert_eq!(
            counted,
            [("DynamoDB UpdateItem".to_owned(), 2), ("S3 PUT".to_owned(), 1)]
        );
    }
}
