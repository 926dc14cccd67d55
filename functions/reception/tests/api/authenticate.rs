//! Seeds and tokens.

use axum::body::Body;
use ecf::messages::{RespuestaAutenticacion, Semilla};
use ecf_store::{
    FieldEdit,
    companies::{CompanyChanges, SettingsChanges},
};
use ecf_testkit::{foreign_receipt, send, sign_foreign};
use http::Request;
use http::header::{ACCEPT, CONTENT_TYPE};
use jiff::SignedDuration;

use crate::{Api, acknowledged, form, received};

const SEED: &str = "autenticacion/api/semilla";
const VALIDATION: &str = "autenticacion/api/validacioncertificado";
const RECEPTION: &str = "recepcion/api/ecf";

impl Api {
    /// A seed of this address, signed.
    async fn signed_seed(&self, path: &str) -> Vec<u8> {
        let answer = self.get(path).await;
        assert_eq!(answer.status, 200);
        assert_eq!(answer.header("content-type"), Some("application/xml"));
        sign_foreign(&String::from_utf8(answer.bytes).unwrap())
    }

    async fn token(&self) -> String {
        let seed = self.signed_seed(&self.published(SEED)).await;
        let answer = self.post(&self.published(VALIDATION), &seed, None).await.expect(200);
        answer["token"].as_str().unwrap().to_owned()
    }

    async fn demand_tokens(&self) {
        let settings = SettingsChanges {
            reception_token: FieldEdit::Set(true),
            ..SettingsChanges::default()
        };
        let changes = CompanyChanges {
            settings,
            ..CompanyChanges::default()
        };
        let (table, now) = (self.stack.table(), self.clock().now());
        let changed = table.update_company(&self.company.scope.company, changes, now).await;
        assert!(changed.unwrap().is_some());
    }
}

#[tokio::test]
async fn a_signed_seed_becomes_a_token_once() {
    let api = Api::start().await;
    let seed = api.signed_seed(&api.published(SEED)).await;
    let answer = api.post(&api.published(VALIDATION), &seed, None).await;
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    let token = answer.expect(200);
    assert_eq!(
        (&token["expedido"], &token["expira"]),
        (&"2026-11-27T16:00:00Z".into(), &"2026-11-27T17:00:00Z".into())
    );
    let again = api.post(&api.published(VALIDATION), &seed, None).await.expect(401);
    assert_eq!(again["detail"]["message"], "the seed was used already");
    assert_ne!(seed, api.signed_seed(&api.published(SEED)).await);
}

#[tokio::test]
async fn the_token_comes_as_xml_to_those_who_ask_for_it() {
    let api = Api::start().await;
    let seed = api.signed_seed("/fe/Autenticacion/api/Semilla").await;
    let request = Request::post("/fe/Autenticacion/api/ValidacionCertificado")
        .header(CONTENT_TYPE, "multipart/form-data; boundary=limit")
        .header(ACCEPT, "application/xml");
    let answer = send(&api.router, request.body(Body::from(form(&seed))).unwrap()).await;
    assert_eq!(answer.status, 200);
    let token = RespuestaAutenticacion::from_xml(&answer.bytes).unwrap();
    assert_eq!(token.expira.unwrap().as_str(), "2026-11-27T17:00:00Z");
}

#[tokio::test]
async fn seeds_that_are_old_foreign_or_altered_give_no_token() {
    let api = Api::start().await;
    let validation = api.published(VALIDATION);
    let old = api.signed_seed(&api.published(SEED)).await;
    api.clock().advance(SignedDuration::from_mins(5));
    let bare = api.signed_seed("/fe/autenticacion/api/semilla").await;
    let unsigned = api.get(&api.published(SEED)).await.bytes;
    let good = String::from_utf8(api.signed_seed(&api.published(SEED)).await).unwrap();
    let altered = good.replace("<fecha>2026", "<fecha>2027").into_bytes();
    let own = sign_foreign(
        &String::from_utf8(Semilla::new("inventada".parse().unwrap(), api.clock().now()).to_xml()).unwrap(),
    );
    for seed in [old, bare, unsigned, altered, own] {
        let refused = api.post(&validation, &seed, None).await.expect(401);
        assert_eq!(
            refused["detail"]["code"],
            "not_authenticated",
            "{}",
            String::from_utf8_lossy(&seed)
        );
    }
    for rubbish in [&b""[..], b"seed", b"<ECF/>", b"<SemillaModel"] {
        assert_eq!(api.post(&validation, rubbish, None).await.status, 400);
    }
    api.post(&validation, good.as_bytes(), None).await.expect(200);
    assert_eq!(api.get("/131880681/fe/autenticacion/api/semilla").await.status, 404);
}

#[tokio::test]
async fn a_company_that_demands_tokens_gets_nothing_without_one() {
    let api = Api::start().await;
    api.demand_tokens().await;
    let token = api.token().await;
    let xml = foreign_receipt(api.company.rnc.as_str(), "E310000000001", api.clock().now());
    let path = api.published(RECEPTION);
    let forged = format!("{}x", &token[..token.len() - 1]);
    for wrong in [None, Some(forged.as_str()), Some("x")] {
        let refused = api.post(&path, &xml, wrong).await;
        assert_eq!(refused.status, 401, "{wrong:?}");
    }
    // A token of this address is not valid for the address without an RNC.
    assert_eq!(api.post("/fe/recepcion/api/ecf", &xml, Some(&token)).await.status, 401);
    assert_eq!(api.inbox().await.len(), 0);
    assert_eq!(acknowledged(&api.post(&path, &xml, Some(&token)).await), received());
    api.clock().advance(SignedDuration::from_hours(1));
    assert_eq!(api.post(&path, &xml, Some(&token)).await.status, 401);
}

#[tokio::test]
async fn s11_who_got_the_token_is_kept_with_the_document() {
    let api = Api::start().await;
    let token = api.token().await;
    let send = async |encf: &str, token: Option<&str>| {
        let xml = foreign_receipt(api.company.rnc.as_str(), encf, api.clock().now());
        let answer = api.post(&api.published(RECEPTION), &xml, token).await;
        assert_eq!(acknowledged(&answer), received());
        api.clock().advance(SignedDuration::from_secs(1));
        api.inbox().await[0].clone()
    };
    let named = send("E310000000001", Some(&token)).await;
    assert_eq!(named.caller.as_deref(), Some(&*named.signer));
    // This company requires no token, so an invalid one is ignored.
    for token in [None, Some("x")] {
        let encf = if token.is_none() {
            "E310000000002"
        } else {
            "E310000000003"
        };
        assert_eq!(send(encf, token).await.caller, None);
    }
}
