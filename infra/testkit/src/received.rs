//! Receipts of other issuers in the state that `reception` leaves: both documents in the bucket, the item in the inbox,
//! its event published.

use ecf::{Encf, Rnc};
use ecf_store::{
    ArtifactKind, ContentHash, InboxId,
    inbox::{AuthorityState, InboxItem, InboxItemCreated, SpeaksFor},
};
use ecf_webhooks::News;

use crate::{FOREIGN_RNC, TestCompany, TestStack};

impl TestStack {
    /// A receipt of RD$1,000.00 from [`FOREIGN_RNC`] to the company, and its acknowledgement. Both are stored byte for
    /// byte.
    pub async fn received(
        &self,
        company: &TestCompany,
        encf: &str,
        razon_social: Option<&str>,
        xml: &[u8],
        arecf: &[u8],
    ) -> InboxItem {
        let item = self.received_item(company, encf, razon_social, xml, arecf);
        let artifacts = self.artifacts();
        for (kind, bytes) in [(ArtifactKind::ReceivedXml, xml), (ArtifactKind::Arecf, arecf)] {
            let put = artifacts.put_received(&company.scope, item.received_at, &item.id, kind, bytes.to_vec());
            put.await.expect("the bucket takes documents");
        }
        self.store_received(company, &item).await;
        item
    }

    /// The record of such a receipt, not stored.
    pub fn received_item(
        &self,
        company: &TestCompany,
        encf: &str,
        razon_social: Option<&str>,
        xml: &[u8],
        arecf: &[u8],
    ) -> InboxItem {
        let (now, scope) = (self.clock().now(), &company.scope);
        let encf: Encf = encf.parse().expect("the test gave a number");
        let rnc_emisor: Rnc = FOREIGN_RNC.parse().expect("a constant RNC");
        InboxItem {
            id: InboxId::new(now, scope, &rnc_emisor, &encf, &ContentHash::of(xml)),
            rnc_emisor,
            razon_social_emisor: razon_social.map(Into::into),
            rnc_comprador: company.rnc.clone(),
            encf,
            ecf_type: encf.receipt_type(),
            monto_total: Some("1000.00".into()),
            total_itbis: Some("180.00".into()),
            fecha_emision: Some("27-11-2026".into()),
            signer: "CN=PRUEBA DEL SISTEMA".into(),
            signer_trusted: true,
            speaks_for: Some(SpeaksFor::Taxpayer),
            caller: None,
            security_code: "aBc123".to_owned(),
            authority: Some(AuthorityState::Pending),
            authority_at: None,
            superseded_by: None,
            asked: 0,
            xml: ContentHash::of(xml),
            arecf: ContentHash::of(arecf),
            received_at: now,
            acked_at: None,
            revision: 0,
        }
    }

    /// Stores a record together with its event, as `reception` does.
    pub async fn store_received(&self, company: &TestCompany, item: &InboxItem) {
        let news = News::InboxReceived { item };
        let news = news.announcement(&company.scope, company.rnc.as_str(), item.received_at);
        let kept = self
            .table()
            .store_received(&company.scope, item, &item.xml, &news)
            .await;
        assert_eq!(kept.expect("the table takes items"), InboxItemCreated::New);
    }
}
