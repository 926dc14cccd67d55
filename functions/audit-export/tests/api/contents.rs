//! The content of an archive.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ecf::ReceiptState;
use ecf::catalogue::EstadoAprobacion;
use ecf_language::Bilingual;
use ecf_store::{
    ApprovalId, ArtifactKind, ContentHash,
    approvals::{Approval, ApprovalCreated, ApprovalWay, Transmission, TransmissionState},
    receipts::{BuyerAnswer, BuyerDelivery, DeliveryState},
};
use ecf_testkit::{P12_PIN, sign_foreign, test_p12};
use ecf_webhooks::News;
use openssl::hash::MessageDigest;
use openssl::pkcs12::Pkcs12;
use openssl::sign::Verifier;
use openssl::x509::X509;
use serde_json::json;
use xmldsig::{Limits, verify};

use crate::{Api, Archive, FOREIGN_RNC, RESPONSE};

#[tokio::test]
async fn an_archive_of_nothing_is_one_too() {
    let api = Api::start().await;
    let archive = api.archive().await;
    let names = archive.names();
    let pem = names
        .iter()
        .find(|name| name.len() == "certificates/0123456789abcdef.pem".len() && name.ends_with(".pem"));
    let mut expected = [
        "README.txt",
        *pem.unwrap(),
        "certificates/certificates.txt",
        "certificates/signer.pem",
        "index.csv",
        "manifest.json",
        "manifest.json.sig",
    ];
    // The certificate's file name contains its fingerprint, which differs in every run.
    expected.sort_unstable();
    assert_eq!(names, expected);
    assert_eq!(archive.index().lines().count(), 1);
    assert_eq!(
        (&archive.manifest["receipts"], &archive.manifest["received"]),
        (&json!(0), &json!(0))
    );
}

#[tokio::test]
async fn what_the_buyer_sent_back_is_in_it_and_makes_another_archive() {
    let api = Api::start().await;
    let invoice = api.receipt("E310000000001").await;
    api.end(&invoice, ReceiptState::Accepted, false).await;
    let before = api.archive().await;
    let (table, artifacts, now) = (api.stack.table(), api.stack.artifacts(), api.stack.clock().now());
    let (scope, id) = (&api.company.scope, &invoice.public_id);
    let messages = ["<ARECF><a></a></ARECF>", "<ACECF><a></a></ACECF>"].map(sign_foreign);
    let [arecf, acecf] = messages.each_ref().map(|message| ContentHash::of(message));
    for (kind, message) in [ArtifactKind::Arecf, ArtifactKind::Acecf].into_iter().zip(&messages) {
        artifacts
            .put(scope, invoice.created_at, id, kind, message.clone())
            .await
            .unwrap();
    }
    let delivery = BuyerDelivery {
        state: DeliveryState::Received,
        words: None,
        arecf: Some(arecf),
        at: now,
        attempts: 1,
    };
    table.end_delivery(scope, id, &delivery).await.unwrap();
    let answer = BuyerAnswer {
        estado: EstadoAprobacion::Aceptado,
        reason: None,
        acecf,
        received_at: now,
        signer: "CN=COMPRADOR".into(),
        signer_trusted: true,
    };
    let news = News::ApprovalReceived {
        receipt: &invoice,
        answer: &answer,
    };
    let news = news.announcement(scope, api.company.rnc.as_str(), now);
    table.record_buyer_answer(scope, id, &answer, &news).await.unwrap();

    let archive = api.archive().await;
    let folder = format!("issued/2026-11-27/E310000000001-{}", &id.to_string()[..10]);
    for (name, message) in ["arecf", "acecf"].iter().zip(&messages) {
        let file = format!("{folder}/130000001E310000000001-{name}.xml");
        assert_eq!(archive.files[&file], *message, "{file}");
        assert!(!before.files.contains_key(&file));
    }
}

#[tokio::test]
async fn what_the_company_answered_to_a_receipt_is_in_it_and_makes_another_archive() {
    let api = Api::start().await;
    let item = api.receive("E310000000007", "Suplidora del Este SRL").await;
    let before = api.archive().await;
    let (scope, now) = (&api.company.scope, api.stack.clock().now());
    let acecf = sign_foreign("<ACECF><a></a></ACECF>");
    let id = ApprovalId::of(ApprovalWay::Submit.as_str(), scope, "answer");
    let artifacts = api.stack.artifacts();
    let kept = artifacts.put_message(scope, now, &id, ArtifactKind::Acecf, acecf.clone());
    let approval = Approval {
        id,
        way: ApprovalWay::Submit,
        idempotency_key: "answer".to_owned(),
        rnc_emisor: item.rnc_emisor.clone(),
        rnc_comprador: item.rnc_comprador.clone(),
        encf: item.encf,
        estado: EstadoAprobacion::Aceptado,
        reason: None,
        acecf: kept.await.unwrap(),
        receiver_url: None,
        receipt_unknown: false,
        created_at: now,
        issuer: Transmission::PENDING,
        authority: Transmission::PENDING,
        authority_answer: None,
        attempts: 0,
        next_action_at: Some(now),
    };
    let created = api.stack.table().create_approval(scope, &approval, true).await;
    assert_eq!(created.unwrap(), ApprovalCreated::New);

    let archive = api.archive().await;
    let short = item.id.to_string();
    let short = &short[short.len() - 10..];
    let file = format!("received/2026-11-27/{FOREIGN_RNC}E310000000007-{short}/{FOREIGN_RNC}E310000000007-acecf.xml");
    assert_eq!(archive.files[&file], acecf, "{:?}", archive.names());
    assert!(!before.files.contains_key(&file));
    // Its line in the index contains it too.
    let line = archive.line(&item.id.to_string());
    assert!(line.contains(",E310000000007,31,approved,"), "{line}");
}

#[tokio::test]
async fn b7_an_approval_without_its_receipt_is_in_it_with_what_the_authority_answered() {
    let api = Api::start().await;
    let before = api.archive().await;
    assert_eq!(before.manifest["approvals"], 0);
    let (scope, now) = (&api.company.scope, api.stack.clock().now());
    let acecf = sign_foreign("<ACECF><a></a></ACECF>");
    let id = ApprovalId::of(ApprovalWay::Submit.as_str(), scope, "answer");
    let artifacts = api.stack.artifacts();
    let kept = artifacts.put_message(scope, now, &id, ArtifactKind::Acecf, acecf.clone());
    let mut approval = Approval {
        id,
        way: ApprovalWay::Submit,
        idempotency_key: "answer".to_owned(),
        rnc_emisor: FOREIGN_RNC.parse().unwrap(),
        rnc_comprador: api.company.rnc.clone(),
        encf: "E310000000007".parse().unwrap(),
        estado: EstadoAprobacion::Rechazado,
        reason: None,
        acecf: kept.await.unwrap(),
        receiver_url: None,
        receipt_unknown: false,
        created_at: now,
        issuer: Transmission::PENDING,
        authority: Transmission::PENDING,
        authority_answer: None,
        attempts: 0,
        next_action_at: Some(now),
    };
    let table = api.stack.table();
    table.create_approval(scope, &approval, true).await.unwrap();
    let pending = api.archive().await;
    let short = &id.to_string()[..10];
    let folder = format!("approvals/2026-11-27/{FOREIGN_RNC}E310000000007-{short}");
    assert_eq!(
        pending.files[&format!("{folder}/{FOREIGN_RNC}E310000000007-acecf.xml")],
        acecf
    );
    let line = pending.line(&id.to_string());
    assert!(
        line.starts_with(&format!("approval,{id},E310000000007,31,rejected,,")),
        "{line}"
    );
    assert!(line.ends_with(&format!(",pending,,,,{folder},")), "{line}");

    // A change of the approval's state makes another archive.
    approval.issuer = Transmission::not_needed(Bilingual::same("nobody asks"), now);
    approval.authority = Transmission {
        state: TransmissionState::Taken,
        words: None,
        at: Some(now),
    };
    approval.authority_answer = Some(RESPONSE.to_owned());
    assert!(table.record_approval(scope, &approval, None).await.unwrap());
    let told = api.archive().await;
    let response = format!("{folder}/{FOREIGN_RNC}E310000000007-response.json");
    assert_eq!(told.files[&response], RESPONSE.as_bytes());
    assert!(!pending.files.contains_key(&response));
    assert_eq!(told.manifest["approvals"], 1);
    let line = told.line(&id.to_string());
    assert!(line.ends_with(&format!(",,,{folder},")), "{line}");
}

#[tokio::test]
async fn b5_the_buyers_name_of_an_issued_receipt_is_the_documents() {
    let api = Api::start().await;
    let invoice = api.receipt("E310000000001").await;
    let xml = String::from_utf8(api.signed_xml(&invoice).await).unwrap();
    let name = xml.split("<RazonSocialComprador>").nth(1).unwrap();
    let name = name.split('<').next().unwrap();
    assert!(!name.is_empty());
    let archive = api.archive().await;
    let line = archive.line(&invoice.public_id.to_string());
    let rnc = invoice.fiscal.rnc_comprador.as_deref().unwrap();
    assert!(line.contains(&format!(",{rnc},{name},")), "{line}");
}

#[tokio::test]
async fn everything_that_is_kept_of_a_receipt_is_in_it_byte_for_byte() {
    let api = Api::start().await;
    let invoice = api.receipt("E310000000001").await;
    api.end(&invoice, ReceiptState::Accepted, false).await;
    let ticket = api.receipt("E320000000001").await;
    let item = api.receive("E310000000007", "Suplidora del Este SRL").await;
    let archive = api.archive().await;

    let id = invoice.public_id.to_string();
    let folder = format!("issued/2026-11-27/E310000000001-{}", &id[..10]);
    let xml = &archive.files[&format!("{folder}/130000001E310000000001.xml")];
    assert_eq!(*xml, api.signed_xml(&invoice).await);
    verify(xml, &Limits::default()).unwrap();
    assert!(archive.files[&format!("{folder}/130000001E310000000001.pdf")].starts_with(b"%PDF-1."));
    assert_eq!(
        archive.files[&format!("{folder}/130000001E310000000001-response.json")],
        RESPONSE.as_bytes()
    );

    let id = ticket.public_id.to_string();
    let folder = format!("issued/2026-11-27/E320000000001-{}", &id[..10]);
    let rfce = &archive.files[&format!("{folder}/130000001E320000000001-rfce.xml")];
    verify(rfce, &Limits::default()).unwrap();
    assert!(
        !archive
            .files
            .contains_key(&format!("{folder}/130000001E320000000001-response.json"))
    );

    let id = item.id.to_string();
    let folder = format!("received/2026-11-27/101672919E310000000007-{}", &id[id.len() - 10..]);
    for (kind, name, hash) in [
        (ArtifactKind::ReceivedXml, "101672919E310000000007.xml", item.xml),
        (ArtifactKind::Arecf, "101672919E310000000007-arecf.xml", item.arecf),
    ] {
        let artifacts = api.stack.artifacts();
        let kept = artifacts
            .received(&api.company.scope, item.received_at, &item.id, kind, &hash)
            .await;
        assert_eq!(
            archive.files[&format!("{folder}/{name}")],
            kept.unwrap().unwrap(),
            "{name}"
        );
    }
    // Two receipts with three files each, one with two, and the files for people.
    assert_eq!(archive.files.len(), 3 + 3 + 2 + 7);
    assert_eq!(archive.manifest["receipts"], 2);
    assert_eq!(archive.index().lines().count(), 4);
    let line = archive
        .index()
        .lines()
        .find(|line| line.contains("E310000000001"))
        .unwrap();
    assert!(
        line.starts_with(&format!(
            "issued,{},E310000000001,31,accepted,27-11-2026,",
            invoice.public_id
        )),
        "{line}"
    );
    assert!(line.ends_with(','), "{line}");
}

#[tokio::test]
async fn receipts_that_had_one_number_one_after_the_other_stay_apart() {
    let api = Api::start().await;
    let first = api.receipt("E310000000001").await;
    api.end(&first, ReceiptState::Rejected, true).await;
    let second = api.stack.signed_successor(&api.company, "E310000000001", "again").await;
    let archive = api.archive().await;
    for receipt in [&first, &second] {
        let id = receipt.public_id.to_string();
        let name = format!(
            "issued/2026-11-27/E310000000001-{}/130000001E310000000001.xml",
            &id[..10]
        );
        assert_eq!(archive.files[&name], api.signed_xml(receipt).await);
    }
}

#[tokio::test]
async fn the_manifest_is_signed_with_the_companys_key() {
    let api = Api::start().await;
    api.receipt("E310000000001").await;
    let archive = api.archive().await;
    let signer = X509::from_pem(&archive.files["certificates/signer.pem"]).unwrap();
    let holds = |manifest: &[u8]| {
        let key = signer.public_key().unwrap();
        let mut verifier = Verifier::new(MessageDigest::sha256(), &key).unwrap();
        verifier
            .verify_oneshot(&archive.files["manifest.json.sig"], manifest)
            .unwrap()
    };
    let manifest = &archive.files["manifest.json"];
    assert!(holds(manifest));
    let changed = String::from_utf8_lossy(manifest).replacen("E310000000001", "E310000000002", 1);
    assert!(!holds(changed.as_bytes()));
    let sheet = String::from_utf8_lossy(&archive.files["certificates/certificates.txt"]);
    for expected in [
        "(it signs manifest.json)",
        "PRUEBA DEL SISTEMA",
        "Serial number",
        "SHA-256",
        "SHA-1",
        "Key usage",
        "Valid until",
    ] {
        assert!(sheet.contains(expected), "{expected} in {sheet}");
    }
}

#[tokio::test]
async fn nothing_of_a_p12_a_pin_or_a_private_key_is_in_it() {
    let api = Api::start().await;
    api.receipt("E320000000001").await;
    api.receive("E310000000007", "Suplidora del Este SRL").await;
    let answer = api.get("").await;
    let archive = Archive::read(&answer.bytes);
    let opened = Pkcs12::from_der(test_p12()).unwrap().parse2(P12_PIN).unwrap();
    let key = opened.pkey.unwrap().rsa().unwrap();
    let mut secrets = vec![P12_PIN.as_bytes().to_vec(), b"PRIVATE KEY".to_vec()];
    for part in [Some(key.d()), key.p(), key.q(), key.dmp1(), key.dmq1(), key.iqmp()] {
        // A part of a number's bytes, raw and as base64 at each of the three alignments.
        let bytes = part.unwrap().to_vec();
        for begin in 0..3 {
            let text = STANDARD.encode(&bytes[begin..begin + 48]);
            secrets.push(text.as_bytes()[..60].to_vec());
        }
        secrets.push(bytes[8..40].to_vec());
    }
    let p12 = test_p12();
    for begin in (0..p12.len() - 64).step_by(64) {
        let part = &p12[begin..begin + 64];
        // The certificate itself is public, and may appear unencrypted in a P12.
        let is_public = archive.files.iter().any(|(name, bytes)| {
            name == "certificates/signer.pem"
                && contains(&X509::from_pem(bytes).unwrap().to_der().unwrap(), &part[..32])
        });
        if !is_public {
            secrets.push(part[..32].to_vec());
        }
    }
    // The archive as sent, and each file unpacked.
    let places = archive
        .files
        .iter()
        .map(|(name, bytes)| (name.as_str(), bytes.as_slice()));
    for (name, bytes) in places.chain([("the archive", answer.bytes.as_slice())]) {
        for secret in &secrets {
            assert!(!contains(bytes, secret), "{name} holds a secret");
        }
    }
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

#[tokio::test]
async fn a_company_without_a_certificate_gets_a_manifest_without_a_signature() {
    let mut api = Api::start().await;
    let builder = api.stack.company_builder().rnc("131880681").without_ranges();
    api.company = builder.without_certificate().build().await;
    let archive = api.archive().await;
    assert_eq!(
        archive.names(),
        [
            "README.txt",
            "certificates/certificates.txt",
            "index.csv",
            "manifest.json"
        ]
    );
}
