//! `POST /fe/recepcion/api/ecf`.

use axum::body::Body;
use ecf::messages::Arecf;
use ecf_store::{
    ArtifactKind,
    inbox::{AuthorityState, SpeaksFor},
};
use ecf_testkit::{FOREIGN_RNC, foreign_receipt, send, sign_certified, sign_foreign, unsigned_receipt};
use http::Request;
use http::header::CONTENT_TYPE;
use jiff::SignedDuration;

use crate::{Api, acknowledged, not_received, received};

const ENCF: &str = "E310000000001";

#[tokio::test]
async fn a_good_receipt_is_kept_before_it_is_acknowledged() {
    let api = Api::start().await;
    let xml = foreign_receipt(api.company.rnc.as_str(), ENCF, api.clock().now());
    let answer = api.receive(&xml).await;
    assert_eq!(acknowledged(&answer), received());
    let detail = Arecf::from_xml(&answer.bytes).unwrap().detalle_acusede_recibo;
    assert_eq!(detail.rnc_emisor.unwrap().as_str(), FOREIGN_RNC);
    assert_eq!(detail.rnc_comprador.as_ref(), Some(&api.company.rnc));
    assert_eq!(detail.encf.unwrap().to_string(), ENCF);

    let [item] = api.inbox().await.try_into().unwrap();
    assert_eq!((item.encf.to_string().as_str(), item.acked_at), (ENCF, None));
    assert_eq!(item.razon_social_emisor.as_deref(), Some("Suplidora del Este SRL"));
    assert_eq!(
        (item.monto_total.as_deref(), item.fecha_emision.as_deref()),
        (Some("1000.00"), Some("27-11-2026"))
    );
    let (artifacts, scope) = (api.stack.artifacts(), &api.company.scope);
    for (kind, hash, bytes) in [
        (ArtifactKind::ReceivedXml, &item.xml, &xml),
        (ArtifactKind::Arecf, &item.arecf, &answer.bytes),
    ] {
        let kept = artifacts.received(scope, item.received_at, &item.id, kind, hash).await;
        assert_eq!(kept.unwrap().as_deref(), Some(bytes.as_slice()), "{kind:?}");
    }
    // The announcement and the first question to the authority.
    assert_eq!(api.news(), 2);
}

#[tokio::test]
async fn each_fault_has_its_reason_and_nothing_of_it_is_kept() {
    let api = Api::start().await;
    let now = api.clock().now();
    let good = unsigned_receipt(api.company.rnc.as_str(), ENCF, now);
    let signed = |from: &str, to: &str| {
        assert!(good.contains(from), "{from}");
        sign_foreign(&good.replace(from, to))
    };
    let altered = String::from_utf8(sign_foreign(&good)).unwrap().replace("Yuca", "Oro");
    let unsigned = good.clone();
    let before = now - SignedDuration::from_hours(24 * 400);
    let faults = [
        ("1", signed("<TipoIngresos>01</TipoIngresos>", "")),
        ("1", signed("<NombreItem>Yuca</NombreItem>", "<Fruta>Yuca</Fruta>")),
        ("1", signed("<TipoeCF>31", "<TipoeCF>99")),
        ("1", signed("<TipoeCF>31", "<TipoeCF>44")),
        ("1", signed("E310000000001", "E320000000001")),
        ("2", altered.into_bytes()),
        ("2", unsigned.into_bytes()),
        // The certificate was not valid yet.
        ("2", foreign_receipt(api.company.rnc.as_str(), ENCF, before)),
        ("4", foreign_receipt("131880681", ENCF, now)),
    ];
    for (reason, xml) in faults {
        let answer = api.receive(&xml).await;
        assert_eq!(
            acknowledged(&answer),
            not_received(reason),
            "{}",
            String::from_utf8_lossy(&xml)
        );
    }
    assert_eq!((api.inbox().await.len(), api.news()), (0, 0));
    // None of them took the number.
    assert_eq!(acknowledged(&api.receive(&sign_foreign(&good)).await), received());
}

#[tokio::test]
async fn c11_what_the_schema_refuses_is_an_error_of_specification() {
    let api = Api::start().await;
    let good = unsigned_receipt(api.company.rnc.as_str(), ENCF, api.clock().now());
    let start = good.find("<Item>").unwrap();
    let item = good[start..good.find("</DetallesItems>").unwrap()].to_owned();
    let items: String = (1..=1_001)
        .map(|line| item.replace("<NumeroLinea>1<", &format!("<NumeroLinea>{line}<")))
        .collect();
    let emisor = |inside: &str| format!("<Emisor>{inside}<RNCEmisor>");
    let faults = [
        (
            "<TipoIngresos>01</TipoIngresos><TipoPago>1</TipoPago>",
            "<TipoPago>1</TipoPago><TipoIngresos>01</TipoIngresos>",
        ),
        ("<DireccionEmisor>", "<Sucursal/><DireccionEmisor>"),
        ("<DireccionEmisor>", "<Sucursal></Sucursal><DireccionEmisor>"),
        ("<Emisor><RNCEmisor>", &emisor("texto")),
        ("<Emisor><RNCEmisor>", "<Emisor id=\"1\"><RNCEmisor>"),
        ("<Emisor><RNCEmisor>", &emisor("<x:Nota xmlns:x=\"urn:x\">1</x:Nota>")),
        ("<Emisor><RNCEmisor>", "<Emisor xmlns=\"urn:x\"><RNCEmisor>"),
        ("<Emisor><RNCEmisor>", &emisor("<Nada/>")),
        ("<TipoPago>1</TipoPago>", "<TipoPago>1</TipoPago><TipoPago>1</TipoPago>"),
        (item.as_str(), items.as_str()),
    ];
    for (from, to) in faults {
        assert!(good.contains(from), "{from}");
        let xml = sign_foreign(&good.replacen(from, to, 1));
        assert_eq!(
            acknowledged(&api.receive(&xml).await),
            not_received("1"),
            "{from} {}",
            &to[..to.len().min(80)]
        );
    }
    // The signature verifies anywhere below the root, but the schema requires it at the end.
    let signed = String::from_utf8(sign_foreign(&good)).unwrap();
    let firma = &good[good.find("<FechaHoraFirma>").unwrap()..good.find("</ECF>").unwrap()];
    let moved = signed
        .replace(firma, "")
        .replace("</Signature>", &format!("</Signature>{firma}"));
    assert_eq!(acknowledged(&api.receive(moved.as_bytes()).await), not_received("1"));
    assert_eq!((api.inbox().await.len(), api.news()), (0, 0));
}

#[tokio::test]
async fn c11_what_the_schema_takes_is_received() {
    let api = Api::start().await;
    let good = unsigned_receipt(api.company.rnc.as_str(), ENCF, api.clock().now());
    let identity =
        xmldsig::Identity::from_pkcs12(ecf_testkit::test_p12(), ecf_testkit::P12_PIN, api.clock().now()).unwrap();
    let root = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<ECF xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" \
                xmlns:xsd=\"http://www.w3.org/2001/XMLSchema\" xsi:noNamespaceSchemaLocation=\"e-CF-31.xsd\">\n  <!-- c -->";
    let indented = good.replacen("<ECF>", root, 1).replace("><", ">\n <");
    let signed = xmldsig::sign_foreign(indented.as_bytes(), &identity, &xmldsig::Limits::default()).unwrap();
    assert_eq!(acknowledged(&api.receive(&signed.xml).await), received());
}

#[tokio::test]
async fn c12_another_encoding_is_an_error_of_specification_whatever_the_bytes() {
    let api = Api::start().await;
    let good = unsigned_receipt(api.company.rnc.as_str(), ENCF, api.clock().now()).replace("Yuca", "Ñame");
    let signed = String::from_utf8(sign_foreign(&good)).unwrap();
    let latin = |text: String| -> Vec<u8> { text.chars().map(|character| character as u8).collect() };
    let wide = |text: String, to: fn(u16) -> [u8; 2]| -> Vec<u8> { text.encode_utf16().flat_map(to).collect() };
    let ascii = signed
        .replace('Ñ', "N")
        .replace(|character: char| !character.is_ascii(), "x");
    for bytes in [
        latin(format!("<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>{signed}")),
        // Without a declaration the encoding is UTF-8, and these bytes are not UTF-8.
        latin(signed.clone()),
        format!("<?xml version=\"1.0\" encoding=\"us-ascii\"?>{ascii}").into_bytes(),
        format!("<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>{ascii}").into_bytes(),
        format!("<?xml version=\"1.1\"?>{signed}").into_bytes(),
        wide(format!("\u{FEFF}{signed}"), u16::to_le_bytes),
        wide(format!("\u{FEFF}{signed}"), u16::to_be_bytes),
    ] {
        let answer = api.receive(&bytes).await;
        assert_eq!(
            acknowledged(&answer),
            not_received("1"),
            "{}",
            String::from_utf8_lossy(&bytes[..60])
        );
        let detail = Arecf::from_xml(&answer.bytes).unwrap().detalle_acusede_recibo;
        assert_eq!(detail.encf.unwrap().to_string(), ENCF);
    }
    assert_eq!((api.inbox().await.len(), api.news()), (0, 0));
}

#[tokio::test]
async fn a_document_is_stored_once() {
    let api = Api::start().await;
    let now = api.clock().now();
    let xml = foreign_receipt(api.company.rnc.as_str(), ENCF, now);
    assert_eq!(acknowledged(&api.receive(&xml).await), received());
    let kept = api.inbox().await;
    api.clock().advance(SignedDuration::from_secs(60));
    assert_eq!(acknowledged(&api.receive(&xml).await), not_received("3"));
    assert_eq!((api.inbox().await, api.news()), (kept, 2));

    // Of several concurrent copies, one is received.
    let xml = foreign_receipt(api.company.rnc.as_str(), "E310000000002", now);
    let (a, b, c) = tokio::join!(api.receive(&xml), api.receive(&xml), api.receive(&xml));
    let mut states = [a, b, c].map(|answer| acknowledged(&answer).0);
    states.sort();
    assert_eq!(states, ["0", "1", "1"]);
    assert_eq!(api.inbox().await.len(), 2);
}

/// The document with another item, and therefore another signature.
fn other(api: &Api) -> String {
    unsigned_receipt(api.company.rnc.as_str(), ENCF, api.clock().now()).replace("Yuca", "Batata")
}

#[tokio::test]
async fn s1_a_planted_document_locks_no_number_and_is_marked() {
    let api = Api::start().await;
    api.stack.trust_authority().await;
    let planted = foreign_receipt(api.company.rnc.as_str(), ENCF, api.clock().now());
    assert_eq!(acknowledged(&api.receive(&planted).await), received());
    api.clock().advance(SignedDuration::from_secs(1));
    let genuine = sign_certified(&format!("RNC{FOREIGN_RNC}"), &other(&api));
    assert_eq!(acknowledged(&api.receive(&genuine).await), received());
    let marks: Vec<_> = api
        .inbox()
        .await
        .iter()
        .map(|item| (item.signer_trusted, item.speaks_for, item.authority))
        .collect();
    let pending = Some(AuthorityState::Pending);
    assert_eq!(
        marks,
        [
            (true, Some(SpeaksFor::Taxpayer), pending),
            (false, Some(SpeaksFor::Person), pending)
        ]
    );
    // The number belongs to the issuer's own document from now on.
    let later = other(&api).replace("Batata", "Auyama");
    assert_eq!(
        acknowledged(&api.receive(&sign_foreign(&later)).await),
        not_received("3")
    );
    assert_eq!(api.inbox().await.len(), 2);
}

#[tokio::test]
async fn s1_a_trusted_signer_who_is_not_the_issuer_locks_no_number() {
    let api = Api::start().await;
    api.stack.trust_authority().await;
    let good = unsigned_receipt(api.company.rnc.as_str(), ENCF, api.clock().now());
    for (serial, xml) in [("IDCDO-00100000009", &good), ("RNC131880738", &other(&api))] {
        assert_eq!(
            acknowledged(&api.receive(&sign_certified(serial, xml)).await),
            received()
        );
    }
    assert_eq!(api.inbox().await.len(), 2);
}

#[tokio::test]
async fn reception_trust_chain_refuses_signers_that_are_not_trusted() {
    let api = Api::with(&[("ReceptionTrust", "chain")]).await;
    api.stack.trust_authority().await;
    let good = unsigned_receipt(api.company.rnc.as_str(), ENCF, api.clock().now());
    assert_eq!(
        acknowledged(&api.receive(&sign_foreign(&good)).await),
        not_received("2")
    );
    let trusted = sign_certified("IDCDO-00100000009", &good);
    assert_eq!(acknowledged(&api.receive(&trusted).await), received());
}

#[tokio::test]
async fn what_the_authoritys_own_sender_writes_is_received() {
    let api = Api::start().await;
    let good = unsigned_receipt(api.company.rnc.as_str(), ENCF, api.clock().now());
    let xml = sign_foreign(
        &good
            .replace("<Version>1.0</Version>", "<Version>1</Version>")
            .replace(
                "<FechaVencimientoSecuencia>31-12-2028",
                "<FechaVencimientoSecuencia>31-12-2020",
            )
            .replace("<MontoTotal>1000.00", "<MontoTotal>1000"),
    );
    let head = "b\r\nContent-Disposition: form-data; name=xml; filename=x.xml; filename*=utf-8''x.xml\r\n\r\n";
    let body = [head.as_bytes(), b"\xEF\xBB\xBF", &xml, b"\r\nb--\r\n"].concat();
    let path = format!("/{}/TesteCF/FE/Recepci%C3%B3n/api/eCF/", api.company.rnc);
    let request = Request::post(path).header(CONTENT_TYPE, "multipart/form-data; boundary=b");
    let answer = send(&api.router, request.body(Body::from(body)).unwrap()).await;
    assert_eq!(acknowledged(&answer), received());
    assert_eq!(api.inbox().await[0].monto_total.as_deref(), Some("1000"));
}

#[tokio::test]
async fn without_an_rnc_in_the_address_the_buyer_decides() {
    let api = Api::start().await;
    let now = api.clock().now();
    let bare = "/fe/recepcion/api/ecf";
    let ours = foreign_receipt(api.company.rnc.as_str(), ENCF, now);
    assert_eq!(acknowledged(&api.post(bare, &ours, None).await), received());
    assert_eq!(api.inbox().await.len(), 1);
    let unknown = foreign_receipt("131880681", ENCF, now);
    let refused = api.post(bare, &unknown, None).await.expect(400);
    assert_eq!(refused["detail"]["code"], "unknown_buyer");
}

#[tokio::test]
async fn a_company_that_cannot_sign_asks_the_sender_to_come_again() {
    let api = Api::start().await;
    let builder = api.stack.company_builder().rnc("131880681").without_ranges();
    builder.without_certificate().verified().build().await;
    let xml = foreign_receipt("131880681", ENCF, api.clock().now());
    let answer = api.post("/131880681/testecf/fe/recepcion/api/ecf", &xml, None).await;
    assert_eq!(
        (answer.status.as_u16(), answer.header("retry-after")),
        (503, Some("600"))
    );
}

/// docs/cost.md has these figures.
#[tokio::test]
async fn a_received_receipt_stays_within_its_budget() {
    let api = Api::start().await;
    api.stack.trust_authority().await;
    let xml = unsigned_receipt(api.company.rnc.as_str(), ENCF, api.clock().now());
    for (xml, write) in [
        (sign_foreign(&xml), 13.0),
        (sign_certified(&format!("RNC{FOREIGN_RNC}"), &other(&api)), 12.0),
    ] {
        api.stack.calls().reset();
        assert_eq!(acknowledged(&api.receive(&xml).await), received());
        let units = api.stack.calls().units();
        assert!(units.write <= write && units.read <= 4.0, "{units:?}");
    }
}
