//! The events of a receipt, each through a method of the store.

use ecf::ReceiptState;
use ecf_store::{
    Receipt,
    due::{DueEntry, DueRecord},
    receipts::{AsSigned, Claim, Failure, NotFoundBy, OutboxEntry, Recorded, SignedLater, Verdict, Withdrawal},
};
use jiff::SignedDuration;

use super::Walk;
use crate::support::signed;

/// The lease of the workers.
const LEASE: SignedDuration = SignedDuration::from_secs(90);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    Sign,
    ClaimSend,
    ClaimLookUp,
    ClaimResend,
    LookUpNegative,
    Release,
    AnswerLost,
    Submitted,
    OutcomeUnknown,
    Verdict(ReceiptState),
    Failed,
    Hold,
    Postpone,
    ClaimDue,
    Withdraw(Withdrawal),
    OperatorRetries,
    OperatorFindsTrack,
    NotFound,
    ReturnToSend(NotFoundBy),
    ClearNote,
    OutboxDone(OutboxEntry),
    Alarm,
}

impl Event {
    /// An event occurs in proportion to its number of entries.
    pub(super) const ALL: [Self; 33] = [
        Self::Sign,
        Self::Sign,
        Self::ClaimSend,
        Self::ClaimSend,
        Self::ClaimSend,
        Self::ClaimLookUp,
        Self::ClaimLookUp,
        Self::ClaimResend,
        Self::ClaimResend,
        Self::LookUpNegative,
        Self::LookUpNegative,
        Self::Release,
        Self::AnswerLost,
        Self::Submitted,
        Self::OutcomeUnknown,
        Self::Verdict(ReceiptState::Accepted),
        Self::Verdict(ReceiptState::ConditionallyAccepted),
        Self::Verdict(ReceiptState::Rejected),
        Self::Failed,
        Self::Hold,
        Self::Postpone,
        Self::ClaimDue,
        Self::Withdraw(Withdrawal::Cancel),
        Self::Withdraw(Withdrawal::Incapacity),
        Self::OperatorRetries,
        Self::OperatorFindsTrack,
        Self::NotFound,
        Self::ReturnToSend(NotFoundBy::LookUps),
        Self::ReturnToSend(NotFoundBy::Operator),
        Self::ClearNote,
        Self::OutboxDone(OutboxEntry::Webhook),
        Self::OutboxDone(OutboxEntry::Number),
        Self::Alarm,
    ];
}

/// The result that a step reported.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum StepResult {
    Claimed(Box<Receipt>),
    /// Written by this step.
    Written,
    /// Nothing was written.
    Refused,
}

impl StepResult {
    fn of(is_written: bool) -> Self {
        if is_written { Self::Written } else { Self::Refused }
    }
}

impl From<Recorded> for StepResult {
    fn from(recorded: Recorded) -> Self {
        assert_ne!(recorded, Recorded::Missing);
        Self::of(matches!(recorded, Recorded::Now(_)))
    }
}

impl From<Claim> for StepResult {
    fn from(claim: Claim) -> Self {
        match claim {
            Claim::Claimed(receipt) => Self::Claimed(Box::new(receipt)),
            Claim::Missing => panic!("the receipt is gone"),
            _ => Self::Refused,
        }
    }
}

impl Walk<'_> {
    /// Executes the event, as a worker that acts on what it has read.
    pub(super) async fn happen(&mut self, place: usize, event: Event) -> StepResult {
        let seen = self.view(place);
        let (table, scope, id, now) = (&self.app.table, &seen.scope, &seen.public_id, self.now);
        match event {
            Event::Sign => {
                let number = self.number_of(place);
                let signed = signed(&seen.idempotency_key, &number);
                let amounts = AsSigned {
                    monto_total: &seen.fiscal.monto_total,
                    particulars: &seen.fiscal.particulars.clone().unwrap_or_default(),
                };
                let outcome = table.sign_receipt(scope, id, &signed, amounts, now).await;
                StepResult::of(matches!(outcome.unwrap(), SignedLater::Now(_)))
            }
            Event::ClaimSend => table.claim_send(scope, id, now, LEASE).await.unwrap().into(),
            Event::ClaimLookUp => table.claim_lookup(scope, id, now, LEASE).await.unwrap().into(),
            Event::ClaimResend => table.claim_resend(scope, id, now, LEASE).await.unwrap().into(),
            Event::LookUpNegative => table
                .record_lookup_negative(scope, id, seen.sending.attempts, now)
                .await
                .unwrap()
                .into(),
            // A worker releases a claim only if its own send certainly did not arrive.
            Event::Release if self.lives[place].promises.has_arrived(seen.sending.attempts) => StepResult::Refused,
            Event::Release => table
                .release_send(scope, id, seen.sending.attempts)
                .await
                .unwrap()
                .into(),
            Event::AnswerLost => table
                .record_answer_lost(scope, id, seen.sending.attempts, now)
                .await
                .unwrap()
                .into(),
            Event::Submitted => {
                let track_id = format!("{id}-{}", seen.sending.attempts);
                table.record_submitted(scope, id, &track_id, now).await.unwrap().into()
            }
            Event::OutcomeUnknown => table
                .record_outcome_unknown(scope, id, seen.sending.attempts, "nobody can look", now)
                .await
                .unwrap()
                .into(),
            Event::Verdict(state) => table
                .record_verdict(scope, id, self.verdict(state), now)
                .await
                .unwrap()
                .into(),
            Event::Failed => table.record_failed(scope, &seen, FAILURE, now).await.unwrap().into(),
            Event::Hold => {
                let until = now + SignedDuration::from_mins(10);
                StepResult::of(table.hold(scope, &seen, until, now).await.unwrap())
            }
            Event::Postpone => StepResult::of(table.postpone(scope, id, now).await.unwrap()),
            Event::ClaimDue => {
                let Some(at) = seen.next_action_at else {
                    return StepResult::Refused;
                };
                let entry = DueEntry {
                    scope: *scope,
                    record: DueRecord::Receipt(*id),
                    at,
                };
                let next = now + SignedDuration::from_mins(10);
                StepResult::of(table.claim_due(&entry, next).await.unwrap())
            }
            Event::Withdraw(withdrawal) => table.withdraw(scope, &seen, withdrawal, now).await.unwrap().into(),
            Event::OperatorRetries => table.retry_failed(scope, &seen, now).await.unwrap().into(),
            Event::OperatorFindsTrack => {
                let track_id = format!("{id}-found");
                table
                    .resolve_outcome(scope, &seen, &track_id, now)
                    .await
                    .unwrap()
                    .into()
            }
            Event::NotFound => table.record_not_found(scope, &seen, now).await.unwrap().into(),
            Event::ReturnToSend(by) => table.return_to_send(scope, &seen, by, now).await.unwrap().into(),
            Event::ClearNote => {
                let Some(reference) = seen.note else {
                    return StepResult::Refused;
                };
                let modified = table
                    .modified_receipt(scope, &reference.modifies)
                    .await
                    .unwrap()
                    .unwrap();
                let cleared = table.clear_note(scope, &seen, &modified, now).await.unwrap();
                StepResult::of(matches!(cleared, ecf_store::receipts::NoteCleared::Now(_)))
            }
            Event::OutboxDone(entry) => table.outbox_done(scope, id, entry).await.unwrap().into(),
            Event::Alarm => match seen.waits_for() {
                Some((awaited, _)) => {
                    let alarm = ecf_store::receipts::Alarm { awaited, hours: 48 };
                    StepResult::of(table.record_alarm(scope, &seen, alarm).await.unwrap())
                }
                None => StepResult::Refused,
            },
        }
    }

    fn verdict(&self, state: ReceiptState) -> Verdict {
        let is_rejected = state == ReceiptState::Rejected;
        let mut outbox = vec![OutboxEntry::Webhook];
        outbox.extend(is_rejected.then_some(OutboxEntry::Number));
        Verdict {
            state,
            track_id: None,
            error_code: None,
            error_message: None,
            secuencia_utilizada: is_rejected.then_some(false),
            taxauth_response: None,
            outbox,
        }
    }
}

const FAILURE: Failure<'static> = Failure {
    code: "refused",
    message: "not taken",
    taxauth_response: None,
};
