//! A small valid document of each type.

use serde_json::{Value, json};

/// One exempt service of this amount (type 46: taxed at zero), with today's date.
pub(crate) fn payload(rnc: &str, today: &str, ecf_type: &str, amount: u32) -> Value {
    let mut id_doc = json!({ "TipoIngresos": "01", "TipoPago": 1 });
    let mut totales = json!({ "MontoExento": amount, "MontoTotal": amount });
    let mut item = json!({
        "IndicadorFacturacion": 4, "NombreItem": "Servicio de prueba", "IndicadorBienoServicio": 2,
        "CantidadItem": 1, "PrecioUnitarioItem": amount, "MontoItem": amount,
    });
    let mut comprador = json!({ "RNCComprador": "101672919", "RazonSocialComprador": "CLIENTE DE PRUEBA SRL" });
    match ecf_type {
        "34" => id_doc["IndicadorNotaCredito"] = json!(0),
        "41" => {
            id_doc = json!({ "TipoPago": 1 });
            withhold(&mut item, &mut totales, amount / 10);
            // An exempt amount has no ITBIS to withhold; the authority requires an explicit zero.
            item["Retencion"]["MontoITBISRetenido"] = json!(0);
            totales["TotalITBISRetenido"] = json!(0);
        }
        "43" => {
            id_doc = json!({});
            comprador = Value::Null;
        }
        "46" => {
            item["IndicadorFacturacion"] = json!(3);
            comprador = json!({ "RazonSocialComprador": "CLIENT INC" });
            totales = json!({
                "MontoGravadoTotal": amount, "MontoGravadoI3": amount, "ITBIS3": 0,
                "TotalITBIS": 0, "TotalITBIS3": 0, "MontoTotal": amount,
            });
        }
        "47" => {
            id_doc = json!({});
            comprador = Value::Null;
            withhold(&mut item, &mut totales, amount * 27 / 100);
        }
        _ => {}
    }
    let mut encabezado = json!({
        "IdDoc": id_doc,
        "Emisor": {
            "RNCEmisor": rnc, "RazonSocialEmisor": "EMISOR DE PRUEBA SRL",
            "DireccionEmisor": "Calle Uno 1, Santo Domingo", "FechaEmision": today,
        },
        "Totales": totales,
    });
    if !comprador.is_null() {
        encabezado["Comprador"] = comprador;
    }
    json!({ "Encabezado": encabezado, "DetallesItems": { "Item": [item] } })
}

/// A note of this type on a receipt of the same day; it corrects amounts.
pub(crate) fn note(rnc: &str, today: &str, ecf_type: &str, amount: u32, encf: &str) -> Value {
    let mut payload = payload(rnc, today, ecf_type, amount);
    payload["InformacionReferencia"] =
        json!({ "NCFModificado": encf, "FechaNCFModificado": today, "CodigoModificacion": 3 });
    payload
}

fn withhold(item: &mut Value, totales: &mut Value, isr: u32) {
    item["Retencion"] = json!({ "IndicadorAgenteRetencionoPercepcion": 1, "MontoISRRetenido": isr });
    totales["TotalISRRetencion"] = json!(isr);
}
