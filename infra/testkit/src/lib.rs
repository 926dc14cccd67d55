//! What tests of functions and of the store stand on; never part of what is deployed.
//!
//! [`TestStack`] makes table, bucket, queues and data key of the real template on the embedded services, under names of its own, so
//! that tests run in parallel. [`TestStack::company`] signs a company up; [`request`] calls a router as the gateway would;
//! [`check_answer`] holds what it answers against the published contract;
//! [`TestStack::drain`] feeds a worker from its queue; [`Receiver`] is a webhook endpoint; [`AwsCalls`] counts what the SDK was
//! asked for and lets calls fail. Time stands still until the test moves [`TestStack::clock`], and messages do not wait: a delay is
//! noted in [`AwsCalls::delays`] and the message comes at once. Where the order in time matters, [`Timeline`] lets each come at its
//! time.
//!
//! A mistake here is a mistake of the test, so functions panic instead of returning errors.

mod aws_calls;
mod codes;
mod company;
mod contract;
mod drain;
mod foreign;
mod loopback;
mod peer;
mod receipt;
mod received;
mod receiver;
mod request;
mod stack;
mod timeline;
mod told;

pub use aws_calls::{AwsCalls, Call, Fault, Units};
pub use codes::{documented_codes, repository};
pub use company::{CompanyBuilder, P12_PIN, RNC, TestCompany, test_p12};
pub use contract::{check_answer, check_event};
pub use drain::Queue;
pub use foreign::{FOREIGN_RNC, foreign_receipt, sign_certified, sign_foreign, unsigned_receipt};
pub use peer::{Peer, PeerAnswer};
pub use receipt::{seeded_receipt, send_job};
pub use receiver::{Received, Receiver};
pub use request::{Answer, request, send};
pub use stack::{TestStack, noise};
pub use timeline::Timeline;
pub use told::Told;
