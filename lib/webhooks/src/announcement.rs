//! Events of our own that are about no receipt's verdict: what they say, and how they get on their way.
//!
//! They go to those subscribers alone who name them in full. Their bodies are flat like a verdict's and fixed at once, and
//! (`public_id`, `event`) tells one from another: the same news of the same thing is one announcement, however often it is
//! announced.

use std::time::Duration;

use ecf::ReceiptType;
use ecf::catalogue::EstadoAprobacion;
use ecf_store::{
    Announcement, AnnouncementId, AuthorityState, BuyerAnswer, InboxItem, Queues, Receipt, Scope, StoreError, Table,
    WebhookId, WebhookJob,
};
use jiff::{Timestamp, civil::Date};
use serde::Serialize;

use crate::event::EventName;
use crate::payload::without_offset;

/// What there is to tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum News<'a> {
    /// A range has no more than `threshold` numbers left.
    SequenceLow {
        /// The type of its receipts.
        ecf_type: ReceiptType,
        /// Its first number.
        range_start: u64,
        /// Its last number.
        range_end: u64,
        /// How many are left.
        remaining: u64,
        /// The threshold that was passed; each is told once.
        threshold: u64,
    },
    /// A range expires in no more than `threshold_days`.
    SequenceExpiring {
        /// The type of its receipts.
        ecf_type: ReceiptType,
        /// Its first number.
        range_start: u64,
        /// Its last number.
        range_end: u64,
        /// How many are left.
        remaining: u64,
        /// Its last day.
        valid_until: Date,
        /// How many days there are until then.
        days_left: i64,
        /// The threshold that was passed; each is told once.
        threshold_days: i64,
    },
    /// A webhook was switched off, because it failed for too long.
    WebhookPaused {
        /// Which.
        webhook: WebhookId,
        /// Why.
        reason: &'a str,
        /// Since when it had failed.
        failing_since: Timestamp,
    },
    /// Another issuer sent a receipt.
    InboxReceived {
        /// The receipt, as it is in the inbox.
        item: &'a InboxItem,
    },
    /// The tax authority said what it holds of a received receipt.
    InboxConfirmed {
        /// The receipt, as it is in the inbox.
        item: &'a InboxItem,
        /// What the authority said.
        state: AuthorityState,
    },
    /// A buyer answered a receipt.
    ApprovalReceived {
        /// The receipt.
        receipt: &'a Receipt,
        /// What the buyer says of it.
        answer: &'a BuyerAnswer,
    },
}

#[derive(Serialize)]
struct Payload<'a> {
    event: &'a str,
    public_id: String,
    company_rnc: &'a str,
    environment: &'a str,
    #[serde(flatten)]
    details: Details<'a>,
    timestamp: String,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Details<'a> {
    Sequence {
        ecf_type: &'a str,
        range_start: u64,
        range_end: u64,
        remaining: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        valid_until: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        days_left: Option<i64>,
    },
    Webhook {
        webhook_id: String,
        reason: &'a str,
        failing_since: String,
    },
    Inbox {
        inbox_id: String,
        ecf_type: &'a str,
        encf: String,
        rnc_emisor: &'a str,
        razon_social_emisor: Option<&'a str>,
        rnc_comprador: &'a str,
        monto_total: Option<&'a str>,
        fecha_emision: Option<&'a str>,
        signer_trusted: bool,
        authority_state: Option<&'static str>,
    },
    Approval {
        receipt_id: String,
        ecf_type: &'a str,
        encf: Option<String>,
        rnc_comprador: Option<&'a str>,
        buyer_status: &'static str,
        reason: Option<&'a str>,
        signer_trusted: bool,
    },
}

impl News<'_> {
    fn event(&self) -> EventName {
        match self {
            Self::SequenceLow { .. } => EventName::SequenceLow,
            Self::SequenceExpiring { .. } => EventName::SequenceExpiring,
            Self::WebhookPaused { .. } => EventName::WebhookPaused,
            Self::InboxReceived { .. } => EventName::InboxReceived,
            Self::InboxConfirmed { .. } => EventName::InboxConfirmed,
            Self::ApprovalReceived { .. } => EventName::ApprovalReceived,
        }
    }

    /// What makes it the same news when it is announced again.
    fn about(&self) -> String {
        match self {
            Self::SequenceLow {
                ecf_type,
                range_start,
                range_end,
                threshold,
                ..
            } => format!("{}/{range_start}/{range_end}/{threshold}", ecf_type.as_str()),
            Self::SequenceExpiring {
                ecf_type,
                range_start,
                valid_until,
                threshold_days,
                ..
            } => format!("{}/{range_start}/{valid_until}/{threshold_days}", ecf_type.as_str()),
            Self::WebhookPaused {
                webhook, failing_since, ..
            } => format!("{webhook}/{}", failing_since.as_millisecond()),
            Self::InboxReceived { item } => item.id.to_string(),
            Self::InboxConfirmed { item, .. } => item.id.to_string(),
            // The answer of a trusted signer may replace a provisional one.
            Self::ApprovalReceived { receipt, answer } if answer.signer_trusted => {
                format!("{}/trusted", receipt.public_id)
            }
            Self::ApprovalReceived { receipt, .. } => receipt.public_id.to_string(),
        }
    }

    /// The announcement with its bytes.
    #[must_use]
    pub fn announcement(&self, scope: &Scope, company_rnc: &str, now: Timestamp) -> Announcement {
        let event = self.event().as_str();
        let id = AnnouncementId::of(scope, event, &self.about());
        let payload = Payload {
            event,
            public_id: id.to_string(),
            company_rnc,
            environment: scope.environment.as_str(),
            details: self.details(),
            timestamp: without_offset(now),
        };
        Announcement {
            id,
            event: event.to_owned(),
            body: serde_json::to_vec(&payload).expect("texts and numbers always serialize"),
            at: now,
        }
    }

    fn details(&self) -> Details<'_> {
        match self {
            Self::SequenceLow {
                ecf_type,
                range_start,
                range_end,
                remaining,
                ..
            } => Details::Sequence {
                ecf_type: ecf_type.as_str(),
                range_start: *range_start,
                range_end: *range_end,
                remaining: *remaining,
                valid_until: None,
                days_left: None,
            },
            Self::SequenceExpiring {
                ecf_type,
                range_start,
                range_end,
                remaining,
                valid_until,
                days_left,
                ..
            } => Details::Sequence {
                ecf_type: ecf_type.as_str(),
                range_start: *range_start,
                range_end: *range_end,
                remaining: *remaining,
                valid_until: Some(valid_until.to_string()),
                days_left: Some(*days_left),
            },
            Self::WebhookPaused {
                webhook,
                reason,
                failing_since,
            } => Details::Webhook {
                webhook_id: webhook.to_string(),
                reason,
                failing_since: without_offset(*failing_since),
            },
            Self::InboxReceived { item } => inbox(item, item.authority),
            Self::InboxConfirmed { item, state } => inbox(item, Some(*state)),
            Self::ApprovalReceived { receipt, answer } => Details::Approval {
                receipt_id: receipt.public_id.to_string(),
                ecf_type: receipt.ecf_type.as_str(),
                encf: receipt.encf().map(ToString::to_string),
                rnc_comprador: receipt.rnc_comprador.as_deref(),
                buyer_status: match answer.estado {
                    EstadoAprobacion::Aceptado => "approved",
                    EstadoAprobacion::Rechazado => "rejected",
                },
                reason: answer.reason.as_deref(),
                signer_trusted: answer.signer_trusted,
            },
        }
    }
}

fn inbox(item: &InboxItem, authority: Option<AuthorityState>) -> Details<'_> {
    Details::Inbox {
        inbox_id: item.id.to_string(),
        ecf_type: item.ecf_type.as_str(),
        encf: item.encf.to_string(),
        rnc_emisor: item.rnc_emisor.as_str(),
        razon_social_emisor: item.razon_social_emisor.as_deref(),
        rnc_comprador: item.rnc_comprador.as_str(),
        monto_total: item.monto_total.as_deref(),
        fecha_emision: item.fecha_emision.as_deref(),
        signer_trusted: item.signer_trusted,
        authority_state: authority.map(AuthorityState::as_str),
    }
}

/// Keeps the announcement, then queues its telling; a message that is lost is found on the due index. `false`: the same was
/// announced before, and nothing is queued.
///
/// # Errors
/// When the store does not take it. After a failed queue the announcement is kept and will be told.
pub async fn announce(
    table: &Table,
    queues: &Queues,
    scope: &Scope,
    announcement: &Announcement,
) -> Result<bool, StoreError> {
    if !table.create_announcement(scope, announcement).await? {
        return Ok(false);
    }
    tell(queues, scope, &announcement.id).await?;
    Ok(true)
}

/// Queues the telling of an announcement that is kept already.
///
/// # Errors
/// When the queue does not take it; the announcement will be told nevertheless.
pub async fn tell(queues: &Queues, scope: &Scope, announcement: &AnnouncementId) -> Result<(), StoreError> {
    let job = WebhookJob::Announce {
        scope: *scope,
        announcement: *announcement,
        attempt: 0,
    };
    queues.send_webhook(&job, Duration::ZERO).await
}

#[cfg(test)]
mod tests {
    use ecf_store::CompanyId;

    use super::*;

    fn scope() -> Scope {
        Scope {
            company: CompanyId::from_random([1; 20]),
            environment: ecf::Environment::TesteCF,
        }
    }

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn low(threshold: u64, remaining: u64) -> News<'static> {
        News::SequenceLow {
            ecf_type: "31".parse().unwrap(),
            range_start: 1,
            range_end: 500,
            remaining,
            threshold,
        }
    }

    #[test]
    fn the_bodies_are_flat_and_say_what_is_needed_to_act() {
        let expiring = News::SequenceExpiring {
            ecf_type: "32".parse().unwrap(),
            range_start: 1,
            range_end: 500,
            remaining: 90,
            valid_until: jiff::civil::date(2026, 12, 31),
            days_left: 30,
            threshold_days: 30,
        };
        let paused = News::WebhookPaused {
            webhook: WebhookId::from_random([2; 20]),
            reason: "no 2xx answer for 72 hours",
            failing_since: at("2026-11-24T12:00:00Z"),
        };
        let bodies = [low(100, 99), expiring, paused].map(|news| {
            let announcement = news.announcement(&scope(), "101672919", at("2026-11-27T12:00:00.5Z"));
            String::from_utf8(announcement.body).unwrap()
        });
        insta::assert_snapshot!(bodies.join("\n"), @r#"
        {"event":"sequence.low","public_id":"khb81qfc95zb86zf454fnjpzdzdv2gtp","company_rnc":"101672919","environment":"TesteCF","ecf_type":"31","range_start":1,"range_end":500,"remaining":99,"timestamp":"2026-11-27T12:00:00"}
        {"event":"sequence.expiring","public_id":"0bfz2gg159k9kxnr5wgpj3jq50x5yet0","company_rnc":"101672919","environment":"TesteCF","ecf_type":"32","range_start":1,"range_end":500,"remaining":90,"valid_until":"2026-12-31","days_left":30,"timestamp":"2026-11-27T12:00:00"}
        {"event":"webhook.paused","public_id":"ytnk176gqrqp80ddvemthza883tcj1v9","company_rnc":"101672919","environment":"TesteCF","webhook_id":"081040g2081040g2081040g2081040g2","reason":"no 2xx answer for 72 hours","failing_since":"2026-11-24T12:00:00","timestamp":"2026-11-27T12:00:00"}
        "#);
    }

    #[test]
    fn each_threshold_of_a_range_is_news_once() {
        let id = |news: News<'_>, now| news.announcement(&scope(), "101672919", at(now)).id;
        let first = id(low(100, 99), "2026-11-27T12:00:00Z");
        assert_eq!(first, id(low(100, 98), "2026-11-27T12:01:00Z"));
        assert_ne!(first, id(low(50, 50), "2026-11-27T12:01:00Z"));
    }
}
