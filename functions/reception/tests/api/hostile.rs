//! Hostile callers: the right error, and nothing stored.

use std::time::Instant;

use axum::body::Body;
use ecf::Environment;
use ecf_store::{
    ApiKeyId,
    api_keys::{ApiKeyCreated, KeyScope, NewApiKey},
};
use ecf_testkit::{FOREIGN_RNC, foreign_receipt, send, sign_certified, unsigned_receipt};
use http::header::ALLOW;
use http::{Method, Request};
use jiff::SignedDuration;

use crate::{Api, acknowledged, not_received, received};

const BARE: &str = "/fe/recepcion/api/ecf";

#[tokio::test]
async fn rubbish_is_answered_with_400_and_leaves_nothing() {
    let api = Api::start().await;
    let heading = "<ECF><Encabezado><IdDoc><TipoeCF>31</TipoeCF><eNCF>E310000000001</eNCF></IdDoc><Emisor>\
<RNCEmisor>101672919</RNCEmisor></Emisor></Encabezado>";
    let deep = format!("{heading}{}{}</ECF>", "<a>".repeat(100_000), "</a>".repeat(100_000));
    let bomb = format!("<!DOCTYPE a [<!ENTITY b \"{}\">]><ECF>&b;&b;</ECF>", "b".repeat(1_000));
    let long = format!("{heading}</Emisor>");
    for xml in [
        "",
        "no XML",
        "{}",
        "<",
        "<ECF>",
        "<ECF/>",
        "<RFCE/>",
        "<ECF><Encabezado/></ECF>",
        "\u{0}<ECF/>",
        &deep,
        &bomb,
        &long,
    ] {
        let approvals = "aprobacioncomercial/api/ecf";
        for path in [
            BARE.to_owned(),
            api.published("recepcion/api/ecf"),
            format!("/fe/{approvals}"),
            api.published(approvals),
        ] {
            let answer = api.post(&path, xml.as_bytes(), None).await;
            // An approval has at most 128 KB.
            let is_too_large = path.contains(approvals) && xml.len() > 128 * 1024;
            let expected = if is_too_large { 413 } else { 400 };
            assert_eq!(answer.status, expected, "{path}: {}", &xml[..xml.len().min(80)]);
            assert!(answer.json()["detail"]["code"].is_string());
        }
    }
    let latin = [b"<ECF>\xf1</ECF>".as_slice(), b"\xff\xfe<\x00E\x00"];
    for bytes in latin {
        assert_eq!(api.receive(bytes).await.status, 400);
    }
    let large = vec![b'<'; 5 * 1024 * 1024];
    assert_eq!(api.receive(&large).await.status, 413);
    assert_eq!((api.inbox().await.len(), api.news()), (0, 0));
}

#[tokio::test]
async fn companies_that_do_not_exist_and_paths_of_nobody_are_404() {
    let api = Api::start().await;
    let xml = foreign_receipt("131880681", "E310000000001", api.clock().now());
    for path in [
        "/131880681/testecf/fe/recepcion/api/ecf",
        "/131880681/fe/recepcion/api/ecf",
        "/130000001/prod/fe/recepcion/api/ecf",
        "/130000001/../fe/recepcion/api/ecf",
        "/130000001%2F..%2Ffe/recepcion/api/ecf",
        "/fe/recepcion/api/ecf/../../../api/v1/ecf",
        "/wp-login.php",
        "/api/v2/ecf",
    ] {
        assert_eq!(api.post(path, &xml, None).await.status, 404, "{path}");
    }
    // A company that is not verified does not own an RNC.
    let builder = api.stack.company_builder().rnc("131880681").without_ranges();
    builder.build().await;
    assert_eq!(
        api.post("/131880681/testecf/fe/recepcion/api/ecf", &xml, None)
            .await
            .status,
        404
    );
}

#[tokio::test]
async fn other_methods_are_told_which_one_is_taken() {
    let api = Api::start().await;
    for (method, path, allowed) in [
        (Method::GET, BARE, "POST"),
        (Method::DELETE, BARE, "POST"),
        (Method::POST, "/fe/autenticacion/api/semilla", "GET, HEAD"),
    ] {
        let request = Request::builder().method(method).uri(path).body(Body::empty()).unwrap();
        let answer = send(&api.router, request).await;
        assert_eq!(
            (answer.status.as_u16(), answer.header(ALLOW.as_str())),
            (405, Some(allowed)),
            "{path}"
        );
    }
}

#[tokio::test]
async fn many_duplicates_cost_reads_and_no_writes() {
    duplicates(10).await;
}

#[tokio::test]
#[ignore = "minutes in an unoptimised build; prints what they cost"]
async fn ten_thousand_duplicates_cost_reads_and_no_writes() {
    duplicates(10_000).await;
}

#[expect(clippy::print_stdout, reason = "what it measures is for people to read")]
async fn duplicates(count: u32) {
    let api = Api::start().await;
    let xml = foreign_receipt(api.company.rnc.as_str(), "E310000000001", api.clock().now());
    assert_eq!(acknowledged(&api.receive(&xml).await), received());
    let (before, begun) = (api.stack.calls().units(), Instant::now());
    for _ in 0..count {
        assert_eq!(acknowledged(&api.receive(&xml).await), not_received("3"));
    }
    let (after, took) = (api.stack.calls().units(), begun.elapsed());
    println!(
        "{count} duplicates: {} read units, {} write units, {took:?}",
        after.read - before.read,
        after.write - before.write
    );
    assert_eq!(after.write.to_bits(), before.write.to_bits());
    assert_eq!(api.inbox().await.len(), 1);
}

#[tokio::test]
async fn s7_one_address_has_a_limit_of_seeds_and_of_documents_by_signers_that_are_not_trusted() {
    let api = Api::with(&[("ReceptionPerMinute", "3")]).await;
    api.stack.trust_authority().await;
    let seed = api.published("autenticacion/api/semilla");
    let rnc = api.company.rnc.as_str();
    let now = || api.clock().now();
    for encf in ["E310000000001", "E310000000002", "E310000000003"] {
        assert_eq!(api.get(&seed).await.status, 200);
        assert_eq!(
            acknowledged(&api.receive(&foreign_receipt(rnc, encf, now())).await),
            received()
        );
    }
    let fourth = foreign_receipt(rnc, "E310000000004", now());
    for refused in [api.get(&seed).await, api.receive(&fourth).await] {
        assert_eq!(refused.status, 429);
        assert!(refused.headers.contains_key("retry-after"));
    }
    // A trusted signer has no limit, and the limit ends with the minute.
    let trusted = unsigned_receipt(rnc, "E310000000005", now());
    let trusted = sign_certified(&format!("RNC{FOREIGN_RNC}"), &trusted);
    assert_eq!(acknowledged(&api.receive(&trusted).await), received());
    api.clock().advance(SignedDuration::from_mins(1));
    assert_eq!(acknowledged(&api.receive(&fourth).await), received());
    assert_eq!(api.get(&seed).await.status, 200);
}

#[tokio::test]
async fn s8_what_is_stored_is_bounded_by_what_was_signed() {
    let api = Api::start().await;
    let good = String::from_utf8(foreign_receipt(
        api.company.rnc.as_str(),
        "E310000000001",
        api.clock().now(),
    ))
    .unwrap();
    let with_comment = |bytes: usize| good.replacen("<ECF>", &format!("<!--{}--><ECF>", "x".repeat(bytes)), 1);
    let large = with_comment(3_900_000);
    assert_eq!(acknowledged(&api.receive(large.as_bytes()).await), not_received("1"));
    let small = with_comment(10_000);
    assert_eq!(acknowledged(&api.receive(small.as_bytes()).await), received());
    // Seeds and approvals are small.
    for service in ["autenticacion/api/validacioncertificado", "aprobacioncomercial/api/ecf"] {
        let answer = api.post(&api.published(service), &vec![b'<'; 200_000], None).await;
        assert_eq!(answer.status, 413, "{service}");
    }
}

#[tokio::test]
async fn s1_a_company_without_a_key_for_production_receives_nothing_there() {
    let api = Api::start().await;
    let xml = foreign_receipt(api.company.rnc.as_str(), "E310000000001", api.clock().now());
    let address = format!("/{}/ecf/fe/recepcion/api/ecf", api.company.rnc);
    assert_eq!(api.post(&address, &xml, None).await.status, 404);
    let key = NewApiKey {
        id: ApiKeyId::from_random([7; 20]),
        company: api.company.scope.company,
        environment: Environment::Ecf,
        rnc: api.company.rnc.clone(),
        hash: [7; 32],
        prefix: "ecf_live_0000".to_owned(),
        name: None,
        created_at: api.clock().now(),
        expires_at: None,
        scope: KeyScope::Full,
        created_by: None,
    };
    let created = api.stack.table().create_api_key(key).await.unwrap();
    assert_eq!(created, ApiKeyCreated::New);
    assert_eq!(acknowledged(&api.post(&address, &xml, None).await), received());
}
