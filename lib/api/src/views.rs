//! Responses that several functions share.

use ecf_store::receipts::Position;
use serde::Serialize;
use utoipa::ToSchema;

mod certificate;
mod document;
mod explanation;
mod instant;
mod twins;

pub use certificate::{CertificateView, CompanyCertificateView};
pub use document::{
    ArtifactsView, BuyerAnswerView, BuyerDeliveryView, DocumentView, FullDocumentView, ReachedStageView, error_message,
};
pub use explanation::ExplanationView;
pub use instant::Instant;
pub use twins::as_object;
pub use twins::{SecurityCode, TaxauthArtifact, TaxauthResponse, TrackId};

use crate::Page;

/// One page of a list.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ListView<T> {
    pub items: Vec<T>,
    /// The total number of items.
    pub total: u64,
    pub limit: u32,
    pub offset: u64,
    /// Of a list of receipts: what to hand in as `cursor` for the next page. The last page has none, nor has any other list.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "1795833000500.5f75fzh0")]
    pub next_cursor: Option<String>,
}

impl<T> ListView<T> {
    /// The items of this page, out of `total`.
    pub fn new(items: Vec<T>, total: u64, page: Page) -> Self {
        Self {
            items,
            total,
            limit: page.limit,
            offset: page.offset,
            next_cursor: None,
        }
    }

    /// Adds the cursor of the next page, if there is one.
    #[must_use]
    pub fn before(self, next: Option<Position>) -> Self {
        Self {
            next_cursor: next.map(|next| next.to_string()),
            ..self
        }
    }
}
