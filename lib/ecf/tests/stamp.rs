//! Golden stamps: the URL in the QR code of each type.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use ecf::{Amounts, Document, Draft, Encf, Environment, Monto, Node, ReceiptType, Stamp, StampHosts};
use proptest::prelude::*;
use serde_json::json;

/// The content of a signed receipt, read from the signed bytes.
fn receipt(receipt_type: ReceiptType, total: &str) -> Document {
    let payload = json!({
        "Encabezado": {
            "IdDoc": {"TipoIngresos": "01", "TipoPago": 1, "IndicadorNotaCredito": 0},
            "Emisor": {"RNCEmisor": "130000001", "RazonSocialEmisor": "Emisor", "DireccionEmisor": "Calle 1", "FechaEmision": "10-10-2020"},
            "Comprador": {"RNCComprador": "130000002", "RazonSocialComprador": "Cliente"},
            "Totales": {"MontoTotal": total}
        },
        "DetallesItems": {"Item": [{
            "IndicadorFacturacion": 4, "NombreItem": "x", "IndicadorBienoServicio": 2, "CantidadItem": 1,
            "PrecioUnitarioItem": 1, "MontoItem": 1,
            "Retencion": {"IndicadorAgenteRetencionoPercepcion": 1, "MontoISRRetenido": 1}
        }]},
        "InformacionReferencia": {"NCFModificado": "E310000000009", "FechaNCFModificado": "01-10-2020", "CodigoModificacion": 3}
    });
    let mut node = Node::parse(payload.to_string().as_bytes()).unwrap();
    // Fields that the type forbids are removed, as the violations say.
    for _ in 0..8 {
        match Draft::read(receipt_type, &node, Amounts::Scaled) {
            Ok((draft, _)) => {
                let expiry = Some("31-12-2028".parse().unwrap());
                let ecf = draft.check().unwrap();
                let numbered = ecf.numbered(Encf::new(receipt_type, 1).unwrap(), expiry).unwrap();
                let xml = numbered.to_xml("10-10-2020 09:00:00".parse().unwrap());
                return Document::from_xml(&xml).unwrap().document;
            }
            Err(violations) => violations
                .iter()
                .for_each(|violation| remove(&mut node, &violation.path)),
        }
    }
    panic!("type {receipt_type} was not read");
}

fn remove(node: &mut Node, path: &[String]) {
    match (node, path) {
        (Node::Object(members), [name]) => members.retain(|(key, _)| **key != **name),
        (Node::Object(members), [name, rest @ ..]) => {
            members
                .iter_mut()
                .filter(|(key, _)| **key == **name)
                .for_each(|(_, member)| remove(member, rest));
        }
        (Node::Array(elements), [index, rest @ ..]) => remove(&mut elements[index.parse::<usize>().unwrap()], rest),
        _ => {}
    }
}

fn stamp(environment: Environment, receipt: &Document, code: &str) -> String {
    Stamp::of(receipt, environment, code)
        .unwrap()
        .url(&StampHosts::default())
}

#[test]
fn each_type_has_its_golden_stamp_in_each_environment() {
    for (environment, path) in [
        (Environment::TesteCF, "testecf"),
        (Environment::CerteCF, "certecf"),
        (Environment::Ecf, "ecf"),
    ] {
        for receipt_type in ReceiptType::ALL {
            let buyer = match receipt_type {
                ReceiptType::E43 | ReceiptType::E47 => "",
                _ => "rnccomprador=130000002&",
            };
            assert_eq!(
                stamp(environment, &receipt(receipt_type, "250000"), "dcp79q"),
                format!(
                    "https://ecf.dgii.gov.do/{path}/consultatimbre?rncemisor=130000001&{buyer}encf=E{receipt_type}0000000001\
                     &fechaemision=10%2D10%2D2020&montototal=250000%2E00&fechafirma=10%2D10%2D2020%2009%3A00%3A00&codigoseguridad=dcp79q"
                )
            );
        }
    }
}

#[test]
fn an_amount_stands_in_the_stamp_as_it_was_signed() {
    let mut receipt = receipt(ReceiptType::E31, "250000");
    receipt.encabezado.totales.monto_total = Some(Monto::parse("02.1", Amounts::Verbatim).unwrap());
    let read = Document::from_xml(&receipt.to_xml()).unwrap().document;
    assert!(stamp(Environment::CerteCF, &read, "dcp79q").contains("&montototal=02%2E1&"));
}

#[test]
fn what_misses_a_value_has_no_stamp() {
    let mut receipt = receipt(ReceiptType::E31, "1");
    receipt.fecha_hora_firma = None;
    assert!(Stamp::of(&receipt, Environment::Ecf, "dcp79q").is_none());
}

#[test]
fn a_summary_has_its_own_page_with_four_parameters() {
    let url = stamp(Environment::Ecf, &receipt(ReceiptType::E32, "249999.99"), "a+/9=B");
    assert_eq!(
        url,
        "https://fc.dgii.gov.do/ecf/consultatimbrefc?rncemisor=130000001&encf=E320000000001&montototal=249999%2E99\
         &codigoseguridad=a%2B%2F9%3DB"
    );
}

#[test]
fn hosts_are_configurable() {
    let hosts = StampHosts {
        ecf: "http://127.0.0.1:9/ecf/".to_owned(),
        fc: "http://127.0.0.1:9/fc".to_owned(),
    };
    let receipt = receipt(ReceiptType::E31, "1");
    let url = Stamp::of(&receipt, Environment::CerteCF, "dcp79q").unwrap().url(&hosts);
    assert!(
        url.starts_with("http://127.0.0.1:9/ecf/certecf/consultatimbre?rncemisor="),
        "{url}"
    );
}

proptest! {
    #[test]
    fn any_security_code_is_decoded_to_itself(code in "[A-Za-z0-9+/=]{6}") {
        let url = stamp(Environment::TesteCF, &receipt(ReceiptType::E32, "1"), &code);
        let (_, encoded) = url.rsplit_once('=').unwrap();
        prop_assert!(encoded.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'%'));
        let decoded = encoded.replace("%2B", "+").replace("%2F", "/").replace("%3D", "=");
        prop_assert_eq!(decoded, code);
    }
}
