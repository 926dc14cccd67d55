//! The next steps of a receipt, for all functions that enqueue them (issuing, the workers, housekeeping, the operator).

use ecf::ReceiptState;

use crate::table::receipts::{OutboxEntry, Receipt};

/// A step that is a job of a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextStep {
    /// Number and sign it.
    Issue,
    /// Send it to the tax authority.
    Send,
    /// Poll its verdict.
    Poll,
    /// Publish its verdict to the webhooks.
    Event,
    /// Deliver it to its buyer.
    Deliver,
}

impl NextStep {
    /// The name for operators.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Issue => "issue",
            Self::Send => "send",
            Self::Poll => "poll",
            Self::Event => "event",
            Self::Deliver => "deliver",
        }
    }

    /// Whether the step calls the tax authority, and is held while the authority is out of reach.
    pub const fn calls_authority(self) -> bool {
        matches!(self, Self::Send | Self::Poll)
    }
}

impl Receipt {
    /// The next steps of the receipt in its state. Empty when it is complete or awaits a person.
    ///
    /// A receipt with entries in its outbox has its verdict; the entries are independent of each other. Releasing a
    /// number that a rejection left is not a job: [`Table::free_left_number`](crate::Table::free_left_number) does it.
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
