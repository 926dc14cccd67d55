//! Receipts of every type, as a business would issue them.

use std::sync::LazyLock;

use ecf::totals::IscRates;
use ecf::{Amounts, Draft, Encf, Environment, Node, ReceiptType};
use serde_json::{Value, json};
use xmldsig::Identity;

pub(crate) const SIGNED_AT: &str = "20-11-2026 14:05:09";

static IDENTITY: LazyLock<Identity> = LazyLock::new(|| {
    let at = |text: &str| text.parse().unwrap();
    let (from, to) = (at("2026-01-01T00:00:00Z"), at("2030-01-01T00:00:00Z"));
    let p12 = test_certificates::pkcs12("FERRETERIA DEL NORTE", "RNC-131880681", "clave", from, to).unwrap();
    Identity::from_pkcs12(&p12, "clave", from).unwrap()
});

pub(crate) fn sign(xml: &[u8]) -> Vec<u8> {
    xmldsig::sign(xml, &IDENTITY).unwrap().xml
}

/// Signs the receipt of a payload, with its totals computed.
pub(crate) fn issue(receipt_type: ReceiptType, payload: &Value) -> Vec<u8> {
    let node = Node::parse(payload.to_string().as_bytes()).unwrap();
    let (mut draft, _) =
        Draft::read(receipt_type, &node, Amounts::Scaled).unwrap_or_else(|violations| panic!("{violations:#?}"));
    draft.complete(&IscRates::of(Environment::TesteCF));
    let ecf = draft.check().unwrap_or_else(|violations| panic!("{violations:#?}"));
    let encf = Encf::new(receipt_type, 147).unwrap();
    let numbered = ecf.numbered(encf, Some("31-12-2027".parse().unwrap())).unwrap();
    sign(&numbered.to_xml(SIGNED_AT.parse().unwrap()))
}

/// A receipt of the type with every field that is printed for it.
pub(crate) fn receipt(receipt_type: ReceiptType) -> Vec<u8> {
    issue(receipt_type, &payload(receipt_type))
}

pub(crate) fn payload(receipt_type: ReceiptType) -> Value {
    let mut payload = json!({
        "Encabezado": {
            "IdDoc": {"TipoIngresos": "01", "TipoPago": 2, "FechaLimitePago": "20-12-2026", "TerminoPago": "30 dias"},
            "Emisor": emisor(),
            "Comprador": {
                "RNCComprador": "101010632", "RazonSocialComprador": "Constructora Peña & Núñez, S.R.L.",
                "DireccionComprador": "C/ El Sol No. 45, Ens. Román", "MunicipioComprador": "250100", "ProvinciaComprador": "250000",
                "NumeroOrdenCompra": "OC-2026-0815"
            }
        },
        "DetallesItems": {"Item": [
            {"IndicadorFacturacion": 1, "NombreItem": "Cemento gris Portland 42.5 kg", "IndicadorBienoServicio": 1,
             "CantidadItem": 40, "UnidadMedida": "14", "PrecioUnitarioItem": 495},
            {"IndicadorFacturacion": 1, "NombreItem": "Varilla corrugada 3/8\" × 20 pies", "IndicadorBienoServicio": 1,
             "CantidadItem": 120, "UnidadMedida": "43", "PrecioUnitarioItem": "212.75",
             "TablaSubDescuento": {"SubDescuento": [{"TipoSubDescuento": "%", "SubDescuentoPorcentaje": 5}]}},
            {"IndicadorFacturacion": 4, "NombreItem": "Agua embotellada, garrafón de 5 galones", "IndicadorBienoServicio": 1,
             "CantidadItem": 6, "UnidadMedida": "15", "PrecioUnitarioItem": "65.00"},
            {"IndicadorFacturacion": 1, "NombreItem": "Transporte a la obra", "IndicadorBienoServicio": 2,
             "DescripcionItem": "Dos viajes en camión de volteo, descarga incluida. Obra: Residencial Las Palmeras.",
             "CantidadItem": 2, "UnidadMedida": "43", "PrecioUnitarioItem": "1,850".replace(',', "")}
        ]}
    });
    adjust(receipt_type, &mut payload);
    payload
}

/// A receipt with the optional fields that are printed: global discount and surcharge, forms of payment, contact, note, and
/// the shipment of an export.
pub(crate) fn full(receipt_type: ReceiptType) -> Vec<u8> {
    let mut payload = payload(receipt_type);
    let header = &mut payload["Encabezado"];
    header["Emisor"]["InformacionAdicionalEmisor"] =
        json!("Mercancía revisada en presencia del cliente; cambios en 7 días.");
    if !matches!(receipt_type, ReceiptType::E34 | ReceiptType::E43) {
        header["IdDoc"]["TablaFormasPago"] = json!({"FormaDePago": [
            {"FormaPago": 1, "MontoPago": "10000.00"}, {"FormaPago": 2, "MontoPago": "5000.00"}
        ]});
        header["IdDoc"]["TipoCuentaPago"] = json!("CT");
        header["IdDoc"]["NumeroCuentaPago"] = json!("770-001234-5");
        header["IdDoc"]["BancoPago"] = json!("Banco del Cibao");
    }
    if !matches!(receipt_type, ReceiptType::E32 | ReceiptType::E43 | ReceiptType::E47) {
        header["Comprador"]["ContactoComprador"] = json!("Ing. Rosa Núñez, 809-555-0188");
        header["Comprador"]["CorreoComprador"] = json!("compras@penanunez.example");
    }
    if receipt_type == ReceiptType::E31 {
        header["Totales"]["MontoAvancePago"] = json!("15000.00");
    }
    if receipt_type == ReceiptType::E46 {
        header["InformacionesAdicionales"] = json!({
            "FechaEmbarque": "24-11-2026", "NumeroEmbarque": "EMB-2026-0091", "NumeroContenedor": "MSKU 407213-6",
            "NombrePuertoEmbarque": "Caucedo", "CondicionesEntrega": "FOB", "TotalFob": "54235.00", "Seguro": "640.00",
            "Flete": "3200.00", "TotalCif": "58075.00", "RegimenAduanero": "Exportación definitiva",
            "NombrePuertoDesembarque": "Miami", "PesoBruto": "2480.00", "PesoNeto": "2395.50", "UnidadPesoBruto": "21",
            "UnidadPesoNeto": "21", "CantidadBulto": "46", "UnidadBulto": "6"
        });
        header["Transporte"] = json!({
            "ViaTransporte": "02", "PaisOrigen": "República Dominicana", "PaisDestino": "Estados Unidos",
            "NombreCompaniaTransportista": "Naviera del Caribe", "NumeroViaje": "NC-417N"
        });
    }
    let group = match receipt_type {
        ReceiptType::E43 | ReceiptType::E47 => return issue(receipt_type, &payload),
        ReceiptType::E44 => 4,
        ReceiptType::E46 => 3,
        _ => 1,
    };
    payload["DescuentosORecargos"] = json!({"DescuentoORecargo": [
        {"TipoAjuste": "D", "DescripcionDescuentooRecargo": "Pronto pago", "TipoValor": "%", "ValorDescuentooRecargo": "2.5",
         "IndicadorFacturacionDescuentooRecargo": group},
        {"TipoAjuste": "R", "DescripcionDescuentooRecargo": "Flete", "TipoValor": "$", "MontoDescuentooRecargo": "500.00",
         "IndicadorFacturacionDescuentooRecargo": group}
    ]});
    issue(receipt_type, &payload)
}

fn emisor() -> Value {
    json!({
        "RNCEmisor": "131880681", "RazonSocialEmisor": "Ferretería del Norte, S.R.L.", "NombreComercial": "FerreNorte",
        "Sucursal": "Santiago Centro", "DireccionEmisor": "Av. 27 de Febrero No. 102, Los Jardines",
        "Municipio": "250100", "Provincia": "250000",
        "TablaTelefonoEmisor": {"TelefonoEmisor": ["809-555-0100", "829-555-0100"]},
        "CorreoEmisor": "ventas@ferrenorte.example", "FechaEmision": "20-11-2026"
    })
}

/// Removes fields that the type forbids, and adds fields that only this type has.
fn adjust(receipt_type: ReceiptType, payload: &mut Value) {
    let remove = |value: &mut Value, names: &[&str]| {
        let members = value.as_object_mut().unwrap();
        names.iter().for_each(|name| {
            members.remove(*name);
        });
    };
    match receipt_type {
        ReceiptType::E31 | ReceiptType::E45 => {}
        ReceiptType::E32 => remove(&mut payload["Encabezado"], &["Comprador"]),
        ReceiptType::E33 | ReceiptType::E34 => {
            payload["InformacionReferencia"] = json!({
                "NCFModificado": "E310000000099", "FechaNCFModificado": "02-11-2026", "CodigoModificacion": 3,
                "RazonModificacion": "Precio de la varilla según cotización"
            });
            if receipt_type == ReceiptType::E34 {
                payload["Encabezado"]["IdDoc"] =
                    json!({"IndicadorNotaCredito": 0, "TipoIngresos": "01", "TipoPago": 1});
            }
        }
        ReceiptType::E41 => {
            remove(&mut payload["Encabezado"]["IdDoc"], &["TipoIngresos"]);
            remove(&mut payload["Encabezado"]["Comprador"], &["NumeroOrdenCompra"]);
            for item in payload["DetallesItems"]["Item"].as_array_mut().unwrap() {
                let itbis = if item["IndicadorFacturacion"] == 1 {
                    "100.00"
                } else {
                    "0.00"
                };
                item["Retencion"] = json!({
                    "IndicadorAgenteRetencionoPercepcion": 1, "MontoITBISRetenido": itbis, "MontoISRRetenido": "50.00"
                });
            }
        }
        ReceiptType::E43 => {
            remove(&mut payload["Encabezado"], &["Comprador"]);
            payload["Encabezado"]["IdDoc"] = json!({});
            only_exempt(payload);
        }
        ReceiptType::E44 => {
            payload["Encabezado"]["Comprador"]["RazonSocialComprador"] = json!("Embajada de Francia");
            only_exempt(payload);
        }
        ReceiptType::E46 => {
            let comprador = &mut payload["Encabezado"]["Comprador"];
            *comprador = json!({
                "IdentificadorExtranjero": "US-EIN-4471", "RazonSocialComprador": "Caribbean Hardware Imports LLC",
                "PaisComprador": "Estados Unidos"
            });
            payload["Encabezado"]["OtraMoneda"] = json!({"TipoMoneda": "USD", "TipoCambio": "62.5000"});
            for item in payload["DetallesItems"]["Item"].as_array_mut().unwrap() {
                item["IndicadorFacturacion"] = json!(3);
            }
        }
        ReceiptType::E47 => {
            payload["Encabezado"]["IdDoc"] = json!({});
            payload["Encabezado"]["Comprador"] =
                json!({"IdentificadorExtranjero": "CA-882211", "RazonSocialComprador": "Northern Cloud Hosting Inc."});
            payload["DetallesItems"]["Item"] = json!([{
                "IndicadorFacturacion": 4, "NombreItem": "Alojamiento de servidores, noviembre", "IndicadorBienoServicio": 2,
                "CantidadItem": 1, "PrecioUnitarioItem": "31250.00",
                "Retencion": {"IndicadorAgenteRetencionoPercepcion": 1, "MontoISRRetenido": "8437.50"}
            }]);
        }
    }
}

fn only_exempt(payload: &mut Value) {
    for item in payload["DetallesItems"]["Item"].as_array_mut().unwrap() {
        item["IndicadorFacturacion"] = json!(4);
        item.as_object_mut().unwrap().remove("TablaSubDescuento");
    }
}

/// A receipt of type 31 with this many lines, exempt and taxed.
pub(crate) fn long(lines: usize) -> Vec<u8> {
    let mut payload = payload(ReceiptType::E31);
    payload["DetallesItems"]["Item"] = (1..=lines)
        .map(|line| {
            json!({
                "IndicadorFacturacion": if line % 7 == 0 { 4 } else { 1 }, "NombreItem": format!("Artículo de catálogo número {line}"),
                "IndicadorBienoServicio": 1, "CantidadItem": line % 12 + 1, "UnidadMedida": "43",
                "PrecioUnitarioItem": format!("{}.{:02}", 40 + line % 900, line % 100)
            })
        })
        .collect();
    issue(ReceiptType::E31, &payload)
}

/// Beer: both excise taxes, with all fields that they are computed from.
pub(crate) fn beer() -> Vec<u8> {
    let mut payload = payload(ReceiptType::E31);
    payload["DetallesItems"]["Item"] = json!([{
        "IndicadorFacturacion": 1, "NombreItem": "Cerveza 12 oz", "IndicadorBienoServicio": 1, "CantidadItem": 2, "UnidadMedida": "6",
        "CantidadReferencia": 24, "UnidadReferencia": "5",
        "TablaSubcantidad": {"SubcantidadItem": [{"Subcantidad": "0.355", "CodigoSubcantidad": "24"}]},
        "GradosAlcohol": 5, "PrecioUnitarioReferencia": 65, "PrecioUnitarioItem": 1615,
        "TablaImpuestoAdicional": {"ImpuestoAdicional": [{"TipoImpuesto": "006"}, {"TipoImpuesto": "023"}]}
    }]);
    issue(ReceiptType::E31, &payload)
}

/// The longest names and amounts.
pub(crate) fn wide() -> Vec<u8> {
    let mut wide = payload(ReceiptType::E31);
    let long = |length: usize| Value::from("W".repeat(length));
    wide["Encabezado"]["Emisor"]["RazonSocialEmisor"] = long(150);
    wide["Encabezado"]["Emisor"]["NombreComercial"] = Value::from("Ñ".repeat(150));
    wide["Encabezado"]["Emisor"]["DireccionEmisor"] = long(100);
    wide["Encabezado"]["Comprador"]["RazonSocialComprador"] = long(150);
    let item = json!({
        "IndicadorFacturacion": 4, "NombreItem": "W".repeat(80), "DescripcionItem": "M".repeat(1_000), "IndicadorBienoServicio": 1,
        "CantidadItem": "1", "UnidadMedida": "22", "PrecioUnitarioItem": "4444444444444.4444", "MontoItem": "4444444444444.44",
    });
    wide["DetallesItems"]["Item"] = json!([item.clone(), item.clone(), item]);
    issue(ReceiptType::E31, &wide)
}
