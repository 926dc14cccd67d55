//! Receipts of other issuers as `reception` leaves them: both documents in the bucket, the item in the inbox, its news told.

use ecf::{Encf, Rnc};
use ecf_store::{ArtifactKind, ContentHash, InboxId, InboxItem, Kept};
use ecf_webhooks::News;

use crate::{FOREIGN_RNC, TestCompany, TestStack};

impl TestStack {
    /// A receipt of RD$1,000.00 that [`FOREIGN_RNC`] sent to the company, and the acknowledgement that it was given. Both are kept as they are.
    pub async fn received(
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
        let item = InboxItem {
            id: InboxId::new(now, scope, &rnc_emisor, &encf),
            rnc_emisor,
            razon_social_emisor: razon_social.map(str::to_owned),
            rnc_comprador: company.rnc.clone(),
            encf,
            ecf_type: encf.receipt_type(),
            monto_total: Some("1000.00".to_owned()),
            fecha_emision: Some("27-11-2026".to_owned()),
            signer: "CN=PRUEBA DEL SISTEMA".to_owned(),
            xml: ContentHash::of(xml),
            arecf: ContentHash::of(arecf),
            received_at: now,
            acked_at: None,
        };
        let artifacts = self.artifacts();
        for (kind, bytes) in [(ArtifactKind::ReceivedXml, xml), (ArtifactKind::Arecf, arecf)] {
            let put = artifacts.put_received(scope, now, &item.id, kind, bytes.to_vec());
            put.await.expect("the bucket takes documents");
        }
        let news = News::InboxReceived { item: &item }.announcement(scope, company.rnc.as_str(), now);
        let kept = self.table().keep_received(scope, &item, &news).await;
        assert_eq!(kept.expect("the table takes items"), Kept::New);
        item
    }
}
