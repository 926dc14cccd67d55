//! The properties that hold after every step.

use std::collections::BTreeSet;

use ecf::{Circumstances, ReceiptState, ReceiptType};
use ecf_store::{
    Receipt,
    receipts::{LOOKUP_SPACING, LOOKUPS_BEFORE_RESEND},
};
use jiff::Timestamp;
use rust_decimal::Decimal;

use super::Walk;
use super::events::{Event, StepResult};

/// The history of a receipt that its record does not contain.
#[derive(Debug, Default)]
pub(super) struct Promises {
    /// Sends that were started and not released: each may have reached the authority.
    begun: BTreeSet<u32>,
    /// The send whose outcome is unknown.
    unsettled: Option<u32>,
    /// The times of its look-ups that found nothing.
    negatives: Vec<Timestamp>,
}

impl Promises {
    /// Every second send arrives.
    pub(super) fn has_arrived(&self, attempt: u32) -> bool {
        attempt.is_multiple_of(2)
    }

    /// Follows a step, and returns the property that it violated.
    fn follow(&mut self, before: &Receipt, event: Event, told: &StepResult, now: Timestamp) -> Result<(), String> {
        match (event, told) {
            (Event::ClaimSend, StepResult::Claimed(claimed)) => {
                if let Some(attempt) = self.unsettled {
                    return Err(format!("sent again although send {attempt} may have arrived"));
                }
                self.begin(claimed.sending.attempts);
            }
            (Event::ClaimResend, StepResult::Claimed(claimed)) => {
                let found_nothing = usize::try_from(LOOKUPS_BEFORE_RESEND).unwrap();
                if self.negatives.len() < found_nothing {
                    return Err(format!("sent again after look-ups at {:?}", self.negatives));
                }
                self.begin(claimed.sending.attempts);
            }
            (Event::LookUpNegative, StepResult::Written) => {
                let is_apart = |last: &Timestamp| now.duration_since(*last) >= LOOKUP_SPACING;
                if self.negatives.last().is_none_or(is_apart) {
                    self.negatives.push(now);
                }
            }
            (Event::Release, StepResult::Written) => {
                self.begun.remove(&before.sending.attempts);
                self.settle();
            }
            // Each of these decides the outcome of the send, or leaves it to a person.
            (
                Event::Submitted
                | Event::OutcomeUnknown
                | Event::Verdict(_)
                | Event::Failed
                | Event::OperatorFindsTrack,
                StepResult::Written,
            ) => self.settle(),
            (Event::Withdraw(_), StepResult::Written) if !self.begun.is_empty() => {
                return Err(format!("withdrawn although sends {:?} were begun", self.begun));
            }
            _ => {}
        }
        match (told, before.sending.lease_until) {
            (StepResult::Claimed(_), Some(until)) if until > now => Err(format!("claimed while leased until {until}")),
            _ => Ok(()),
        }
    }

    fn begin(&mut self, attempt: u32) {
        self.begun.insert(attempt);
        self.settle();
        self.unsettled = Some(attempt);
    }

    fn settle(&mut self) {
        self.unsettled = None;
        self.negatives.clear();
    }
}

impl Walk<'_> {
    /// Checks the effect of a step on its receipt, and the invoice's balance.
    pub(super) async fn look(&mut self, place: usize, event: Event, told: StepResult) {
        let (now, life) = (self.now, &mut self.lives[place]);
        let id = life.record.public_id;
        let after = self.app.table.receipt(&self.app.scope, &id).await.unwrap().unwrap();
        let before = std::mem::replace(&mut life.record, after.clone());
        let followed = life.promises.follow(&before, event, &told, now);
        life.seen.push(after.clone());
        let checked = followed
            .and_then(|()| is_in_the_table(&before, &after, event))
            .and_then(|()| keeps_what_is_frozen(&before, &after))
            .and_then(|()| is_looked_after(&after));
        let checked = match checked {
            Ok(()) if after.note.is_some() && told != StepResult::Refused => self.balance_agrees().await,
            checked => checked,
        };
        if let Err(broken) = checked {
            let steps = self.steps.join("\n");
            panic!(
                "STATES_SEED={} STATES_WALKS=1: {broken}\n{steps}\n{before:#?}\n{after:#?}",
                self.seed
            );
        }
    }

    async fn balance_agrees(&self) -> Result<(), String> {
        let invoice = self.lives[0].record.encf().unwrap();
        let modified = self
            .app
            .table
            .modified_receipt(&self.app.scope, invoice)
            .await
            .unwrap()
            .unwrap();
        let mut balance = modified.monto_total;
        let mut annulled_by = None;
        for note in self
            .lives
            .iter()
            .map(|life| &life.record)
            .filter(|note| note.note.is_some())
        {
            let (reference, amount): (_, Decimal) = (note.note.unwrap(), note.fiscal.monto_total.parse().unwrap());
            let is_accepted = [ReceiptState::Accepted, ReceiptState::ConditionallyAccepted].contains(&note.state);
            match note.fiscal.ecf_type {
                ReceiptType::E34 if reference.reserved => {
                    balance -= amount;
                    annulled_by = annulled_by.or(reference.annuls.then_some(note.public_id));
                }
                ReceiptType::E33 if is_accepted => balance += amount,
                _ => {}
            }
        }
        let kept = (modified.balance, modified.annulled_by);
        match kept == (balance, annulled_by) && !balance.is_sign_negative() {
            true => Ok(()),
            false => Err(format!(
                "the invoice has {kept:?} left, its notes leave {balance} {annulled_by:?}"
            )),
        }
    }
}

fn is_in_the_table(before: &Receipt, after: &Receipt, event: Event) -> Result<(), String> {
    if before.state == after.state {
        return Ok(());
    }
    let circumstances = Circumstances {
        operator: event == Event::OperatorRetries,
        not_found: matches!(event, Event::ReturnToSend(_)),
        ..before.circumstances()
    };
    let is_passed_through = event == Event::Sign
        && before.state.may_become(ReceiptState::Validated, circumstances)
        && ReceiptState::Validated.may_become(after.state, circumstances);
    match is_passed_through || before.state.may_become(after.state, circumstances) {
        true => Ok(()),
        false => Err(format!(
            "{} became {} under {circumstances:?}",
            before.state, after.state
        )),
    }
}

fn keeps_what_is_frozen(before: &Receipt, after: &Receipt) -> Result<(), String> {
    let mut broken = Vec::new();
    if before.fiscal.signed.is_some() && before.fiscal.signed != after.fiscal.signed {
        broken.push("number or signature");
    }
    if after.sending.attempts < before.sending.attempts {
        broken.push("its count of sends");
    }
    if before.state.is_final() {
        // Only the remaining steps may change.
        let rest = Receipt {
            outbox: before.outbox.clone(),
            next_action_at: before.next_action_at,
            updated_at: before.updated_at,
            ..after.clone()
        };
        if rest != *before {
            broken.push("what was final");
        }
        if after.outbox.iter().any(|entry| !before.outbox.contains(entry)) {
            broken.push("an outbox that was told");
        }
    }
    match broken.is_empty() {
        true => Ok(()),
        false => Err(format!("changed: {}", broken.join(", "))),
    }
}

/// A receipt is on the due index if and only if it has a next step.
fn is_looked_after(after: &Receipt) -> Result<(), String> {
    // A receipt that awaits a person stays there for its alarms.
    let has_next_step = !after.outbox.is_empty() || !after.state.is_final();
    match has_next_step == after.next_action_at.is_some() {
        true => Ok(()),
        false => Err(format!(
            "{} with {:?} is due at {:?}",
            after.state, after.outbox, after.next_action_at
        )),
    }
}
