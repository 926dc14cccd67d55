//! Exports an audit archive of any size to the bucket.

use ecf::Environment;
use ecf_api::{first_instant, last_instant};
use ecf_evidence::audit::{ArchiveRequest, AuditError, Stored};
use ecf_store::{CompanyId, Exports, Scope, receipts::Span};
use jiff::Timestamp;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use crate::{App, OperatorError};

/// The evidence to export.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExportEvidence {
    company: CompanyId,
    environment: Environment,
    /// The first and the last instant of creation or receipt, both included; everything by default. A date alone means
    /// its first or its last instant in Santo Domingo.
    #[serde(default, deserialize_with = "first")]
    date_from: Option<Timestamp>,
    #[serde(default, deserialize_with = "last")]
    date_to: Option<Timestamp>,
}

fn first<'de, D: Deserializer<'de>>(given: D) -> Result<Option<Timestamp>, D::Error> {
    instant(given, first_instant)
}

fn last<'de, D: Deserializer<'de>>(given: D) -> Result<Option<Timestamp>, D::Error> {
    instant(given, last_instant)
}

fn instant<'de, D: Deserializer<'de>>(
    given: D,
    read: fn(&str) -> Option<Timestamp>,
) -> Result<Option<Timestamp>, D::Error> {
    let Some(text) = Option::<String>::deserialize(given)? else {
        return Ok(None);
    };
    let expected =
        || format!("{text:?} is neither a date such as 2026-11-28 nor an instant such as 2026-11-28T10:00:00-04:00");
    read(&text).map(Some).ok_or_else(|| D::Error::custom(expected()))
}

/// Builds the archive, unless one with the same content exists, and returns its location.
pub(crate) async fn export(app: &App, command: ExportEvidence) -> Result<Value, OperatorError> {
    let scope = Scope {
        company: command.company,
        environment: command.environment,
    };
    let span = Span {
        from: command.date_from,
        to: command.date_to,
    };
    if let (Some(from), Some(to)) = (span.from, span.to)
        && from > to
    {
        let message = format!("date_from is {from}, date_to is {to}; it may not be before date_from");
        return Err(OperatorError::refused("bad_range", message));
    }
    let request = ArchiveRequest { scope, span };
    let plan = app.auditor.plan(request, app.clock.now()).await.map_err(failed)?;
    let kept = app.auditor.stored(&plan).await.map_err(failed)?;
    let was_kept = kept.is_some();
    let stored = match kept {
        Some(kept) => Stored {
            name: plan.content,
            size_bytes: kept.size_bytes,
            has_remarks: false,
        },
        None => app.auditor.clone().store(plan.clone()).await.map_err(failed)?,
    };
    Ok(json!({ "export": {
        "object": Exports::object(&scope, &stored.name),
        "size_bytes": stored.size_bytes,
        "receipts": plan.receipts,
        "received": plan.received,
        "approvals": plan.approvals,
        "was_kept": was_kept,
        "has_remarks": stored.has_remarks,
    } }))
}

fn failed(error: AuditError) -> OperatorError {
    match error {
        AuditError::Store(error) => error.into(),
        AuditError::NoCompany => OperatorError::refused("not_found", "there is no such company"),
        AuditError::Changed => OperatorError::refused(
            "try_again",
            "receipts changed while the archive was made; a span that is over does not change",
        ),
        AuditError::Certificate(error) => OperatorError::Refused {
            code: "certificate_unusable",
            message: format!("the company's certificate does not open: {error}"),
        },
        error => OperatorError::refused("export_failed", ecf_runtime::telemetry::chain(&error).to_string()),
    }
}
