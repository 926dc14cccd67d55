//! The alarm about a receipt that the authority still does not have, well before the 72 hours after which a receipt issued
//! in contingency has to be there.

use std::str::FromStr;

use ecf::ReceiptState;
use ecf_store::{Receipt, StoreError, Table};
use jiff::{SignedDuration, Timestamp};

/// The hours after which somebody is alarmed, once for each receipt and hour.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AlarmHours(Vec<u32>);

/// A list of hours that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{given:?} is not a list of hours from 1 to {longest}, such as 48,60,70", longest = AlarmHours::LONGEST)]
pub(crate) struct NoHours {
    given: String,
}

impl AlarmHours {
    const LONGEST: u32 = 720;

    /// The last hour of the list that has passed since then.
    fn reached(&self, since: Timestamp, now: Timestamp) -> Option<u32> {
        self.0.iter().copied().rfind(|hours| since + whole(*hours) <= now)
    }

    /// When the next hour of the list comes for a receipt that waits.
    pub(crate) fn next(&self, receipt: &Receipt, now: Timestamp) -> Option<Timestamp> {
        let since = is_undelivered(receipt).then(|| issued_at(receipt))?;
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

/// Alarms about a receipt whose hour has come; says whether it did.
pub(crate) async fn raise(
    table: &Table,
    hours: &AlarmHours,
    receipt: &Receipt,
    now: Timestamp,
) -> Result<bool, StoreError> {
    let since = issued_at(receipt);
    let Some(reached) = hours.reached(since, now).filter(|_| is_undelivered(receipt)) else {
        return Ok(false);
    };
    if receipt.delivery_alarm_hours.is_some_and(|told| told >= reached)
        || !table.record_delivery_alarm(&receipt.scope, receipt, reached).await?
    {
        return Ok(false);
    }
    tracing::error!(
        receipt.id = %receipt.public_id,
        encf = receipt.encf().map(tracing::field::display),
        company.rnc = %receipt.company_rnc,
        environment = %receipt.scope.environment,
        state = %receipt.state,
        hours = reached,
        "a receipt was not delivered to the tax authority in time"
    );
    Ok(true)
}

/// Whether the authority does not have it, as far as we know.
fn is_undelivered(receipt: &Receipt) -> bool {
    matches!(receipt.state, ReceiptState::Signed | ReceiptState::Contingency)
}

/// A receipt with a schedule has time until then.
fn issued_at(receipt: &Receipt) -> Timestamp {
    receipt
        .scheduled_for
        .map_or(receipt.created_at, |when| when.max(receipt.created_at))
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
