//! `POST /api/v1/client/certificates` with usable files.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use ecf_store::{CertificateFile, Identities, companies::Company};
use ecf_testkit::{P12_PIN, test_p12};
use futures::future::join_all;
use jiff::{SignedDuration, Timestamp};
use serde_json::json;
use sha2::{Digest as _, Sha256};
use test_certificates::Party;
use xmldsig::{Identity, inspect_pkcs12};

use crate::{Api, CERTIFICATES, id_of, p12_of, warnings};

#[tokio::test]
async fn a_p12_that_opens_is_stored_and_signs() {
    let api = Api::start().await;
    let texts = [("pin", P12_PIN), ("alias", "Firma de Ana"), ("delegate", "00100000001")];
    let uploaded = api.post_p12(CERTIFICATES, test_p12(), &texts).await.expect(201);
    let expected = json!({
        "public_id": uploaded["public_id"], "alias": "Firma de Ana", "environment": "TesteCF",
        "subject_cn": "PRUEBA DEL SISTEMA", "issuer": "C=DO, CN=PRUEBA DEL SISTEMA, serialNumber=IDCDO-00100000001",
        "serial_number": uploaded["serial_number"],
        "not_before": "2026-01-01T04:00:00.000Z", "not_after": "2029-01-01T04:00:00.000Z",
        "is_active": true, "uploaded_at": "2026-11-27T16:00:00.000Z", "days_until_expiry": 765,
        "signs_everywhere_from": "2026-11-27T16:05:00.000Z", "warnings": [],
    });
    assert_eq!(uploaded, expected);

    let held = api.stack.vault().certificate(&api.company.scope.company).await.unwrap();
    let held = held.unwrap();
    assert_eq!(held.file.uploaded_sha256[..], Sha256::digest(test_p12())[..]);
    let now = api.stack.clock().now();
    let signer = Identity::from_pkcs12(&held.file.p12, &held.file.pin, now).unwrap();
    assert_eq!(signer.certificate().subject_cn, "PRUEBA DEL SISTEMA");
    let profile = api.stack.table().company(&api.company.scope.company).await.unwrap();
    let shown = profile.unwrap().certificate.unwrap();
    assert_eq!(shown.id(&api.company.scope.company).to_string(), id_of(&uploaded));
    let text = api.get(CERTIFICATES).await.json().to_string() + &uploaded.to_string();
    assert!(!text.contains(P12_PIN), "the PIN is shown: {text}");
}

#[tokio::test]
async fn k7_no_instance_pays_for_the_rounds_that_an_upload_asks_for() {
    let api = Api::start().await;
    let party = Party::new("Vueltas", "RNC130000001", at("2026-01-01"), at("2029-01-01")).unwrap();
    let costly = test_certificates::file_of_rounds(&party, P12_PIN, 200_000).unwrap();
    api.upload(&costly, P12_PIN).await.expect(201);
    let held = api.stack.vault().certificate(&api.company.scope.company).await.unwrap();
    let CertificateFile { p12, pin, .. } = held.unwrap().file;
    assert_ne!(pin.as_str(), P12_PIN, "the company's own PIN is not kept");
    let found = inspect_pkcs12(&p12, &pin, api.stack.clock().now());
    let keys = found.keys.iter().filter_map(|key| key.protection.as_ref());
    let rounds: Vec<_> = keys
        .chain(&found.encryption)
        .chain(&found.mac)
        .map(|one| one.iterations)
        .collect();
    assert_eq!(rounds, [Some(2048), Some(2048)]);
    // Instances sign with it. The same file again does not displace an earlier version.
    let instance = Identities::new(api.stack.vault());
    let identity = instance
        .of(&api.company.scope.company, api.stack.clock().now())
        .await
        .unwrap();
    assert_eq!(identity.unwrap().certificate().subject_cn, "Vueltas");
    api.stack.calls().reset();
    api.upload(&costly, P12_PIN).await.expect(201);
    assert_eq!(api.stack.calls().count("PutSecretValue"), 0);
}

#[tokio::test]
async fn k7_a_file_that_an_older_version_kept_as_it_was_uploaded_still_signs_and_is_known_again() {
    let api = Api::start().await;
    let company = api.company.scope.company;
    let old = json!({ "p12_base64": BASE64_STANDARD.encode(test_p12()), "pin": P12_PIN }).to_string();
    let prefix = api.stack.environment_of("certificates")["SECRET_PREFIX"].clone();
    let client = &api.stack.clients().secretsmanager;
    let created = client
        .create_secret()
        .name(format!("{prefix}/company/{company}"))
        .secret_string(old);
    created.send().await.unwrap();
    let instance = Identities::new(api.stack.vault());
    let identity = instance.of(&company, api.stack.clock().now()).await.unwrap();
    assert_eq!(identity.unwrap().certificate().subject_cn, "PRUEBA DEL SISTEMA");
    api.stack.calls().reset();
    api.upload(test_p12(), P12_PIN).await.expect(201);
    assert_eq!(api.stack.calls().count("PutSecretValue"), 0, "it is the same file");
}

fn at(day: &str) -> Timestamp {
    format!("{day}T00:00:00Z").parse().unwrap()
}

#[tokio::test]
async fn the_same_file_again_is_the_same_record_and_pushes_nothing_out() {
    let api = Api::start().await;
    let first = api.upload(test_p12(), P12_PIN).await.expect(201);
    api.stack.clock().advance(SignedDuration::from_mins(1));
    api.stack.calls().reset();
    let mut again = api.upload(test_p12(), P12_PIN).await.expect(201);
    assert_eq!(again["signs_everywhere_from"], "2026-11-27T16:06:00.000Z");
    again["signs_everywhere_from"] = first["signs_everywhere_from"].clone();
    assert_eq!(again, first);
    assert_eq!(api.stack.calls().count("PutSecretValue"), 0);
    assert_eq!(api.listed().await, [(id_of(&first), true)]);
}

#[tokio::test]
async fn an_earlier_certificate_uploaded_again_is_the_active_one_again() {
    let api = Api::start().await;
    let first = api.upload(test_p12(), P12_PIN).await.expect(201);
    api.stack.clock().advance(SignedDuration::from_mins(1));
    let renewed = p12_of("IDCDO-00100000001", "2026-11-01", "2028-11-01");
    let second = api.upload(&renewed, P12_PIN).await.expect(201);
    assert_eq!(api.listed().await, [(id_of(&second), true), (id_of(&first), false)]);
    api.stack.clock().advance(SignedDuration::from_mins(1));
    let back = api.upload(test_p12(), P12_PIN).await.expect(201);
    assert_eq!(api.listed().await, [(id_of(&first), true), (id_of(&second), false)]);
    assert_eq!(back["uploaded_at"], "2026-11-27T16:02:00.000Z");
}

#[tokio::test]
async fn running_instances_follow_within_minutes_and_at_once_where_the_old_one_has_expired() {
    let api = Api::start().await;
    let company = api.company.scope.company;
    let instance = Identities::new(api.stack.vault());
    let used = async || {
        let identity = instance.of(&company, api.stack.clock().now()).await.unwrap();
        identity.unwrap().certificate().not_after.to_string()
    };
    let short = p12_of("IDCDO-00100000001", "2026-01-01", "2026-12-01");
    api.upload(&short, P12_PIN).await.expect(201);
    assert_eq!(used().await, "2026-12-01T00:00:00Z");
    let longer = p12_of("IDCDO-00100000001", "2026-01-01", "2026-12-02");
    api.upload(&longer, P12_PIN).await.expect(201);
    assert_eq!(used().await, "2026-12-01T00:00:00Z");
    api.stack.clock().advance(SignedDuration::from_mins(5));
    assert_eq!(used().await, "2026-12-02T00:00:00Z");

    let end = "2026-12-02T00:00:00Z".parse().unwrap();
    let to_the_end = api.stack.clock().now().duration_until(end);
    api.stack.clock().advance(to_the_end);
    used().await;
    api.upload(test_p12(), P12_PIN).await.expect(201);
    api.stack.clock().advance(SignedDuration::from_secs(1));
    assert_eq!(used().await, "2029-01-01T04:00:00Z");
}

/// An instance that reads the profile, as issuing does, does not wait for its cache to expire.
#[tokio::test]
async fn e5_an_instance_signs_with_the_certificate_that_the_profile_names() {
    let api = Api::start().await;
    let (company, table) = (api.company.scope.company, api.stack.table());
    let instance = Identities::new(api.stack.vault());
    let profile = async || table.company(&company).await.unwrap().unwrap();
    let used = async |profile: &Company| {
        let identity = instance.of_company(profile, api.stack.clock().now()).await.unwrap();
        identity.unwrap().certificate().not_after.to_string()
    };
    let short = p12_of("IDCDO-00100000001", "2026-01-01", "2026-12-01");
    api.upload(&short, P12_PIN).await.expect(201);
    let before = profile().await;
    assert_eq!(used(&before).await, "2026-12-01T00:00:00Z");
    let longer = p12_of("IDCDO-00100000001", "2026-01-01", "2026-12-02");
    api.upload(&longer, P12_PIN).await.expect(201);
    assert_eq!(used(&before).await, "2026-12-01T00:00:00Z");
    let after = profile().await;
    assert_eq!(used(&after).await, "2026-12-02T00:00:00Z");

    // The vault is read once for each change.
    api.stack.calls().reset();
    for _ in 0..3 {
        used(&after).await;
    }
    assert_eq!(api.stack.calls().count("GetSecretValue"), 0);
    // A profile older than the vault costs one read.
    for _ in 0..3 {
        assert_eq!(used(&before).await, "2026-12-02T00:00:00Z");
    }
    assert_eq!(api.stack.calls().count("GetSecretValue"), 1);
}

#[tokio::test]
async fn what_may_surprise_is_told_in_warnings() {
    let api = Api::start().await;
    let near = p12_of("IDCDO-130000001", "2026-01-01", "2026-12-20");
    let texts = [("pin", P12_PIN), ("environment", "ecf")];
    let uploaded = api.post_p12(CERTIFICATES, &near, &texts).await.expect(201);
    assert_eq!(warnings(&uploaded), ["expires_soon", "every_environment"]);
    assert_eq!(uploaded["environment"], "TesteCF");
}

#[tokio::test(flavor = "multi_thread")]
async fn r10_uploads_at_one_time_are_stored_or_conflict() {
    let api = Api::start().await;
    let files = ["2028-11-01", "2028-11-02", "2028-11-03", "2028-11-04"];
    let files = files.map(|until| p12_of("IDCDO-00100000001", "2026-11-01", until));
    for _ in 0..6 {
        let answers = join_all(files.iter().map(|file| api.upload(file, P12_PIN))).await;
        for answer in answers {
            if answer.status != 201 {
                assert_eq!(answer.expect(409)["detail"]["code"], "uploaded_meanwhile");
            }
        }
    }
    let last = api.upload(&files[0], P12_PIN).await.expect(201);
    let active: Vec<_> = api
        .listed()
        .await
        .into_iter()
        .filter(|(_, is_active)| *is_active)
        .collect();
    assert_eq!(active, [(id_of(&last), true)]);
}
