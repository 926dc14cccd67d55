//! What a simulation takes from the company's own receipts: buyer, foreign buyer and items of the newest accepted ones.
//!
//! The rows of certification runs do not count: those of workbooks are the authority's data.

use std::collections::BTreeSet;

use ecf::{Document, Environment, ReceiptState, ReceiptType};
use ecf_runtime::telemetry::chain;
use ecf_store::{
    ArtifactKind, Receipt, Scope, StoreError,
    receipts::{PageRequest, ReceiptFilter},
};
use ecf_workbook::items_sold;
use ecf_workbook::run::KEY_PREFIX;
use ecf_workbook::simulation::{Buyer, Item};
use jiff::Timestamp;

use crate::Store;

/// Upper bound of the receipts of one type that are looked at, newest first.
const MOST_SEEN: usize = 30;
/// Upper bound of the receipts whose lines are read.
const MOST_READ: usize = 20;
/// Upper bound of the items.
const MOST_ITEMS: usize = 10;

/// What the receipts say; a part that no receipt has is missing.
#[derive(Debug, Default)]
pub(crate) struct Own {
    pub(crate) buyer: Option<Buyer>,
    pub(crate) foreign_buyer: Option<String>,
    pub(crate) items: Vec<Item>,
}

impl Own {
    /// Reads it from the newest accepted receipts of the environment, and what these lack from those of TesteCF: in
    /// CerteCF most companies have rows of runs only.
    ///
    /// # Errors
    /// Fails when DynamoDB or S3 fails.
    pub(crate) async fn read(store: &Store, scope: &Scope, now: Timestamp) -> Result<Self, StoreError> {
        let mut own = Self::of(store, scope, now).await?;
        if scope.environment != Environment::TesteCF {
            let environment = Environment::TesteCF;
            let tests = Self::of(store, &Scope { environment, ..*scope }, now).await?;
            own.buyer = own.buyer.or(tests.buyer);
            own.foreign_buyer = own.foreign_buyer.or(tests.foreign_buyer);
            if own.items.is_empty() {
                own.items = tests.items;
            }
        }
        Ok(own)
    }

    async fn of(store: &Store, scope: &Scope, now: Timestamp) -> Result<Self, StoreError> {
        let newest = |ecf_type| newest(store, scope, ecf_type, now);
        let (invoices, exports, consumer) = tokio::try_join!(
            newest(ReceiptType::E31),
            newest(ReceiptType::E46),
            newest(ReceiptType::E32)
        )?;
        Ok(Self {
            buyer: invoices.iter().find_map(buyer),
            foreign_buyer: exports.iter().find_map(name),
            items: items(store, scope, invoices.iter().chain(&consumer)).await?,
        })
    }
}

/// The newest accepted receipts of a type that no run made.
async fn newest(
    store: &Store,
    scope: &Scope,
    ecf_type: ReceiptType,
    now: Timestamp,
) -> Result<Vec<Receipt>, StoreError> {
    let filter = ReceiptFilter {
        states: [ReceiptState::Accepted, ReceiptState::ConditionallyAccepted].into(),
        ecf_type: Some(ecf_type),
        ..ReceiptFilter::default()
    };
    let page = PageRequest {
        limit: MOST_SEEN,
        offset: 0,
        after: None,
    };
    let mut receipts = store.table.list_receipts(scope, &filter, &page, now).await?.receipts;
    receipts.retain(|receipt| !receipt.idempotency_key.starts_with(KEY_PREFIX));
    Ok(receipts)
}

/// The items that these receipts sold, each name once with its newest price.
async fn items(
    store: &Store,
    scope: &Scope,
    receipts: impl Iterator<Item = &Receipt>,
) -> Result<Vec<Item>, StoreError> {
    let (mut items, mut names) = (Vec::new(), BTreeSet::new());
    for receipt in receipts.take(MOST_READ) {
        if items.len() >= MOST_ITEMS {
            break;
        }
        let Some(signed) = &receipt.fiscal.signed else { continue };
        let (at, kind) = (receipt.created_at, ArtifactKind::SignedXml);
        let stored = store
            .artifacts
            .get(scope, at, &receipt.public_id, kind, &signed.signed_xml);
        let Some(xml) = stored.await? else { continue };
        let document = match Document::from_xml(&xml) {
            Ok(received) => received.document,
            Err(error) => {
                tracing::warn!(receipt.id = %receipt.public_id, error = %chain(&error), "the signed receipt is unreadable");
                continue;
            }
        };
        let sold = items_sold(&document).into_iter();
        items.extend(sold.filter(|item| names.insert(item.name.clone())));
    }
    items.truncate(MOST_ITEMS);
    Ok(items)
}

fn buyer(receipt: &Receipt) -> Option<Buyer> {
    Some(Buyer {
        rnc: receipt.fiscal.rnc_comprador.as_ref()?.parse().ok()?,
        name: name(receipt)?,
    })
}

fn name(receipt: &Receipt) -> Option<String> {
    receipt.fiscal.particulars.as_ref()?.razon_social_comprador.clone()
}
