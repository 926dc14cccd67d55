//! `GET /api/v1/ecf/{id}/xml`, `…/rfce` and `…/pdf`.

use ecf_store::{ArtifactKind, Receipt};
use ecf_testkit::request;
use http::Method;

use crate::Api;

fn path_of(receipt: &Receipt, file: &str) -> String {
    format!("/api/v1/ecf/{}/{file}", receipt.public_id)
}

#[tokio::test]
async fn signed_files_come_as_they_were_kept() {
    let api = Api::start().await;
    let full = api.receipt("E310000000001").await;
    let summary = api.receipt("E320000000001").await;
    let signed = |receipt: &Receipt| receipt.fiscal.signed.clone().unwrap();
    for (receipt, file, kind, hash) in [
        (&full, "xml", ArtifactKind::SignedXml, signed(&full).signed_xml),
        (&summary, "xml", ArtifactKind::SignedXml, signed(&summary).signed_xml),
        (&summary, "rfce", ArtifactKind::Rfce, signed(&summary).rfce.unwrap()),
    ] {
        let (scope, id, at) = (&receipt.scope, &receipt.public_id, receipt.created_at);
        let kept = api.stack.artifacts().get(scope, at, id, kind, &hash).await;
        let answer = api.get(&path_of(receipt, file)).await;
        assert_eq!(
            (answer.status.as_u16(), answer.header("content-type")),
            (200, Some("application/xml")),
            "{file}"
        );
        assert_eq!(answer.bytes, kept.unwrap().unwrap(), "{file}");
    }
    let none = api.get(&path_of(&full, "rfce")).await.expect(404);
    assert_eq!(none["detail"]["code"], "artifact_not_applicable");
}

#[tokio::test]
async fn what_is_signed_can_be_printed_at_once() {
    let api = Api::start().await;
    let receipt = api.receipt("E310000000001").await;
    for (query, name) in [
        ("", "130000001E310000000001.pdf"),
        ("?format=letter", "130000001E310000000001.pdf"),
        ("?format=roll58&refresh=true", "130000001E310000000001-roll58.pdf"),
    ] {
        let answer = api.get(&format!("{}{query}", path_of(&receipt, "pdf"))).await;
        assert_eq!(answer.status, 200, "{query}");
        assert!(answer.bytes.starts_with(b"%PDF-1."), "{query}");
        let disposition = format!("attachment; filename=\"{name}\"");
        assert_eq!(
            answer.header("content-disposition"),
            Some(disposition.as_str()),
            "{query}"
        );
    }
    let bad = api.get(&format!("{}?format=a5", path_of(&receipt, "pdf"))).await;
    assert_eq!(bad.status, 422);
}

#[tokio::test]
async fn files_of_nobody_and_of_others_are_unknown() {
    let api = Api::start().await;
    let receipt = api.receipt("E320000000001").await;
    let stranger = api.stack.company_builder().rnc("131880681").build().await;
    for file in ["xml", "rfce", "pdf"] {
        let unknown = format!("/api/v1/ecf/{}/{file}", "0".repeat(32));
        assert_eq!(api.get(&unknown).await.expect(404)["detail"]["code"], "not_found");
        let path = path_of(&receipt, file);
        let foreign = request(&api.router, Method::GET, &path, Some(&stranger.api_key), None).await;
        assert_eq!(foreign.expect(404)["detail"]["code"], "not_found", "{file}");
    }
}
