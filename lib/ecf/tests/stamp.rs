//! Golden stamps: the address in the QR code of each type.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use ecf::{Amounts, Draft, Encf, Environment, Node, Numbered, ReceiptType, StampHosts, stamp_url};
use proptest::prelude::*;
use serde_json::json;

fn receipt(receipt_type: ReceiptType, total: &str) -> Numbered {
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
    // What a type must not carry is taken off as its violations say.
    for _ in 0..8 {
        match Draft::read(receipt_type, &node, Amounts::Scaled) {
            Ok((draft, _)) => {
                let expiry = Some("31-12-2028".parse().unwrap());
                return draft
                    .check()
                    .unwrap()
                    .numbered(Encf::new(receipt_type, 1).unwrap(), expiry)
                    .unwrap();
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

fn stamp(environment: Environment, receipt: &Numbered, code: &str) -> String {
    stamp_url(
        &StampHosts::default(),
        environment,
        receipt,
        "10-10-2020 09:00:00".parse().unwrap(),
        code,
    )
}

#[test]
fn each_type_has_its_golden_stamp() {
    for receipt_type in ReceiptType::ALL {
        let buyer = match receipt_type {
            ReceiptType::E43 | ReceiptType::E47 => "",
            _ => "rnccomprador=130000002&",
        };
        let url = stamp(Environment::TesteCF, &receipt(receipt_type, "250000"), "dcp79q");
        assert_eq!(
            url,
            format!(
                "https://ecf.dgii.gov.do/testecf/consultatimbre?rncemisor=130000001&{buyer}encf=E{receipt_type}0000000001\
                 &fechaemision=10%2D10%2D2020&montototal=250000%2E00&fechafirma=10%2D10%2D2020%2009%3A00%3A00&codigoseguridad=dcp79q"
            )
        );
    }
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
    let signed_at = "10-10-2020 09:00:00".parse().unwrap();
    let url = stamp_url(
        &hosts,
        Environment::CerteCF,
        &receipt(ReceiptType::E31, "1"),
        signed_at,
        "dcp79q",
    );
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
