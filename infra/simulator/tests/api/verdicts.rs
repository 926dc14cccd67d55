//! Rejections, conditional acceptances, and which numbers stay free.

use http::Method;
use serde_json::{Value, json};

use crate::{
    documents::{BUYER, RNC, credit_note, invoice},
    signer::{OTHER_OWNER, OWNER, sign, sign_as_other},
    support::{Authority, DELAY, outcome},
};

const ENCF: &str = "E310000000001";

/// The verdict on [`invoice`] with each `from` replaced by its `to`.
async fn verdict_on(changes: &[(&str, &str)]) -> Value {
    let authority = Authority::new();
    let token = authority.token("testecf").await;
    let mut document = invoice(ENCF);
    for (from, to) in changes {
        assert!(document.contains(from), "{from}");
        document = document.replace(from, to);
    }
    authority.verdict(&token, ENCF, &document).await
}

#[tokio::test]
async fn a_document_that_was_changed_after_signing_is_rejected_and_its_number_stays_free() {
    let authority = Authority::new();
    let token = authority.token("testecf").await;
    let tampered = sign(&invoice(ENCF)).replace("Servicio de ejemplo", "Servicio de Ejemplo");
    let track_id = authority.receive(&token, ENCF, &tampered).await;
    authority.advance(DELAY);
    let verdict = authority.result(&token, &track_id).await;
    assert_eq!(outcome(&verdict), json!([2, false, [0]]), "{verdict}");
    let verdict = authority.verdict(&token, ENCF, &invoice(ENCF)).await;
    assert_eq!(
        outcome(&verdict),
        json!([1, true, []]),
        "a freed number can be used: {verdict}"
    );
}

#[tokio::test]
async fn signatures_outside_the_profile_are_rejected() {
    let authority = Authority::new();
    let token = authority.token("testecf").await;
    let signed = sign(&invoice(ENCF));
    let signature = &signed[signed.find("<Signature").unwrap()..signed.rfind("</ECF>").unwrap()];
    for (what, document) in [
        ("no signature", invoice(ENCF)),
        (
            "two signatures",
            signed.replace("</ECF>", &format!("{signature}</ECF>")),
        ),
        (
            "SHA-1",
            signed.replace("2001/04/xmldsig-more#rsa-sha256", "2000/09/xmldsig#rsa-sha1"),
        ),
        ("another reference", signed.replace("URI=\"\"", "URI=\"#x\"")),
        (
            "a foreign certificate",
            signed.replace("<X509Certificate>MII", "<X509Certificate>AAA"),
        ),
        (
            "indented",
            sign(&invoice(ENCF).replace("<DetallesItems>", "\n  <DetallesItems>")),
        ),
    ] {
        let track_id = authority.receive(&token, ENCF, &document).await;
        authority.advance(DELAY);
        let verdict = authority.result(&token, &track_id).await;
        assert_eq!(outcome(&verdict), json!([2, false, [0]]), "{what}: {verdict}");
    }
}

#[tokio::test]
async fn a_number_is_used_once_also_while_the_first_copy_is_in_process() {
    let authority = Authority::new();
    let token = authority.token("testecf").await;
    let signed = sign(&invoice(ENCF));
    let first = authority.receive(&token, ENCF, &signed).await;
    let second = authority.receive(&token, ENCF, &signed).await;
    authority.advance(DELAY);
    assert_eq!(outcome(&authority.result(&token, &first).await), json!([1, true, []]));
    assert_eq!(
        outcome(&authority.result(&token, &second).await),
        json!([2, true, [1209]])
    );
}

#[tokio::test]
async fn environments_do_not_share_numbers() {
    let authority = Authority::new();
    let signed = sign(&invoice(ENCF));
    for environment in ["testecf", "ecf"] {
        let token = authority.token(environment).await;
        let path = crate::support::RECEPTION.replace("testecf", environment);
        let answer = authority
            .upload(&path, Some(&token), &crate::support::file_name(ENCF), &signed)
            .await
            .json();
        authority.advance(DELAY);
        let track_id = answer["trackId"].as_str().unwrap();
        let path = format!(
            "{}?trackid={track_id}",
            crate::support::RESULT.replace("testecf", environment)
        );
        assert_eq!(
            authority.get(&path, Some(&token)).await.json()["codigo"],
            1,
            "{environment}"
        );
    }
}

#[tokio::test]
async fn structure_issuer_and_sequence_faults_leave_the_number_free() {
    for (what, change) in [
        (
            "order",
            (
                "<TipoIngresos>01</TipoIngresos><TipoPago>1</TipoPago>",
                "<TipoPago>1</TipoPago><TipoIngresos>01</TipoIngresos>",
            ),
        ),
        ("missing", ("<DireccionEmisor>CALLE PRIMERA 1</DireccionEmisor>", "")),
        ("empty", ("CALLE PRIMERA 1", "")),
        ("value", ("<TipoPago>1<", "<TipoPago>9<")),
        (
            "unknown element",
            ("<TipoPago>1</TipoPago>", "<TipoPago>1</TipoPago><Nota>x</Nota>"),
        ),
        ("type", ("<TipoeCF>31<", "<TipoeCF>45<")),
        ("expiry", ("31-12-2028", "31-12-2027")),
    ] {
        let verdict = verdict_on(&[change]).await;
        assert_eq!(
            (&verdict["codigo"], &verdict["secuenciaUtilizada"]),
            (&json!(2), &json!(false)),
            "{what}: {verdict}"
        );
    }
}

#[tokio::test]
async fn numbers_beyond_the_open_range_are_not_authorised() {
    let authority = Authority::new();
    let token = authority.token("testecf").await;
    for (encf, codigo) in [("E310010000000", 1), ("E310010000001", 2)] {
        assert_eq!(
            authority.verdict(&token, encf, &invoice(encf)).await["codigo"],
            codigo,
            "{encf}"
        );
    }
    let range = json!([{
        "ambiente": "testecf", "rnc": RNC, "tipo": 31, "desde": 5, "hasta": 6, "vencimiento": "31-12-2027",
    }]);
    authority.control(Method::PUT, "sequences", range).await;
    let dated = |encf: &str| invoice(encf).replace("31-12-2028", "31-12-2027");
    for (encf, codigo) in [("E310000000004", 2), ("E310000000005", 1)] {
        assert_eq!(
            authority.verdict(&token, encf, &dated(encf)).await["codigo"],
            codigo,
            "{encf}"
        );
    }
}

#[tokio::test]
async fn an_unknown_or_inactive_issuer_and_a_signer_without_delegation_are_rejected() {
    let authority = Authority::new();
    let token = authority.token("testecf").await;
    for (path, body) in [
        ("registry/101672919".to_owned(), json!({})),
        (format!("registry/{RNC}"), json!({ "activo": false })),
        (format!("registry/{RNC}"), json!({ "emisor_electronico": false })),
    ] {
        authority.control(Method::PUT, &path, body).await;
        let verdict = authority.verdict(&token, ENCF, &invoice(ENCF)).await;
        assert_eq!(outcome(&verdict), json!([2, false, [0]]), "{verdict}");
    }
    authority
        .control(
            Method::PUT,
            &format!("registry/{RNC}"),
            json!({ "nombre": "EMISORA FICTICIA SRL" }),
        )
        .await;
    authority
        .control(
            Method::PUT,
            &format!("certificates/{OTHER_OWNER}"),
            json!({ "rncs": [BUYER] }),
        )
        .await;
    let track_id = authority.receive(&token, ENCF, &sign_as_other(&invoice(ENCF))).await;
    authority.advance(DELAY);
    assert_eq!(
        outcome(&authority.result(&token, &track_id).await),
        json!([2, false, [0]])
    );
    authority
        .control(Method::PUT, &format!("certificates/{OWNER}"), json!({ "rncs": [RNC] }))
        .await;
    assert_eq!(
        outcome(&authority.verdict(&token, ENCF, &invoice(ENCF)).await),
        json!([1, true, []])
    );
}

#[tokio::test]
async fn sums_that_do_not_agree_are_conditional_beyond_the_tolerance() {
    let changed = |total: &'static str| [("<MontoTotal>1180.00<", total)];
    let verdict = verdict_on(&changed("<MontoTotal>1181.00<")).await;
    assert_eq!(outcome(&verdict), json!([1, true, []]), "one line, one peso: {verdict}");
    let verdict = verdict_on(&changed("<MontoTotal>1181.01<")).await;
    assert_eq!(outcome(&verdict), json!([4, true, [0]]), "{verdict}");
    assert_eq!(verdict["estado"], "Aceptado Condicional");
    let verdict = verdict_on(&[("<MontoItem>1000.00<", "<MontoItem>1001.01<")]).await;
    assert_eq!(verdict["codigo"], 4, "{verdict}");
}

#[tokio::test]
async fn what_the_tolerance_does_not_excuse_is_rejected_for_good() {
    let discount = |parts: &str, amount: &str| {
        format!("<DescuentoMonto>{amount}</DescuentoMonto><TablaSubDescuento>{parts}</TablaSubDescuento>")
    };
    let part = "<SubDescuento><TipoSubDescuento>$</TipoSubDescuento><MontoSubDescuento>100.00</MontoSubDescuento></SubDescuento>";
    let price = "<PrecioUnitarioItem>1000.0000</PrecioUnitarioItem>";
    let dearer = "<PrecioUnitarioItem>1100.0000</PrecioUnitarioItem>";
    let good = format!("{dearer}{}", discount(part, "100.00"));
    assert_eq!(outcome(&verdict_on(&[(price, &good)]).await), json!([1, true, []]));
    let surcharge = "<RecargoMonto>5.00</RecargoMonto>";
    let tax = "<TablaImpuestoAdicional><ImpuestoAdicional><TipoImpuesto>002</TipoImpuesto></ImpuestoAdicional></TablaImpuestoAdicional>";
    for (what, change, codigo) in [
        (
            "parts do not add up",
            (price, format!("{dearer}{}", discount(part, "100.01"))),
            2020,
        ),
        (
            "an amount without its table",
            (price, format!("{dearer}<DescuentoMonto>100.00</DescuentoMonto>")),
            2020,
        ),
        (
            "a surcharge without its table",
            (price, format!("{price}{surcharge}")),
            2030,
        ),
        ("a tax that the totals lack", (price, format!("{price}{tax}")), 0),
        (
            "signed in the future",
            ("15-01-2027 07:59:00", "15-01-2027 08:00:05".to_owned()),
            0,
        ),
        ("credit without a date", ("<TipoPago>1<", "<TipoPago>2<".to_owned()), 0),
        (
            "a missing group",
            (
                "<MontoGravadoI1>1000.00</MontoGravadoI1><ITBIS1>18</ITBIS1>",
                String::new(),
            ),
            0,
        ),
    ] {
        let verdict = verdict_on(&[(change.0, &change.1)]).await;
        assert_eq!(outcome(&verdict), json!([2, true, [codigo]]), "{what}: {verdict}");
    }
}

#[tokio::test]
async fn other_taxes_that_do_not_match_the_lines_are_rejected() {
    let tax = "<TablaImpuestoAdicional><ImpuestoAdicional><TipoImpuesto>002</TipoImpuesto></ImpuestoAdicional></TablaImpuestoAdicional>";
    let totals = |amount: &str, total: &str| {
        format!(
            "<MontoImpuestoAdicional>{amount}</MontoImpuestoAdicional><ImpuestosAdicionales><ImpuestoAdicional>\
             <TipoImpuesto>002</TipoImpuesto><TasaImpuestoAdicional>2.00</TasaImpuestoAdicional>\
             <OtrosImpuestosAdicionales>{amount}</OtrosImpuestosAdicionales></ImpuestoAdicional></ImpuestosAdicionales>\
             <MontoTotal>{total}</MontoTotal>"
        )
    };
    let line = format!("<PrecioUnitarioItem>1000.0000</PrecioUnitarioItem>{tax}");
    for (amount, total, expected) in [
        ("20.00", "1200.00", json!([1, true, []])),
        ("25.00", "1205.00", json!([2, true, [0]])),
    ] {
        let changes = [
            ("<PrecioUnitarioItem>1000.0000</PrecioUnitarioItem>", line.as_str()),
            ("<MontoTotal>1180.00</MontoTotal>", &totals(amount, total)),
        ];
        let verdict = verdict_on(&changes).await;
        assert_eq!(outcome(&verdict), expected, "{verdict}");
    }
}

#[tokio::test]
async fn a_note_waits_for_its_invoice_and_cannot_credit_more_than_it() {
    let authority = Authority::new();
    let token = authority.token("testecf").await;
    let note = |number: u32| {
        let encf = format!("E34{number:010}");
        (encf.clone(), credit_note(&encf, ENCF))
    };
    let (encf, document) = note(1);
    assert_eq!(
        outcome(&authority.verdict(&token, &encf, &document).await),
        json!([2, true, [614]])
    );

    let track_id = authority.receive(&token, ENCF, &sign(&invoice(ENCF))).await;
    let (encf, document) = note(2);
    let too_early = authority.verdict(&token, &encf, &document).await;
    assert_eq!(
        outcome(&too_early),
        json!([2, true, [614]]),
        "the invoice was still in process"
    );
    assert_eq!(authority.result(&token, &track_id).await["codigo"], 1);

    let (encf, document) = note(3);
    let days = document.replace("<FechaNCFModificado>15-01-2027", "<FechaNCFModificado>15-12-2026");
    assert_eq!(
        outcome(&authority.verdict(&token, &encf, &days).await),
        json!([2, true, [0]]),
        "31 days: indicator 1"
    );
    let (encf, document) = note(4);
    assert_eq!(
        outcome(&authority.verdict(&token, &encf, &document).await),
        json!([1, true, []])
    );
    let (encf, document) = note(5);
    assert_eq!(
        outcome(&authority.verdict(&token, &encf, &document).await),
        json!([2, true, [0]]),
        "nothing is left"
    );
}
