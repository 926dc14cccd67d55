//! A company's design, ready to print with.

use std::sync::Arc;

use bytes::Bytes;
use ecf_ri::{Design, Logo};
use ecf_store::{Artifacts, CompanyId, ContentHash, StoreError, Table};

/// A design, and the hash of everything that it consists of.
#[derive(Debug, Clone)]
pub(crate) struct Prepared {
    pub(crate) design: Arc<Design>,
    pub(crate) hash: ContentHash,
}

/// The company's current design. A part that can no longer be used is left out: a print without its logo is still
/// valid.
pub(crate) async fn prepare(table: &Table, artifacts: &Artifacts, company: &CompanyId) -> Result<Prepared, StoreError> {
    let stored = table.design(company).await?;
    let part = |text: &Option<String>| text.clone().unwrap_or_default();
    let logo_hash = stored.logo.map(|logo| logo.hash.to_string()).unwrap_or_default();
    let hash = ContentHash::of_parts([
        part(&stored.color).as_bytes(),
        part(&stored.footer).as_bytes(),
        logo_hash.as_bytes(),
    ]);
    let logo = match stored.logo {
        None => None,
        Some(logo) => artifacts
            .logo(company, &logo.hash)
            .await?
            .and_then(|bytes| usable(&bytes)),
    };
    let color = stored.color.and_then(|color| color.parse().ok()).unwrap_or_default();
    let design = Design {
        logo,
        color,
        footer: stored.footer,
    };
    Ok(Prepared {
        design: Arc::new(design),
        hash,
    })
}

fn usable(bytes: &Bytes) -> Option<Logo> {
    let logo = Logo::read(bytes).inspect_err(|error| {
        tracing::error!(error = %ecf_runtime::telemetry::chain(error), "a stored logo cannot be read any more");
    });
    logo.ok()
}
