//! Alarms for receipts that stay too long in a state.

use std::str::FromStr;

use ecf::ReceiptState;
use jiff::{SignedDuration, Timestamp};

use super::{
    OUTCOME_UNKNOWN, Receipt, in_states,
    record::{DELIVERY_ALARM, STATE_ALARM},
    waiting,
};
use crate::{
    StoreError,
    ids::Scope,
    table::{
        Table,
        change::Change,
        condition::{absent, below, differs},
        item::{number, text},
        keys,
    },
};

/// Ages in whole hours, ascending; each raises one alarm.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlarmHours(Vec<u32>);

/// An invalid list of hours.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{given:?} is not a list of hours from 1 to {longest}, such as 48,60,70", longest = AlarmHours::LONGEST)]
pub struct NoHours {
    given: String,
}

/// The alarm hours of every state that is not final.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlarmTimes {
    /// For a signed receipt that the authority does not have.
    pub delivery: AlarmHours,
    /// For a receipt that waits for anything else.
    pub step: AlarmHours,
}

/// The event that a receipt awaits in a state that is not final.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Awaited {
    /// The delivery to the authority, for which the law gives 72 hours.
    Delivery,
    /// Its signature, its verdict or a person.
    Step,
}

/// An alarm about a receipt that waits, with the hours that it has waited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Alarm {
    pub awaited: Awaited,
    pub hours: u32,
}

impl AlarmHours {
    const LONGEST: u32 = 720;

    /// The last hour of the list that has passed since then.
    fn reached(&self, since: Timestamp, now: Timestamp) -> Option<u32> {
        self.0.iter().copied().rfind(|hours| since + whole(*hours) <= now)
    }

    fn next(&self, since: Timestamp, now: Timestamp) -> Option<Timestamp> {
        self.0.iter().map(|hours| since + whole(*hours)).find(|at| *at > now)
    }
}

impl FromStr for AlarmHours {
    type Err = NoHours;

    fn from_str(text: &str) -> Result<Self, NoHours> {
        let no_hours = || NoHours { given: text.to_owned() };
        let hours = text.split(',').map(|hours| hours.trim().parse().ok());
        let mut hours: Vec<u32> = hours.collect::<Option<_>>().ok_or_else(no_hours)?;
        if hours.iter().any(|hours| !(1..=Self::LONGEST).contains(hours)) {
            return Err(no_hours());
        }
        hours.sort_unstable();
        Ok(Self(hours))
    }
}

impl AlarmTimes {
    /// The alarm for the last hour that a receipt has passed.
    pub fn reached(&self, receipt: &Receipt, now: Timestamp) -> Option<Alarm> {
        let (awaited, since) = receipt.waits_for()?;
        let hours = self.of(awaited).reached(since, now)?;
        Some(Alarm { awaited, hours })
    }

    /// The next alarm hour of a receipt, if its state does not change.
    pub fn next(&self, receipt: &Receipt, now: Timestamp) -> Option<Timestamp> {
        let (awaited, since) = receipt.waits_for()?;
        self.of(awaited).next(since, now)
    }

    const fn of(&self, awaited: Awaited) -> &AlarmHours {
        match awaited {
            Awaited::Delivery => &self.delivery,
            Awaited::Step => &self.step,
        }
    }
}

impl Receipt {
    /// What the receipt waits for, and since when; `None` in a final state.
    pub fn waits_for(&self) -> Option<(Awaited, Timestamp)> {
        // The time of a scheduled receipt begins with its schedule.
        let issued_at = self
            .scheduled_for
            .map_or(self.created_at, |when| when.max(self.created_at));
        Some(match self.state {
            ReceiptState::Received | ReceiptState::Deferred | ReceiptState::Validated => (Awaited::Step, issued_at),
            ReceiptState::Signed | ReceiptState::Contingency => (Awaited::Delivery, issued_at),
            // Otherwise every new send would restart the time.
            ReceiptState::Submitted if self.sending.lost_track_ids.is_empty() => {
                (Awaited::Step, self.sending.submitted_at.unwrap_or(issued_at))
            }
            ReceiptState::Submitted => (Awaited::Step, issued_at),
            ReceiptState::Failed => (Awaited::Step, self.updated_at),
            ReceiptState::Accepted
            | ReceiptState::ConditionallyAccepted
            | ReceiptState::Rejected
            | ReceiptState::Cancelled
            | ReceiptState::Incapacity => return None,
        })
    }

    /// Whether no step is automatic: the caller or an operator decides.
    pub fn waits_for_a_person(&self) -> bool {
        let is_unknown = self.error_code.as_deref() == Some(OUTCOME_UNKNOWN);
        self.state == ReceiptState::Failed
            || self.state == ReceiptState::Submitted && is_unknown && self.sending.track_id.is_none()
    }
}

impl Table {
    /// Records that somebody was alarmed about a receipt that waits. `false`: somebody was before, or it
    /// went on.
    ///
    /// # Errors
    /// Fails when DynamoDB fails.
    pub async fn record_alarm(
        &self,
        scope: &Scope,
        seen: &Receipt,
        Alarm { awaited, hours }: Alarm,
    ) -> Result<bool, StoreError> {
        let change = Change::of(keys::receipt(scope, &seen.public_id));
        let change = match awaited {
            Awaited::Delivery => change
                .set(DELIVERY_ALARM, number(hours))
                .when(in_states(waiting()))
                .when(absent(DELIVERY_ALARM).or(below(DELIVERY_ALARM, number(hours)))),
            Awaited::Step => {
                let alarm = text(state_alarm(seen.state, hours));
                change
                    .set(STATE_ALARM, alarm.clone())
                    .when(in_states([seen.state]))
                    .when(absent(STATE_ALARM).or(differs(STATE_ALARM, alarm)))
            }
        };
        self.applied("record alarm", change).await
    }
}

/// An alarm about one state, such as `submitted 6`: in another state the alarms start again.
fn state_alarm(state: ReceiptState, hours: u32) -> String {
    format!("{state} {hours}")
}

impl Receipt {
    /// Whether this alarm was raised already.
    pub fn was_alarmed(&self, Alarm { awaited, hours }: Alarm) -> bool {
        match awaited {
            Awaited::Delivery => self.alarms.delivery_hours.is_some_and(|told| told >= hours),
            Awaited::Step => self.alarms.state.as_deref() == Some(state_alarm(self.state, hours).as_str()),
        }
    }
}

fn whole(hours: u32) -> SignedDuration {
    SignedDuration::from_hours(i64::from(hours))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

    use super::*;

    #[test]
    fn each_hour_of_the_list_is_reached_in_its_time() {
        let hours: AlarmHours = "70, 48,60".parse().unwrap();
        let start = Timestamp::UNIX_EPOCH;
        for (after, reached) in [
            (47, None),
            (48, Some(48)),
            (59, Some(48)),
            (60, Some(60)),
            (100, Some(70)),
        ] {
            assert_eq!(hours.reached(start, start + whole(after)), reached, "{after}");
        }
        assert_eq!(hours.next(start, start + whole(48)), Some(start + whole(60)));
        assert_eq!(hours.next(start, start + whole(70)), None);
    }

    #[test]
    fn what_is_no_list_of_hours_is_refused() {
        for bad in ["", "48,", "0", "-1", "two days", "721", "48;60"] {
            assert!(bad.parse::<AlarmHours>().is_err(), "{bad}");
        }
        let error = "x".parse::<AlarmHours>().unwrap_err().to_string();
        assert_eq!(error, r#""x" is not a list of hours from 1 to 720, such as 48,60,70"#);
    }
}
