//! What happens next to a receipt: the one answer for the functions that queue it (issuing, the workers, housekeeping, the
//! operator).

use ecf::ReceiptState;

use crate::table::receipts::{OutboxEntry, Receipt};

/// A step that a queue carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextStep {
    /// Number it and sign it.
    Issue,
    /// Send it to the tax authority.
    Send,
    /// Ask for its verdict.
    Poll,
    /// Report its verdict to the webhooks.
    Event,
    /// Deliver it to its buyer.
    Deliver,
}

impl NextStep {
    /// The name that operators see.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Issue => "issue",
            Self::Send => "send",
            Self::Poll => "poll",
            Self::Event => "event",
            Self::Deliver => "deliver",
        }
    }

    /// Whether it is a call to the tax authority, which waits while the authority is out of reach.
    pub const fn calls_authority(self) -> bool {
        matches!(self, Self::Send | Self::Poll)
    }
}

impl Receipt {
    /// The steps that take the receipt on from where it stands. None: it is done, or a person decides.
    ///
    /// A receipt with entries in its outbox has its verdict; they are independent of each other. A number that a rejection left is
    /// no step of a queue: [`Table::free_left_number`](crate::Table::free_left_number) frees it.
    pub fn next_steps(&self) -> Vec<NextStep> {
        if self.waits_for_a_person() {
            return Vec::new();
        }
        if !self.outbox.is_empty() {
            let queued = [
                (OutboxEntry::Exchange, NextStep::Deliver),
                (OutboxEntry::Webhook, NextStep::Event),
            ];
            let waiting = queued.into_iter().filter(|(entry, _)| self.outbox.contains(entry));
            return waiting.map(|(_, step)| step).collect();
        }
        let step = match self.state {
            ReceiptState::Received | ReceiptState::Deferred | ReceiptState::Validated => NextStep::Issue,
            ReceiptState::Signed | ReceiptState::Contingency => NextStep::Send,
            ReceiptState::Submitted => NextStep::Poll,
            ReceiptState::Failed
            | ReceiptState::Accepted
            | ReceiptState::ConditionallyAccepted
            | ReceiptState::Rejected
            | ReceiptState::Cancelled
            | ReceiptState::Incapacity => return Vec::new(),
        };
        vec![step]
    }
}
