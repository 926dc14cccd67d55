//! Finds receipts by a number or an id, in every environment of a company or of all companies.

use ecf::Encf;
use ecf_store::{
    CompanyId, Receipt, ReceiptId, Scope, StoreError,
    companies::{Company, CompanyPlace},
};
use futures::{StreamExt as _, TryStreamExt as _, stream};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::walk::{AT_ONCE, Bounds, Owner, Part, scopes};
use crate::{App, OperatorError, receipts};

/// Three reads a company.
const COMPANIES: Bounds = Bounds { usual: 200, most: 500 };

/// The receipt to find, by exactly one of its numbers and ids.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FindReceipts {
    encf: Option<Encf>,
    track_id: Option<String>,
    external_id: Option<String>,
    receipt: Option<ReceiptId>,
    /// All companies, if left out.
    company: Option<CompanyId>,
    /// Where the part begins: `next` of the last answer.
    at: Option<CompanyPlace>,
    limit: Option<usize>,
}

enum Sought {
    Encf(Encf),
    TrackId(String),
    ExternalId(String),
    Receipt(ReceiptId),
}

pub(crate) async fn find(app: &App, command: FindReceipts) -> Result<Value, OperatorError> {
    let sought = match (command.encf, command.track_id, command.external_id, command.receipt) {
        (Some(encf), None, None, None) => Sought::Encf(encf),
        (None, Some(track_id), None, None) => Sought::TrackId(track_id),
        (None, None, Some(external_id), None) => Sought::ExternalId(external_id),
        (None, None, None, Some(receipt)) => Sought::Receipt(receipt),
        _ => {
            let message = "give one of encf, track_id, external_id and receipt";
            return Err(OperatorError::refused("bad_search", message));
        }
    };
    let part = Part::of(app, command.company, command.at, command.limit, COMPANIES).await?;
    let searched = part.companies.len();
    let looks = part
        .companies
        .iter()
        .flat_map(|company| scopes(company, None).map(move |scope| (company, scope)));
    let looks: Vec<_> = looks
        .map(|(company, scope)| look(app, company, scope, &sought))
        .collect();
    let found: Vec<Option<Value>> = stream::iter(looks).buffered(AT_ONCE).try_collect().await?;
    let found: Vec<Value> = found.into_iter().flatten().collect();
    Ok(json!({ "receipts": found, "companies": searched, "next": part.next }))
}

async fn look(app: &App, company: &Company, scope: Scope, sought: &Sought) -> Result<Option<Value>, StoreError> {
    let found = match sought {
        Sought::Encf(encf) => app.table.receipt_by_encf(&scope, encf).await?,
        Sought::TrackId(track_id) => app.table.receipt_by_track_id(&scope, track_id).await?,
        Sought::ExternalId(external_id) => app.table.receipt_by_external_id(&scope, external_id).await?,
        Sought::Receipt(id) => app.table.receipt(&scope, id).await?,
    };
    Ok(found.map(|receipt| row(company, &receipt)))
}

fn row(company: &Company, receipt: &Receipt) -> Value {
    let mut view = receipts::view(receipt);
    view["environment"] = json!(receipt.scope.environment);
    view["external_id"] = json!(receipt.external_id);
    view["monto_total"] = json!(receipt.fiscal.monto_total);
    Owner::of(company).row(&view)
}
