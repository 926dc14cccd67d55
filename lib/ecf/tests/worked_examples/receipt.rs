//! The receipt around the lines of a case.

use ecf::document::Item;
use ecf::totals::{self, Computed, IscRates};
use ecf::{Amounts, Document, Draft, Environment, Node, ReceiptType};
use serde_json::{Map, Value, json};

/// The type that the case names or that its subject implies.
pub(crate) fn receipt_type(case: &Value) -> ReceiptType {
    let given = case.get("TipoeCF").map(ToString::to_string);
    let other = match case["id"].as_str() {
        Some("W30") => "44",
        Some("W03") => "46",
        Some("W36") => "34",
        Some("W41") => "32",
        _ => "31",
    };
    given.as_deref().unwrap_or(other).parse().unwrap()
}

/// A receipt of the case's type with its lines.
pub(crate) fn payload(case: &Value, examples: &Value) -> Value {
    let receipt_type = receipt_type(case);
    let mut input = case["input"].clone();
    if let Some(base) = input.get("base_case").and_then(Value::as_str) {
        let list = examples["W"].as_array().unwrap();
        let base = list.iter().find(|case| case["id"] == base).unwrap()["input"].clone();
        let mut merged = base.as_object().unwrap().clone();
        merged.extend(input.as_object().unwrap().clone());
        input = Value::Object(merged);
    }
    let lines: Vec<Value> = input["Item"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| line(item, receipt_type))
        .collect();
    let rates: Vec<Value> = input
        .get("TasaImpuestoAdicional")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .map(|(code, rate)| json!({"TipoImpuesto": code, "TasaImpuestoAdicional": rate}))
        .collect();
    let pages: Vec<Value> = input
        .get("pages")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .enumerate()
        .map(|(place, page)| json!({"PaginaNo": place + 1, "NoLineaDesde": page[0], "NoLineaHasta": page[1]}))
        .collect();
    let mut payload = json!({
        "Encabezado": {
            "IdDoc": {"TipoPago": 1, "TotalPaginas": (!pages.is_empty()).then_some(pages.len())},
            "Emisor": {"RNCEmisor": "130000001", "RazonSocialEmisor": "Emisor", "DireccionEmisor": "Calle 1", "FechaEmision": "27-11-2026"},
            "Totales": {"MontoAvancePago": input.get("MontoAvancePago"), "SaldoAnterior": input.get("SaldoAnterior"), "ImpuestosAdicionales": {"ImpuestoAdicional": rates}},
            "OtraMoneda": {"TipoMoneda": input.get("TipoMoneda"), "TipoCambio": input.get("TipoCambio")}
        },
        "DetallesItems": {"Item": lines},
        "DescuentosORecargos": {"DescuentoORecargo": input.get("DescuentoORecargo")},
        "Paginacion": {"Pagina": pages}
    });
    let header = &mut payload["Encabezado"];
    if !matches!(receipt_type, ReceiptType::E47) {
        header["Comprador"] = json!({"RNCComprador": "130000002", "RazonSocialComprador": "Cliente"});
    }
    if !matches!(receipt_type, ReceiptType::E41 | ReceiptType::E47) {
        header["IdDoc"]["TipoIngresos"] = json!("01");
    }
    if !matches!(receipt_type, ReceiptType::E44 | ReceiptType::E46 | ReceiptType::E47) {
        header["IdDoc"]["IndicadorMontoGravado"] = input.get("IndicadorMontoGravado").cloned().unwrap_or_default();
    }
    if receipt_type == ReceiptType::E34 {
        header["IdDoc"]["IndicadorNotaCredito"] = json!(0);
        payload["InformacionReferencia"] =
            json!({"NCFModificado": "E310000000009", "FechaNCFModificado": "20-11-2026", "CodigoModificacion": 2});
    }
    payload
}

/// A line of the reference, in the shape of the payload.
fn line(item: &Value, receipt_type: ReceiptType) -> Value {
    let mut line: Map<String, Value> = item.as_object().unwrap().clone();
    line.entry("NombreItem").or_insert(json!("Artículo"));
    line.entry("IndicadorBienoServicio").or_insert(json!(1));
    let mut nest = |from: &str, to: &str, one: fn(Value) -> Value| {
        if let Some(list) = line.remove(from) {
            let list = list.as_array().cloned().unwrap_or_else(|| vec![list]);
            line.insert(to.to_owned(), Value::Array(list.into_iter().map(one).collect()));
        }
    };
    nest(
        "TipoImpuesto",
        "TablaImpuestoAdicional",
        |code| json!({"TipoImpuesto": code}),
    );
    nest(
        "Subcantidad",
        "TablaSubcantidad",
        |content| json!({"Subcantidad": content}),
    );
    nest("SubDescuento", "TablaSubDescuento", |sub| sub);
    nest("SubRecargo", "TablaSubRecargo", |sub| sub);
    if let Some(price) = line.remove("PrecioOtraMoneda") {
        line.insert("OtraMonedaDetalle".to_owned(), json!({"PrecioOtraMoneda": price}));
    }
    if let Some(rates) = line.remove("retention_rates") {
        let retention = retention(&line, &rates, receipt_type);
        line.insert("Retencion".to_owned(), retention);
    }
    Value::Object(line)
}

/// The retentions of a line, by percentages.
fn retention(line: &Map<String, Value>, rates: &Value, receipt_type: ReceiptType) -> Value {
    let text = |name: &str| line[name].to_string().trim_matches('"').to_owned();
    let mut document = Document::default();
    document.detalles_items.item.push(Item {
        indicador_facturacion: Some(text("IndicadorFacturacion").parse().unwrap()),
        cantidad_item: Some(text("CantidadItem").parse().unwrap()),
        precio_unitario_item: Some(text("PrecioUnitarioItem").parse().unwrap()),
        ..Item::default()
    });
    let computed = totals::compute(&document, receipt_type, &self::rates());
    let amounts = &computed.lines[0];
    let percentage = |name: &str| rates[name].as_str().map(|rate| rate.parse().unwrap());
    let itbis = percentage("ITBIS_percent_of_ITBIS").map(|rate| amounts.monto_itbis_retenido(&rate).unwrap());
    let isr = percentage("ISR_percent_of_MontoItem").map(|rate| amounts.monto_isr_retenido(&rate).unwrap());
    json!({"IndicadorAgenteRetencionoPercepcion": 1, "MontoITBISRetenido": itbis, "MontoISRRetenido": isr})
}

fn rates() -> IscRates {
    IscRates::of(Environment::TesteCF)
}

/// The receipt of a payload without totals, completed and checked.
pub(crate) fn completed(payload: &Value, receipt_type: ReceiptType) -> (Document, Computed) {
    let node = Node::parse(payload.to_string().as_bytes()).unwrap();
    let (mut draft, _) = Draft::read(receipt_type, &node, Amounts::Scaled).unwrap_or_else(|told| panic!("{told:#?}"));
    draft.complete(&rates());
    let ecf = draft.check().unwrap_or_else(|told| panic!("{told:#?}"));
    let computed = ecf.computed().unwrap().clone();
    // The result computed for the payload also holds for the receipt.
    assert_eq!(
        totals::compute(ecf.document(), receipt_type, &rates()).totales,
        computed.totales
    );
    (ecf.document().clone(), computed)
}
