//! The foundation of the tests of functions and store; never deployed.
//!
//! Start reading at [`TestStack`]: it creates table, bucket, queues and data key of the real template on the embedded
//! services, under unique names, so that tests run in parallel.
//!
//! - [`TestStack::company`] signs a company up.
//! - [`request`] calls a router like the gateway; [`check_answer`] validates the response against the published
//!   contract.
//! - [`TestStack::drain`] feeds a worker from its queue.
//! - [`Receiver`] is a webhook endpoint.
//! - [`AwsCalls`] counts the SDK's calls and injects faults.
//!
//! Time stands still until the test moves [`TestStack::clock`]. Delays are recorded in [`AwsCalls::delays`] and
//! messages are delivered at once; [`Timeline`] delivers each message at its due time, for tests that depend on the
//! order.
//!
//! An error here is an error of the test, so functions panic instead of returning errors.

mod aws_calls;
mod codes;
mod company;
mod contract;
mod drain;
mod emitted_metrics;
mod foreign;
mod loopback;
mod peer;
mod receipt;
mod received;
mod receiver;
mod request;
mod stack;
mod timeline;

pub use aws_calls::{AwsCalls, Call, Fault, Units};
pub use codes::{documented_codes, repository};
pub use company::{CompanyBuilder, P12_PIN, RNC, TestCompany, test_p12};
pub use contract::{check_answer, check_event};
pub use drain::Queue;
pub use emitted_metrics::EmittedMetrics;
pub use foreign::{FOREIGN_RNC, foreign_receipt, sign_certified, sign_foreign, unsigned_receipt};
pub use peer::{Peer, PeerAnswer};
pub use receipt::{seeded_receipt, send_job};
pub use receiver::{Received, Receiver};
pub use request::{Answer, request, send};
pub use stack::{TestStack, noise};
pub use timeline::Timeline;
