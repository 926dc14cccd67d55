//! Rate limits for requests without an API key, by client address.

use std::convert::Infallible;
use std::fmt;
use std::net::{IpAddr, Ipv6Addr};

use axum::extract::FromRequestParts;
use ecf_runtime::SourceAddress;
use ecf_store::{
    Table,
    rate_limits::{RateDecision, RateLimit},
};
use http::request::Parts;
use jiff::Timestamp;

use crate::ApiError;

/// A client without an API key, identified by the address that the gateway saw. An IPv6 host controls its whole /64, so
/// the /64 counts as one visitor. All requests without a known address count as one visitor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Visitor(Option<IpAddr>);

impl Visitor {
    /// Counts a request of the visitor against a rate limit.
    ///
    /// # Errors
    /// 429 with the time to wait when the limit is used up.
    pub async fn check_rate_limit(self, table: &Table, limit: RateLimit, now: Timestamp) -> Result<(), ApiError> {
        match table.count_request(limit, &self.to_string(), now).await? {
            RateDecision::Allowed => Ok(()),
            RateDecision::RetryAfter(wait) => Err(ApiError::too_many_requests(wait)),
        }
    }
}

impl fmt::Display for Visitor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.map(|address| address.to_canonical()) {
            Some(IpAddr::V4(address)) => address.fmt(f),
            Some(IpAddr::V6(address)) => {
                let [a, b, c, d, ..] = address.segments();
                Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).fmt(f)
            }
            None => f.write_str("unknown"),
        }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Visitor {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Infallible> {
        Ok(Self(parts.extensions.get().map(|SourceAddress(address)| *address)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_of_one_network_are_one_visitor_only_where_addresses_cost_nothing() {
        let visitor = |address: &str| Visitor(Some(address.parse().unwrap())).to_string();
        assert_eq!(visitor("198.51.100.7"), "198.51.100.7");
        assert_eq!(visitor("::ffff:198.51.100.7"), "198.51.100.7");
        assert_eq!(visitor("2001:db8:1:2:3:4:5:6"), visitor("2001:db8:1:2:ffff::1"));
        assert_ne!(visitor("2001:db8:1:2::1"), visitor("2001:db8:1:3::1"));
    }
}
