//! `POST /fe/aprobacioncomercial/api/ecf`.

use ecf_store::{ArtifactKind, Receipt};
use ecf_testkit::{sign_certified, sign_foreign};
use serde_json::json;

use crate::Api;

const ENCF: &str = "E310000000001";

/// A buyer's answer to a receipt of the test kit, in the authority's own format: a total without decimals.
fn acecf(estado: &str) -> String {
    format!(
        "<ACECF><DetalleAprobacionComercial><Version>1.0</Version><RNCEmisor>130000001</RNCEmisor><eNCF>{ENCF}</eNCF>\
<FechaEmision>27-11-2026</FechaEmision><MontoTotal>11800</MontoTotal><RNCComprador>131880681</RNCComprador>\
<Estado>{estado}</Estado>{}<FechaHoraAprobacionComercial>27-11-2026 11:00:00</FechaHoraAprobacionComercial>\
</DetalleAprobacionComercial></ACECF>",
        if estado == "2" {
            "<DetalleMotivoRechazo>Falta la mitad</DetalleMotivoRechazo>"
        } else {
            ""
        }
    )
}

impl Api {
    async fn answer(&self, xml: &[u8]) -> ecf_testkit::Answer {
        self.post(&self.published("aprobacioncomercial/api/ecf"), xml, None)
            .await
    }

    /// A receipt that the authority accepted.
    async fn accepted(&self) -> Receipt {
        let receipt = self.stack.signed_receipt(&self.company, ENCF).await;
        self.stack.accept(&receipt, Vec::new()).await
    }

    async fn receipt(&self) -> Receipt {
        let encf = ENCF.parse().unwrap();
        let receipt = self.stack.table().receipt_by_encf(&self.company.scope, &encf).await;
        receipt.unwrap().unwrap()
    }
}

#[tokio::test]
async fn the_first_of_two_answers_of_unknown_signers_stays() {
    let api = Api::start().await;
    api.accepted().await;
    let rejection = sign_foreign(&acecf("2"));
    let expected = json!({ "codigo": "1", "estado": "Rechazo Comercial Recibido", "mensaje": [] });
    assert_eq!(api.answer(&rejection).await.expect(200), expected);
    let receipt = api.receipt().await;
    let answer = receipt.buyer.answer.clone().unwrap();
    assert_eq!(
        (answer.estado.code(), answer.reason.as_deref()),
        ("2", Some("Falta la mitad"))
    );
    let scope = &api.company.scope;
    let artifacts = api.stack.artifacts();
    let kept = artifacts.get(
        scope,
        receipt.created_at,
        &receipt.public_id,
        ArtifactKind::Acecf,
        &answer.acecf,
    );
    assert_eq!(kept.await.unwrap().as_deref(), Some(rejection.as_slice()));

    assert_eq!(api.answer(&rejection).await.expect(200), expected);
    let refused = api.answer(&sign_foreign(&acecf("1"))).await.expect(400);
    assert_eq!(refused["detail"]["code"], "answered_already");
    assert_eq!(api.receipt().await, receipt);
    assert_eq!(api.news(), 1);
}

#[tokio::test]
async fn s2_a_trusted_answer_replaces_a_planted_one_and_is_final() {
    let api = Api::start().await;
    api.stack.trust_authority().await;
    api.accepted().await;
    assert_eq!(api.answer(&sign_foreign(&acecf("2"))).await.status, 200);
    let planted = api.receipt().await.buyer.answer.unwrap();
    assert!(!planted.signer_trusted);
    let genuine = sign_certified("RNC131880681", &acecf("1"));
    assert_eq!(api.answer(&genuine).await.status, 200);
    let answer = api.receipt().await.buyer.answer.unwrap();
    assert_eq!((answer.estado.code(), answer.signer_trusted), ("1", true));
    for later in [sign_foreign(&acecf("2")), sign_certified("RNC131880681", &acecf("2"))] {
        let refused = api.answer(&later).await.expect(400);
        assert_eq!(refused["detail"]["code"], "answered_already");
    }
    assert_eq!(api.receipt().await.buyer.answer.unwrap(), answer);
    // Both answers are announced, so that an ERP that booked the first learns of the second.
    assert_eq!(api.news(), 2);
}

#[tokio::test]
async fn s2_a_receipt_that_the_authority_has_not_accepted_is_not_answered() {
    let api = Api::start().await;
    api.stack.trust_authority().await;
    api.stack.signed_receipt(&api.company, ENCF).await;
    let trusted = api
        .answer(&sign_certified("RNC131880681", &acecf("1")))
        .await
        .expect(400);
    assert_eq!(trusted["detail"]["code"], "receipt_not_valid");
    let stranger = api.answer(&sign_foreign(&acecf("1"))).await.expect(400);
    assert_eq!(stranger["detail"]["code"], "receipt_not_found");
    assert_eq!(api.receipt().await.buyer.answer, None);
}

#[tokio::test]
async fn s7_a_stranger_hears_the_same_of_every_receipt_that_does_not_fit() {
    let api = Api::start().await;
    api.stack.trust_authority().await;
    api.accepted().await;
    let other = |from: &str, to: &str| acecf("1").replace(from, to);
    let mismatches = [
        other(ENCF, "E310000000002"),
        other("130000001", "131880681"),
        other("<FechaEmision>27", "<FechaEmision>26"),
        other(">11800<", ">11800.01<"),
        other("131880681", "101672919"),
    ];
    let mut answers = Vec::new();
    for xml in &mismatches {
        let mut refused = api.answer(&sign_foreign(xml)).await.expect(400);
        refused["detail"]["request_id"] = json!(null);
        answers.push(refused);
    }
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:#?}");
    assert_eq!(answers[0]["detail"]["code"], "receipt_not_found");
}

#[tokio::test]
async fn what_does_not_fit_a_receipt_of_ours_is_refused_and_leaves_nothing() {
    let api = Api::start().await;
    api.stack.trust_authority().await;
    api.accepted().await;
    let changed = |from: &str, to: &str| {
        let good = acecf("1");
        assert!(good.contains(from), "{from}");
        sign_certified("RNC131880681", &good.replace(from, to))
    };
    let altered = String::from_utf8(sign_foreign(&acecf("1")))
        .unwrap()
        .replace("<Estado>1", "<Estado>2");
    for (code, xml) in [
        ("no_document", b"{}".to_vec()),
        ("signature", acecf("1").into_bytes()),
        ("signature", altered.into_bytes()),
        ("signature", changed("27-11-2026 11:00:00", "27-11-2025 11:00:00")),
        ("structure", changed("<Estado>1", "<Estado>3")),
        ("structure", sign_foreign("<ARECF></ARECF>")),
        ("receipt_not_found", changed(ENCF, "E310000000002")),
        ("receipt_not_found", changed("130000001", "131880681")),
        ("differs_from_receipt", changed("<FechaEmision>27", "<FechaEmision>26")),
        ("differs_from_receipt", changed(">11800<", ">11800.01<")),
        ("differs_from_receipt", changed("131880681", "101672919")),
    ] {
        let refused = api.answer(&xml).await.expect(400);
        assert_eq!(refused["detail"]["code"], code, "{refused}");
    }
    assert_eq!((api.receipt().await.buyer.answer, api.news()), (None, 0));
    let bare = "/fe/AprobacionComercial/api/ecf";
    assert_eq!(api.post(bare, &sign_foreign(&acecf("1")), None).await.status, 200);
    assert_eq!(api.receipt().await.buyer.answer.unwrap().estado.code(), "1");
}

#[tokio::test]
async fn c11_an_approval_that_the_schema_refuses_is_answered_with_what_is_wrong() {
    let api = Api::start().await;
    api.accepted().await;
    for (from, to, words) in [
        (
            "<Estado>1</Estado>",
            "<Estado>1</Estado><Estado>1</Estado>",
            "Estado may stand once at most",
        ),
        (
            "<FechaEmision>27-11-2026</FechaEmision><MontoTotal>11800</MontoTotal>",
            "<MontoTotal>11800</MontoTotal><FechaEmision>27-11-2026</FechaEmision>",
            "FechaEmision is out of order",
        ),
        ("<Version>", "<Version id=\"1\">", "Version has the attribute id"),
    ] {
        let good = acecf("1");
        assert!(good.contains(from), "{from}");
        let refused = api.answer(&sign_foreign(&good.replacen(from, to, 1))).await.expect(400);
        assert_eq!(refused["detail"]["code"], "structure", "{refused}");
        assert!(refused.to_string().contains(words), "{refused}");
    }
    let latin = format!(
        "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>{}",
        String::from_utf8(sign_foreign(&acecf("1"))).unwrap()
    );
    let refused = api.answer(latin.as_bytes()).await.expect(400);
    assert!(refused.to_string().contains("ISO-8859-1"), "{refused}");
    // An approval with an empty reason is valid under its schema.
    let reason = acecf("1").replace("</Estado>", "</Estado><DetalleMotivoRechazo></DetalleMotivoRechazo>");
    api.answer(&sign_foreign(&reason)).await.expect(200);
}
