//! Documents as callers send them.

use ecf_testkit::RNC;
use serde_json::{Value, json};

/// A request for a type 31 over RD$11,800.00, numbered by the service.
pub(crate) fn invoice(key: &str) -> Value {
    json!({ "idempotency_key": key, "ecf_type": "31", "payload": invoice_payload() })
}

/// The same, numbered by the caller.
pub(crate) fn numbered_invoice(key: &str, encf: &str) -> Value {
    let mut body = invoice(key);
    body["payload"]["Encabezado"]["IdDoc"]["eNCF"] = json!(encf);
    body
}

/// A type 32 of RD$1,000.00 without a buyer, which is sent as a summary.
pub(crate) fn small_consumer_invoice(key: &str) -> Value {
    consumer_invoice(key, "847.46", "152.54", "1000.00", json!(null))
}

/// A type 32 of RD$300,000.00, which is sent in full.
pub(crate) fn large_consumer_invoice(key: &str) -> Value {
    let buyer = json!({ "RNCComprador": "131880681", "RazonSocialComprador": "Constructora del Cibao SRL" });
    consumer_invoice(key, "254237.29", "45762.71", "300000.00", buyer)
}

/// A request for a note of this amount on a type 31 of the same day and buyer.
pub(crate) fn note(key: &str, ecf_type: &str, code: u8, amount: &str, encf: &str) -> Value {
    let mut body = invoice(key);
    body["ecf_type"] = json!(ecf_type);
    let payload = &mut body["payload"];
    let id_doc = &mut payload["Encabezado"]["IdDoc"];
    id_doc["TipoeCF"] = json!(ecf_type);
    id_doc.as_object_mut().unwrap().remove("IndicadorMontoGravado");
    if ecf_type == "34" {
        id_doc["IndicadorNotaCredito"] = json!("0");
    }
    payload["Encabezado"]["Totales"] = json!({ "MontoExento": amount, "MontoTotal": amount });
    let mut line = line("Rebaja", "1", amount, amount);
    line["IndicadorFacturacion"] = json!("4");
    payload["DetallesItems"]["Item"] = json!([line]);
    payload["InformacionReferencia"] =
        json!({ "NCFModificado": encf, "FechaNCFModificado": "27-11-2026", "CodigoModificacion": code });
    body
}

fn invoice_payload() -> Value {
    json!({
        "Encabezado": {
            "Version": "1.0",
            "IdDoc": { "TipoeCF": "31", "IndicadorMontoGravado": "0", "TipoIngresos": "01", "TipoPago": "1" },
            "Emisor": issuer(),
            "Comprador": { "RNCComprador": "131880681", "RazonSocialComprador": "Constructora del Cibao SRL" },
            "Totales": totals("10000.00", "1800.00", "11800.00"),
        },
        "DetallesItems": { "Item": [line("Cemento gris, funda de 42.5 kg", "20", "500.00", "10000.00")] },
    })
}

fn consumer_invoice(key: &str, net: &str, itbis: &str, total: &str, buyer: Value) -> Value {
    let mut header = json!({
        "Version": "1.0",
        "IdDoc": { "TipoeCF": "32", "IndicadorMontoGravado": "0", "TipoIngresos": "01", "TipoPago": "1" },
        "Emisor": issuer(),
        "Totales": totals(net, itbis, total),
    });
    if buyer.is_object() {
        header["Comprador"] = buyer;
    }
    let lines = json!({ "Item": [line("Pintura acrílica blanca", "1", net, net)] });
    json!({
        "idempotency_key": key,
        "ecf_type": "32",
        "payload": { "Encabezado": header, "DetallesItems": lines },
    })
}

fn issuer() -> Value {
    json!({
        "RNCEmisor": RNC,
        "RazonSocialEmisor": "Ferretería de Prueba SRL",
        "DireccionEmisor": "Avenida Winston Churchill 1099, Santo Domingo",
        "FechaEmision": "27-11-2026",
    })
}

fn totals(net: &str, itbis: &str, total: &str) -> Value {
    json!({
        "MontoGravadoTotal": net, "MontoGravadoI1": net, "ITBIS1": "18",
        "TotalITBIS": itbis, "TotalITBIS1": itbis, "MontoTotal": total,
    })
}

fn line(name: &str, quantity: &str, price: &str, amount: &str) -> Value {
    json!({
        "NumeroLinea": "1", "IndicadorFacturacion": "1", "NombreItem": name, "IndicadorBienoServicio": "1",
        "CantidadItem": quantity, "PrecioUnitarioItem": price, "MontoItem": amount,
    })
}
