//! What happens next to a receipt on its way to the tax authority, without AWS: the table of every event, and whole lives of
//! receipts beside a small model of the authority.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod authority;
mod lives;
mod receipt;
mod table;
