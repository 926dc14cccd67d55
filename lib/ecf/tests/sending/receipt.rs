//! The receipt's record, with the conditions under which the store writes it.

use ecf::sending::{Claim, NotClaimed, Standing};
use ecf::waits::{LOOKUP_SPACING, LOOKUPS_BEFORE_RESEND, SEND_LEASE};
use ecf::{Circumstances, Environment, ReceiptState};
use jiff::Timestamp;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Receipt {
    pub(crate) state: ReceiptState,
    pub(crate) environment: Environment,
    pub(crate) is_summary: bool,
    pub(crate) sends: u32,
    pub(crate) lease_until: Option<Timestamp>,
    pub(crate) negatives: u32,
    pub(crate) looked_up_at: Option<Timestamp>,
    pub(crate) track_id: Option<String>,
    pub(crate) submitted_at: Timestamp,
    pub(crate) resent_at: Option<Timestamp>,
    /// Whether it is a note that is held back.
    pub(crate) is_held: bool,
}

impl Receipt {
    pub(crate) fn has_look_up(&self) -> bool {
        self.is_summary || self.environment != Environment::CerteCF
    }

    pub(crate) fn standing(&self, invoice_reads: u32) -> Standing {
        Standing {
            state: self.state,
            environment: self.environment,
            has_look_up: self.has_look_up(),
            sends: self.sends,
            lease_until: self.lease_until,
            negatives: self.negatives,
            has_track_id: self.track_id.is_some(),
            submitted_at: self.submitted_at,
            resent_at: self.resent_at,
            invoice_reads,
        }
    }

    pub(crate) fn awaits_send(&self) -> bool {
        matches!(self.state, ReceiptState::Signed | ReceiptState::Contingency)
    }

    pub(crate) fn may_become(&self, next: ReceiptState, not_found: bool) -> bool {
        let circumstances = Circumstances {
            summary: self.is_summary,
            sent: self.sends > 0,
            operator: false,
            not_found,
        };
        self.state.may_become(next, circumstances)
    }

    fn end_lease(&mut self) {
        self.lease_until = None;
        self.negatives = 0;
        self.looked_up_at = None;
    }

    /// `Err`: why not; `Err(None)`: another worker holds it.
    pub(crate) fn claim(&mut self, claim: Claim, now: Timestamp) -> Result<(), Option<NotClaimed>> {
        let is_over = self.lease_until.is_some_and(|until| until <= now);
        let is_granted = self.awaits_send()
            && match claim {
                Claim::First | Claim::Cleared => self.lease_until.is_none() && !self.is_held,
                Claim::LookUp => is_over,
                Claim::Resend => is_over && self.negatives >= LOOKUPS_BEFORE_RESEND,
            };
        if is_granted {
            if claim == Claim::Resend {
                self.end_lease();
                self.resent_at.get_or_insert(now);
            }
            self.sends += u32::from(claim != Claim::LookUp);
            self.lease_until = Some(now + SEND_LEASE);
            return Ok(());
        }
        Err(match self.lease_until {
            _ if !self.awaits_send() => Some(NotClaimed::NotSendable),
            Some(_) if is_over => Some(NotClaimed::LeaseExpired),
            Some(_) => None,
            None if self.is_held => Some(NotClaimed::NoteAwaitsInvoice),
            None => Some(NotClaimed::NotSendable),
        })
    }

    /// Whether the claim of a worker that saw the receipt like this is still the last one.
    fn is_claim_of(&self, seen: &Self) -> bool {
        self.awaits_send() && self.sends == seen.sends
    }

    pub(crate) fn release(&mut self, seen: &Self) {
        if self.is_claim_of(seen) {
            self.end_lease();
        }
    }

    pub(crate) fn lose_answer(&mut self, seen: &Self, now: Timestamp) {
        if self.is_claim_of(seen) && self.lease_until.is_some() {
            self.lease_until = Some(now);
        }
    }

    pub(crate) fn leave_to_operator(&mut self, seen: &Self, now: Timestamp) {
        if self.is_claim_of(seen) && self.lease_until.is_some() {
            self.end_lease();
            self.state = ReceiptState::Submitted;
            self.submitted_at = now;
        }
    }

    pub(crate) fn submitted(&mut self, track_id: String, now: Timestamp) {
        let is_open = self.awaits_send() || self.state == ReceiptState::Submitted;
        if is_open && self.track_id.is_none() {
            self.end_lease();
            self.state = ReceiptState::Submitted;
            self.track_id = Some(track_id);
            self.submitted_at = now;
        }
    }

    fn counts(&mut self, now: Timestamp) -> bool {
        let is_apart = self.looked_up_at.is_none_or(|last| last <= now - LOOKUP_SPACING);
        if is_apart {
            self.negatives += 1;
            self.looked_up_at = Some(now);
        }
        is_apart
    }

    /// Counts a look-up after a lost answer. `None`: the receipt went on. Else whether it counted.
    pub(crate) fn found_nothing(&mut self, seen: &Self, now: Timestamp) -> Option<bool> {
        if !self.is_claim_of(seen) || self.lease_until.is_none() {
            return None;
        }
        self.lease_until = Some(now);
        Some(self.counts(now))
    }

    pub(crate) fn is_still(&self, seen: &Self) -> bool {
        self.state == ReceiptState::Submitted && self.track_id == seen.track_id
    }

    /// Counts a look-up of a document that is not found. Whether it counted.
    pub(crate) fn not_found(&mut self, seen: &Self, now: Timestamp) -> bool {
        self.is_still(seen) && self.counts(now)
    }

    pub(crate) fn return_to_send(&mut self, seen: &Self, now: Timestamp) -> bool {
        let is_lost = self.is_still(seen) && self.negatives >= LOOKUPS_BEFORE_RESEND;
        if is_lost {
            self.state = ReceiptState::Signed;
            self.lease_until = Some(now);
            self.negatives = LOOKUPS_BEFORE_RESEND;
            self.looked_up_at = None;
            self.track_id = None;
        }
        is_lost
    }
}
