//! Files above the response limit: a redirect to an address that expires.

use ecf_runtime::MOST_FILE_BYTES;
use ecf_store::{
    ArtifactKind, ContentHash, Receipt, ReceiptId,
    receipts::{Created, Mode, NewReceipt, Signed},
};

use crate::{Api, path_of};

impl Api {
    /// A receipt whose signed XML has this many bytes.
    async fn receipt_of(&self, key: &str, size_bytes: usize) -> (Receipt, Vec<u8>) {
        let template = self.stack.signed_receipt(&self.company, key).await;
        let (scope, now, artifacts) = (self.company.scope, self.stack.clock().now(), self.stack.artifacts());
        let signed = template.fiscal.signed.clone().unwrap();
        let kind = ArtifactKind::SignedXml;
        let xml = artifacts.get(&scope, now, &template.public_id, kind, &signed.signed_xml);
        let xml = String::from_utf8(xml.await.unwrap().unwrap().to_vec()).unwrap();
        let room = size_bytes - xml.len();
        let xml = xml.replacen("<Signature", &format!("{}<Signature", " ".repeat(room)), 1);
        assert_eq!(xml.len(), size_bytes);
        let key = format!("{key} large");
        let public_id = ReceiptId::of_receipt(&scope, &key);
        let signed_xml = artifacts.put(&scope, now, &public_id, kind, xml.clone().into_bytes());
        let new = NewReceipt {
            public_id,
            company_rnc: self.company.rnc.clone(),
            idempotency_key: key,
            payload_hash: [0; 32],
            ecf_type: template.fiscal.ecf_type,
            external_id: None,
            mode: Mode::Immediate,
            state: template.state,
            created_at: now,
            scheduled_for: None,
            monto_total: template.fiscal.monto_total,
            rnc_comprador: None,
            fecha_emision: template.fiscal.fecha_emision,
            signed: Some(Signed {
                encf: "E310000000999".parse().unwrap(),
                signed_xml: signed_xml.await.unwrap(),
                ..signed
            }),
            payload: None,
            note: None,
        };
        match self.stack.table().create_receipt(&scope, new).await.unwrap() {
            Created::New(receipt) => (receipt, xml.into_bytes()),
            other => panic!("{other:?}"),
        }
    }

    /// The response at the redirect's address, without an API key.
    async fn followed(&self, path: &str) -> (reqwest::header::HeaderMap, Vec<u8>) {
        let answer = self.get(path).await;
        assert_eq!(answer.status, 303, "{path}");
        assert_eq!(answer.header("cache-control"), Some("no-store"));
        let location = answer.header("location").unwrap();
        assert!(location.contains("X-Amz-Expires=300"), "{location}");
        let http = reqwest::Client::builder().timeout(std::time::Duration::from_secs(20));
        let found = http.build().unwrap().get(location).send().await.unwrap();
        assert_eq!(found.status(), 200, "{location}");
        (found.headers().clone(), found.bytes().await.unwrap().to_vec())
    }
}

#[tokio::test]
async fn r6_a_file_that_no_answer_can_carry_is_a_link_of_five_minutes() {
    let api = Api::start().await;
    let (receipt, xml) = api.receipt_of("E310000000001", MOST_FILE_BYTES + 1).await;
    let path = format!("{}/artifacts/signed-xml", path_of(&receipt));
    for path in [path, format!("/api/v1/ecf/{}/xml", receipt.public_id)] {
        let (headers, bytes) = api.followed(&path).await;
        assert_eq!(ContentHash::of(&bytes), ContentHash::of(&xml), "the signed bytes");
        assert_eq!(headers["content-type"], "application/xml");
        let name = "attachment; filename=\"130000001E310000000999.xml\"";
        assert_eq!(headers["content-disposition"], name);
    }
}

#[tokio::test]
async fn r6_a_derived_file_that_no_answer_can_carry_is_stored_once() {
    let api = Api::start().await;
    let (receipt, _) = api.receipt_of("E310000000001", MOST_FILE_BYTES + 10_000).await;
    let path = format!("{}/artifacts/generated-xml", path_of(&receipt));
    let (_, first) = api.followed(&path).await;
    assert!(first.len() > MOST_FILE_BYTES);
    assert!(
        !first.windows(10).any(|part| part == b"<Signature"),
        "without its signature"
    );
    api.stack.calls().reset();
    assert_eq!(api.followed(&path).await.1, first);
    assert_eq!(api.stack.calls().count("PutObject"), 0);
}

#[tokio::test]
async fn r6_a_print_that_no_answer_can_carry_is_a_link() {
    let api = Api::start().await;
    let receipt = api.receipt("E310000000001").await;
    let path = format!("/api/v1/ecf/{}/pdf", receipt.public_id);
    assert_eq!(api.get(&path).await.status, 200);
    let (s3, bucket) = (
        &api.stack.clients().s3,
        api.stack.provisioned().bucket_name().to_owned(),
    );
    let listed = s3.list_objects_v2().bucket(&bucket).send().await.unwrap();
    let mut print = listed.contents().iter().filter_map(|object| object.key());
    let print = print.rfind(|key| key.contains("/ri-")).unwrap().to_owned();
    // A print of some thousand lines instead of the small one.
    let large = vec![b'%'; MOST_FILE_BYTES + 1];
    let put = s3.put_object().bucket(&bucket).key(print).body(large.clone().into());
    put.send().await.unwrap();
    let (headers, bytes) = api.followed(&path).await;
    assert_eq!(bytes, large);
    assert_eq!(headers["content-type"], "application/pdf");
}

#[tokio::test]
async fn r6_the_largest_file_that_an_answer_carries_comes_with_it() {
    let api = Api::start().await;
    let (receipt, xml) = api.receipt_of("E310000000001", MOST_FILE_BYTES).await;
    let answer = api.get(&format!("/api/v1/ecf/{}/xml", receipt.public_id)).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.bytes.len(), xml.len());
}
