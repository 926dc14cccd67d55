//! Fills in what lists show of receipts from before it was stored: the buyer's name and the ITBIS.
//!
//! Each command looks at a bounded part of the days; `next` in the answer is `at` of the next command. It may stop
//! anywhere and be repeated: a record that has its particulars is not changed.

use ecf::{Document, Environment};
use ecf_store::{
    ArtifactKind, CompanyId, Receipt, ReceiptId, Scope, StoreError, fiscal_day,
    receipts::{Particulars, Span},
};
use futures::{StreamExt, TryStreamExt, stream};
use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{App, OperatorError};

/// Receipts after which a command stops, unless it has a limit.
const PER_PART: usize = 500;
const MOST_PER_PART: usize = 5_000;
/// Days after which a command stops, whether they have receipts or not.
const DAYS: usize = 366;
/// Documents that are read concurrently.
const AT_ONCE: usize = 16;

/// The part to fill in.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FillInLists {
    company: CompanyId,
    environment: Environment,
    /// The first and the last day, both included; by default from the company's first day until today.
    from: Option<Date>,
    to: Option<Date>,
    /// Where the part begins: `next` of the last answer.
    at: Option<Place>,
    limit: Option<usize>,
}

/// The beginning of a part: a day, after the receipts that were already looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Place {
    day: Date,
    after: Option<String>,
}

/// What came of one receipt.
enum Filled {
    In,
    /// It had its particulars.
    Before,
    /// It has no signed document: it was never issued.
    Unsigned,
    /// Its document is gone or cannot be read.
    Unreadable(ReceiptId),
}

#[derive(Debug, Default, Serialize)]
struct Progress {
    filled_in: usize,
    had_them: usize,
    unsigned: usize,
    unreadable: Vec<ReceiptId>,
}

/// Fills in one part.
pub(crate) async fn fill_in(app: &App, command: FillInLists) -> Result<Value, OperatorError> {
    let scope = Scope {
        company: command.company,
        environment: command.environment,
    };
    let Some(company) = app.table.company(&command.company).await? else {
        let message = format!("there is no company {}", command.company);
        return Err(OperatorError::refused("not_found", message));
    };
    let to = command.to.unwrap_or_else(|| fiscal_day(app.clock.now()));
    let from = command.from.unwrap_or_else(|| fiscal_day(company.created_at).min(to));
    let limit = command.limit.unwrap_or(PER_PART);
    if from > to || !(1..=MOST_PER_PART).contains(&limit) {
        let message =
            format!("from {from} to {to}, limit {limit}: the limit may be 1 to {MOST_PER_PART}, from no later than to");
        return Err(OperatorError::refused("bad_part", message));
    }
    let mut progress = Progress::default();
    let mut next = Some(command.at.unwrap_or(Place { day: from, after: None }));
    let (mut looked_at, mut days) = (0, 0);
    while let Some(place) = next.take_if(|place| looked_at < limit && days < DAYS && place.day <= to) {
        let part = app
            .table
            .walk_receipts(&scope, &Span::default(), place.day, place.after.as_deref())
            .await?;
        looked_at += part.receipts.len();
        let filled: Vec<_> = part.receipts.iter().map(|receipt| fill_in_one(app, receipt)).collect();
        let filled: Vec<Filled> = stream::iter(filled).buffered(AT_ONCE).try_collect().await?;
        for filled in filled {
            match filled {
                Filled::In => progress.filled_in += 1,
                Filled::Before => progress.had_them += 1,
                Filled::Unsigned => progress.unsigned += 1,
                Filled::Unreadable(id) => progress.unreadable.push(id),
            }
        }
        next = match part.next {
            Some(after) => Some(Place {
                day: place.day,
                after: Some(after),
            }),
            None => {
                days += 1;
                place.day.tomorrow().ok().map(|day| Place { day, after: None })
            }
        };
    }
    let next = next.filter(|place| place.day <= to);
    let mut answer = json!(progress);
    answer["next"] = json!(next);
    Ok(answer)
}

async fn fill_in_one(app: &App, receipt: &Receipt) -> Result<Filled, StoreError> {
    if receipt.fiscal.particulars.is_some() {
        return Ok(Filled::Before);
    }
    let Some(signed) = &receipt.fiscal.signed else {
        return Ok(Filled::Unsigned);
    };
    let (scope, created_at, id) = (&receipt.scope, receipt.created_at, &receipt.public_id);
    let kind = ArtifactKind::SignedXml;
    let xml = app
        .artifacts
        .get(scope, created_at, id, kind, &signed.signed_xml)
        .await?;
    let Some(Ok(received)) = xml.map(|xml| Document::from_xml(&xml)) else {
        tracing::error!(receipt.id = %id, "the signed document of a receipt cannot be read");
        return Ok(Filled::Unreadable(*id));
    };
    let header = received.document.encabezado;
    let particulars = Particulars {
        razon_social_comprador: header.comprador.razon_social_comprador.map(|name| name.to_string()),
        total_itbis: header.totales.total_itbis.map(|amount| amount.to_string()),
    };
    let is_new = app.table.fill_in_particulars(receipt, &particulars).await?;
    Ok(if is_new { Filled::In } else { Filled::Before })
}
