//! The URLs that a company registers at the tax authority: those that the service shows work, and the documents print
//! no others.

use std::path::Path;

use ecf_runtime::Clock;
use ecf_testkit::foreign_receipt;
use http::Method;
use serde_json::Value;

use crate::support::{ApiClient, System};

/// Every guide, and the README.
fn documents() -> Vec<(String, String)> {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let mut documents = Vec::new();
    for folder in ["", "docs", "docs/es"] {
        for entry in std::fs::read_dir(root.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "md") && !path.ends_with("CHANGELOG.md") {
                documents.push((path.display().to_string(), std::fs::read_to_string(&path).unwrap()));
            }
        }
    }
    documents
}

/// The company URLs in a document: those with a taxpayer's number in their path.
fn printed(document: &str) -> Vec<&str> {
    let ends = |character: char| character.is_whitespace() || "\"'`|)<>,".contains(character);
    let addresses = document.split(ends).filter(|word| word.contains("://"));
    let of_company = |address: &&str| {
        let segments = address.split('/').skip(3);
        let mut numbers = segments
            .take_while(|segment| *segment != "v1")
            .filter(|segment| is_number(segment));
        numbers.next().is_some()
    };
    addresses.filter(of_company).collect()
}

fn is_number(segment: &str) -> bool {
    segment == "{rnc}" || matches!(segment.len(), 9 | 11) && segment.bytes().all(|byte| byte.is_ascii_digit())
}

/// A printed URL on this system.
fn here(caller: &ApiClient, printed: &str, environment: &str) -> String {
    let path = printed.split('/').skip(3).map(|segment| match segment {
        "{environment}" => environment.to_owned(),
        number if is_number(number) => caller.rnc.clone(),
        other => other.to_owned(),
    });
    let path: Vec<_> = path.collect();
    format!("{}/{}", caller.base_url, path.join("/"))
}

/// The services that the guide lists: method and path.
fn services(guide: &str) -> Vec<(Method, &str)> {
    let rows = guide
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
    let calls = rows.filter_map(|(call, _)| call.split_once(' '));
    let services = calls.filter(|(_, path)| path.starts_with("/fe/"));
    services.map(|(method, path)| (method.parse().unwrap(), path)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn b3_every_address_that_is_shown_or_printed_answers() {
    let system = System::start().await;
    let caller = &system.caller;
    let status = async |method: Method, url: &str, body: Vec<u8>| {
        let answer = caller.send_bytes(method, url, None, "application/xml", body).await;
        answer.status
    };
    let shown = caller.get("/client/company").await.expect(200)["published_addresses"].clone();
    let shown = shown.as_array().unwrap();
    assert_eq!(shown.len(), 3);
    let text = |of: &Value, name: &str| of[name].as_str().unwrap().to_owned();

    let documents = documents();
    let (_, guide) = documents
        .iter()
        .find(|(path, _)| path.ends_with("docs/exchange.md"))
        .unwrap();
    let services = services(guide);
    assert_eq!(services.len(), 4, "{services:?}");
    let mut known = Vec::new();
    for addresses in shown {
        for name in ["url_recepcion", "url_aceptacion", "url_opcional"] {
            let address = text(addresses, name);
            assert!(address.starts_with(&caller.base_url), "{address}");
            for (method, path) in &services {
                // Requests without a body: only the seed is issued; every other service reports what is missing.
                let answered = status(method.clone(), &format!("{address}{path}"), Vec::new()).await;
                let expected = if *method == Method::GET { 200 } else { 400 };
                assert_eq!(answered, expected, "{method} {address}{path}");
            }
            known.push(address);
        }
    }

    let mut checked = 0;
    for (path, document) in &documents {
        for printed in printed(document) {
            for environment in ["testecf", "certecf", "ecf"] {
                let address = here(caller, printed, environment);
                let is_known = known.iter().any(|known| {
                    let rest = address.strip_prefix(known.as_str());
                    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with("/fe/"))
                });
                assert!(is_known, "{path} prints {printed}, and the company is shown {known:?}");
                checked += 1;
            }
        }
    }
    assert!(checked > 0, "docs/exchange.md shows the addresses of the demo company");

    // A URL from an earlier document still works.
    let xml = foreign_receipt(&caller.rnc, "E310000000008", Clock::system().now());
    for path in ["", "/testecf"] {
        let earlier = format!("{}/api/{}{path}/fe", caller.base_url, caller.rnc);
        assert_eq!(
            status(Method::GET, &format!("{earlier}/autenticacion/api/semilla"), Vec::new()).await,
            200
        );
        assert_eq!(
            status(Method::POST, &format!("{earlier}/recepcion/api/ecf"), xml.clone()).await,
            200
        );
    }
    let inbox = caller.get("/client/inbox").await.expect(200);
    assert_eq!(inbox["items"][0]["encf"], "E310000000008");
    system.local.shutdown().await;
}
