//! Notices: draft, publish, update, resolve, withdraw.

use std::collections::BTreeSet;

use ecf::Environment;
use ecf_store::{
    CompanyId, FieldEdit, NoticeId,
    notices::{
        Audience, Notice, NoticeCategory, NoticeChange, NoticeChanged, NoticeContent, NoticeEdit, NoticeSeverity,
    },
};
use jiff::Timestamp;
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use crate::{App, OperatorError};

const LONGEST_TITLE: usize = 150;
const LONGEST_BODY: usize = 4_000;
const LONGEST_SOURCE: usize = 50;

/// A notice to draft.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewNotice {
    category: NoticeCategory,
    severity: NoticeSeverity,
    title: String,
    body: String,
    source: Option<String>,
    #[serde(default)]
    environments: Vec<Environment>,
    starts_at: Option<Timestamp>,
    expires_at: Option<Timestamp>,
    audience: NewAudience,
}

/// The audience of a notice: `"all"`, `{"environments": […]}` or `{"companies": […]}`.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum NewAudience {
    All,
    Environments(BTreeSet<Environment>),
    Companies(BTreeSet<CompanyId>),
}

/// Changes of a notice: a missing member stays, and `null` clears an optional one.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChangedNotice {
    notice: NoticeId,
    category: Option<NoticeCategory>,
    severity: Option<NoticeSeverity>,
    title: Option<String>,
    body: Option<String>,
    #[serde(default, deserialize_with = "given")]
    source: Option<Option<String>>,
    environments: Option<Vec<Environment>>,
    #[serde(default, deserialize_with = "given")]
    starts_at: Option<Option<Timestamp>>,
    #[serde(default, deserialize_with = "given")]
    expires_at: Option<Option<Timestamp>>,
    audience: Option<NewAudience>,
}

/// Distinguishes `null` from a missing member.
fn given<'de, D, T>(deserializer: D) -> Result<Option<Option<T>>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    Option::deserialize(deserializer).map(Some)
}

pub(crate) async fn draft(app: &App, new: NewNotice) -> Result<Value, OperatorError> {
    let content = NoticeContent {
        category: new.category,
        severity: new.severity,
        title: new.title,
        body: new.body,
        source: new.source,
        environments: new.environments,
        starts_at: new.starts_at,
        expires_at: new.expires_at,
    };
    check_text("title", &content.title, LONGEST_TITLE)?;
    check_text("body", &content.body, LONGEST_BODY)?;
    if let Some(source) = &content.source {
        check_text("source", source, LONGEST_SOURCE)?;
    }
    check_times(content.starts_at, content.expires_at)?;
    let audience = audience(new.audience)?;
    let id = NoticeId::from_random(ecf_runtime::random());
    let notice = app.table.draft_notice(id, content, audience, app.clock.now()).await?;
    Ok(json!({ "notice": view(app, &notice) }))
}

pub(crate) async fn show(app: &App, id: &NoticeId) -> Result<Value, OperatorError> {
    let notice = app.table.notice(id).await?.ok_or_else(|| unknown(id))?;
    Ok(json!({ "notice": view(app, &notice) }))
}

pub(crate) async fn publish(app: &App, id: &NoticeId) -> Result<Value, OperatorError> {
    change(app, id, NoticeChange::Publish).await
}

pub(crate) async fn update(app: &App, changed: ChangedNotice) -> Result<Value, OperatorError> {
    let kept = app
        .table
        .notice(&changed.notice)
        .await?
        .ok_or_else(|| unknown(&changed.notice))?;
    if let Some(title) = &changed.title {
        check_text("title", title, LONGEST_TITLE)?;
    }
    if let Some(body) = &changed.body {
        check_text("body", body, LONGEST_BODY)?;
    }
    if let Some(Some(source)) = &changed.source {
        check_text("source", source, LONGEST_SOURCE)?;
    }
    check_times(
        changed.starts_at.unwrap_or(kept.content.starts_at),
        changed.expires_at.unwrap_or(kept.content.expires_at),
    )?;
    let edit = NoticeEdit {
        category: changed.category,
        severity: changed.severity,
        title: changed.title,
        body: changed.body,
        source: edited(changed.source),
        environments: changed.environments,
        starts_at: edited(changed.starts_at),
        expires_at: edited(changed.expires_at),
        audience: changed.audience.map(audience).transpose()?,
    };
    change(app, &changed.notice, NoticeChange::Edit(Box::new(edit))).await
}

pub(crate) async fn resolve(app: &App, id: &NoticeId, note: Option<String>) -> Result<Value, OperatorError> {
    if let Some(note) = &note {
        check_text("note", note, LONGEST_BODY)?;
    }
    change(app, id, NoticeChange::Resolve { note }).await
}

pub(crate) async fn withdraw(app: &App, id: &NoticeId) -> Result<Value, OperatorError> {
    change(app, id, NoticeChange::Withdraw).await
}

async fn change(app: &App, id: &NoticeId, change: NoticeChange) -> Result<Value, OperatorError> {
    match app.table.change_notice(id, &change, app.clock.now()).await? {
        NoticeChanged::Done(notice) => Ok(json!({ "notice": view(app, &notice) })),
        NoticeChanged::Missing => Err(unknown(id)),
        NoticeChanged::Refused(state) => {
            let state = state.as_str();
            Err(OperatorError::refused(
                "wrong_state",
                format!("the notice is {state}, which takes no such change"),
            ))
        }
    }
}

fn edited<T>(given: Option<Option<T>>) -> FieldEdit<T> {
    match given {
        None => FieldEdit::Keep,
        Some(None) => FieldEdit::Clear,
        Some(Some(value)) => FieldEdit::Set(value),
    }
}

fn check_text(name: &str, text: &str, longest: usize) -> Result<(), OperatorError> {
    let length = text.chars().count();
    if text.trim().is_empty() || length > longest {
        return Err(OperatorError::refused(
            "bad_notice",
            format!("{name} has {length} characters; it needs 1 to {longest}, not all of them blank"),
        ));
    }
    Ok(())
}

fn check_times(starts_at: Option<Timestamp>, expires_at: Option<Timestamp>) -> Result<(), OperatorError> {
    match (starts_at, expires_at) {
        (Some(starts_at), Some(expires_at)) if expires_at <= starts_at => Err(OperatorError::refused(
            "bad_notice",
            format!("expires_at is {expires_at}; it is to be after starts_at, which is {starts_at}"),
        )),
        _ => Ok(()),
    }
}

fn audience(new: NewAudience) -> Result<Audience, OperatorError> {
    let (audience, count, most) = match new {
        NewAudience::All => return Ok(Audience::All),
        NewAudience::Environments(some) => {
            let count = some.len();
            (Audience::Environments(some), count, Environment::ALL.len())
        }
        NewAudience::Companies(some) => {
            let count = some.len();
            (Audience::Companies(some), count, Audience::MOST_COMPANIES)
        }
    };
    if (1..=most).contains(&count) {
        return Ok(audience);
    }
    Err(OperatorError::refused(
        "bad_notice",
        format!("the audience names {count}; it may name 1 to {most}, or be \"all\""),
    ))
}

fn unknown(id: &NoticeId) -> OperatorError {
    OperatorError::refused("not_found", format!("there is no notice {id}"))
}

fn view(app: &App, notice: &Notice) -> Value {
    let content = &notice.content;
    json!({
        "id": notice.id,
        "revision": notice.revision,
        "state": notice.state(app.clock.now()).as_str(),
        "category": content.category,
        "severity": content.severity,
        "title": content.title,
        "body": content.body,
        "source": content.source,
        "environments": content.environments,
        "starts_at": content.starts_at,
        "expires_at": content.expires_at,
        "audience": notice.audience,
        "resolved_at": notice.resolved_at(),
        "resolution_note": notice.resolution_note(),
        "created_at": notice.created_at,
        "updated_at": notice.updated_at,
    })
}
