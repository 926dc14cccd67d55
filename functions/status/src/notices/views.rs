//! The responses of the notice routes. They do not contain the audience of a notice.

use ecf::Environment;
use ecf_api::{Caller, Instant};
use ecf_store::notices::{Notice, NoticeEvent};
use jiff::Timestamp;
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use utoipa::ToSchema;

/// A part of the feed.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ChangesView {
    #[schema(example = 1)]
    pub(super) schema_version: u32,
    pub(super) changes: Vec<ChangeView>,
    /// Where the next question begins.
    pub(super) next_cursor: String,
    /// Whether more changes exist now.
    pub(super) has_more: bool,
    #[schema(value_type = String, format = DateTime)]
    pub(super) checked_at: Instant,
}

/// What became of a notice.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ChangeView {
    /// The same for the same change, in every repetition.
    event_id: String,
    /// `upsert`: store this notice; `revoke`: delete it.
    #[schema(pattern = "^(upsert|revoke)$")]
    operation: &'static str,
    company_id: String,
    notice: ChangedView,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
enum ChangedView {
    Upsert(Box<NoticeView>),
    Revoke(RevokedNoticeView),
}

/// A notice that is no longer there.
#[derive(Debug, Serialize, ToSchema)]
struct RevokedNoticeView {
    id: String,
}

impl ChangeView {
    pub(super) fn of(caller: &Caller, event: NoticeEvent, now: Timestamp) -> Self {
        let company_id = caller.company().to_string();
        let digest = Sha256::digest(format!("notice/v1 {company_id} {} {}", event.id, event.number));
        let (operation, notice) = match &event.notice {
            Some(notice) => ("upsert", ChangedView::Upsert(Box::new(NoticeView::of(notice, now)))),
            None => (
                "revoke",
                ChangedView::Revoke(RevokedNoticeView {
                    id: event.id.to_string(),
                }),
            ),
        };
        Self {
            event_id: hex::encode(&digest[..16]),
            operation,
            company_id,
            notice,
        }
    }
}

/// A notice.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct NoticeView {
    id: String,
    /// Grows with each change.
    revision: u32,
    #[schema(value_type = String, pattern = "^(dgii_incident|emite_incident|announcement|action_required)$")]
    category: &'static str,
    #[schema(value_type = String, pattern = "^(info|warning|critical)$")]
    severity: &'static str,
    title: String,
    body: String,
    #[schema(value_type = String, pattern = "^(scheduled|active|expired|resolved)$")]
    state: &'static str,
    /// The source of this statement.
    source: Option<String>,
    /// The environments that it is about.
    environments: Vec<&'static str>,
    #[schema(value_type = Option<String>, format = DateTime)]
    starts_at: Option<Instant>,
    #[schema(value_type = Option<String>, format = DateTime)]
    expires_at: Option<Instant>,
    #[schema(value_type = Option<String>, format = DateTime)]
    resolved_at: Option<Instant>,
    resolution_note: Option<String>,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Instant,
}

impl NoticeView {
    pub(super) fn of(notice: &Notice, now: Timestamp) -> Self {
        let content = &notice.content;
        Self {
            id: notice.id.to_string(),
            revision: notice.revision,
            category: content.category.as_str(),
            severity: content.severity.as_str(),
            title: content.title.clone(),
            body: content.body.clone(),
            state: notice.state(now).as_str(),
            source: content.source.clone(),
            environments: content.environments.iter().copied().map(Environment::as_str).collect(),
            starts_at: content.starts_at.map(Instant),
            expires_at: content.expires_at.map(Instant),
            resolved_at: notice.resolved_at().map(Instant),
            resolution_note: notice.resolution_note().map(str::to_owned),
            updated_at: Instant(notice.updated_at),
        }
    }
}
