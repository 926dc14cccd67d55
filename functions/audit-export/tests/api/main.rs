//! `audit-export` over HTTP, on the embedded services.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod contents;
mod events;
mod hostile;
mod kept;
mod many;
mod ranges;

use std::collections::BTreeMap;
use std::io::{Cursor, Read as _};

use audit_export::App;
use axum::Router;
use ecf::ReceiptState;
use ecf_evidence::Files;
use ecf_evidence::audit::{ArchiveRequest, Auditor};
use ecf_store::{
    ArtifactKind, ContentHash, Exports, Identities, Receipt,
    inbox::InboxItem,
    receipts::{OutboxEntry, Recorded, Span, Verdict},
};
use ecf_testkit::{Answer, FOREIGN_RNC, TestCompany, TestStack, foreign_receipt, request, sign_foreign};
use http::Method;
use serde_json::Value;
use zip::ZipArchive;

pub(crate) const EXPORT: &str = "/api/v1/client/audit-export";
/// The authority's answer in these tests.
pub(crate) const RESPONSE: &str = r#"{"codigo":1,"estado":"Aceptado","secuenciaUtilizada":true,"mensajes":[]}"#;

/// The function with one company.
pub(crate) struct Api {
    pub(crate) stack: TestStack,
    pub(crate) router: Router,
    pub(crate) company: TestCompany,
}

impl Api {
    pub(crate) async fn start() -> Self {
        let stack = TestStack::start().await;
        let company = stack.company_builder().without_ranges().build().await;
        let app = App::from_env(
            &stack.env("audit-export"),
            &stack.clients_of("audit-export"),
            stack.clock().clone(),
        )
        .unwrap();
        let router = audit_export::router(app);
        Self { stack, router, company }
    }

    pub(crate) async fn get(&self, query: &str) -> Answer {
        let key = Some(self.company.api_key.as_str());
        request(&self.router, Method::GET, &format!("{EXPORT}{query}"), key, None).await
    }

    /// The archive of all receipts.
    pub(crate) async fn archive(&self) -> Archive {
        let answer = self.get("").await;
        assert_eq!(answer.status, 200, "{}", String::from_utf8_lossy(&answer.bytes));
        Archive::read(&answer.bytes)
    }

    /// The builder of archives, without the function.
    pub(crate) fn auditor(&self) -> Auditor {
        let clients = self.stack.clients();
        let bucket = self.stack.provisioned().bucket_name();
        let files = Files::new(self.stack.table(), self.stack.artifacts(), ecf::StampHosts::default());
        let exports = Exports::new(clients.s3.clone(), bucket);
        Auditor::new(self.stack.table(), files, exports, Identities::new(self.stack.vault()))
    }

    pub(crate) fn everything(&self) -> ArchiveRequest {
        ArchiveRequest {
            scope: self.company.scope,
            span: Span::default(),
        }
    }

    /// A signed receipt, counted as `issuing` counts it.
    pub(crate) async fn receipt(&self, encf: &str) -> Receipt {
        let receipt = self.stack.signed_receipt(&self.company, encf).await;
        let (table, scope) = (self.stack.table(), &self.company.scope);
        let counted = table.count_created(
            scope,
            receipt.day(),
            receipt.fiscal.ecf_type,
            &receipt.fiscal.monto_total,
            None,
        );
        counted.await.unwrap();
        receipt
    }

    pub(crate) async fn end(&self, receipt: &Receipt, state: ReceiptState, freed: bool) {
        let (table, scope, now) = (self.stack.table(), &self.company.scope, self.stack.clock().now());
        let id = &receipt.public_id;
        table.record_submitted(scope, id, "track-1", now).await.unwrap();
        let verdict = Verdict {
            state,
            track_id: None,
            error_code: None,
            error_message: None,
            secuencia_utilizada: Some(!freed),
            taxauth_response: Some(RESPONSE.to_owned()),
            outbox: vec![OutboxEntry::Exchange],
        };
        let recorded = table.record_verdict(scope, id, verdict, now).await.unwrap();
        assert!(matches!(recorded, Recorded::Now(_)));
    }

    /// A receipt as `reception` stores it.
    pub(crate) async fn receive(&self, encf: &str, razon_social: &str) -> InboxItem {
        let xml = foreign_receipt(self.company.rnc.as_str(), encf, self.stack.clock().now());
        let arecf = sign_foreign("<ARECF><a></a></ARECF>");
        let received = self
            .stack
            .received(&self.company, encf, Some(razon_social), &xml, &arecf);
        received.await
    }

    pub(crate) async fn signed_xml(&self, receipt: &Receipt) -> Vec<u8> {
        let hash = receipt.fiscal.signed.as_ref().unwrap().signed_xml;
        let (scope, id) = (&receipt.scope, &receipt.public_id);
        let artifacts = self.stack.artifacts();
        let found = artifacts
            .get(scope, receipt.created_at, id, ArtifactKind::SignedXml, &hash)
            .await;
        found.unwrap().unwrap().to_vec()
    }
}

/// A parsed archive; every hash of its manifest was verified.
pub(crate) struct Archive {
    pub(crate) files: BTreeMap<String, Vec<u8>>,
    pub(crate) manifest: Value,
}

impl Archive {
    pub(crate) fn read(bytes: &[u8]) -> Self {
        let mut zip = ZipArchive::new(Cursor::new(bytes)).unwrap();
        let mut files = BTreeMap::new();
        for place in 0..zip.len() {
            let mut file = zip.by_index(place).unwrap();
            let (name, mut bytes) = (file.name().unwrap().into_owned(), Vec::new());
            file.read_to_end(&mut bytes).unwrap();
            assert!(files.insert(name.clone(), bytes).is_none(), "{name} stands twice");
        }
        let manifest: Value = serde_json::from_slice(&files["manifest.json"]).unwrap();
        let listed = manifest["entries"].as_array().unwrap();
        for entry in listed {
            let file = &files[entry["name"].as_str().unwrap()];
            assert_eq!(entry["size"], file.len(), "{entry}");
            assert_eq!(entry["sha256"], ContentHash::of(file).to_string(), "{entry}");
        }
        // Every file except the manifest and its signature.
        let own = usize::from(files.contains_key("manifest.json.sig")) + 1;
        assert_eq!(listed.len() + own, files.len());
        Self { files, manifest }
    }

    pub(crate) fn names(&self) -> Vec<&str> {
        self.files.keys().map(String::as_str).collect()
    }

    pub(crate) fn index(&self) -> &str {
        std::str::from_utf8(&self.files["index.csv"]).unwrap()
    }

    /// The line of the receipt with this id.
    pub(crate) fn line(&self, id: &str) -> &str {
        self.index().lines().find(|line| line.contains(id)).unwrap()
    }
}
