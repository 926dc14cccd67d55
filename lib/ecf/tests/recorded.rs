//! Rejections and complaints that were recorded in practice. Each is now reported before the number is used, with the
//! line, both amounts and the difference.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use ecf::rules::{OnConditional, explain, judge};
use ecf::totals::IscRates;
use ecf::{Amounts, Draft, Environment, Grade, Node, Violation};
use serde_json::{Value, json};

/// The findings that stop the receipt in production.
fn refusals(ecf_type: u32, payload: &Value) -> Vec<Violation> {
    let receipt_type = ecf_type.to_string().parse().unwrap();
    let payload = Node::parse(payload.to_string().as_bytes()).unwrap();
    let rates = IscRates::of(Environment::Ecf);
    let (mut draft, _) = Draft::read(receipt_type, &payload, Amounts::Scaled).unwrap();
    draft.complete(&rates);
    let today = "27-11-2026".parse().unwrap();
    judge(draft, Environment::Ecf, today, &rates, OnConditional::Warn)
        .err()
        .unwrap_or_default()
}

fn invoice(lines: Value, totales: Value) -> Value {
    json!({
        "Encabezado": {
            "IdDoc": {"IndicadorMontoGravado": 0, "TipoIngresos": "01", "TipoPago": 1},
            "Emisor": {
                "RNCEmisor": "199000013", "RazonSocialEmisor": "Ejemplo SRL", "DireccionEmisor": "Calle Primera 1",
                "FechaEmision": "27-11-2026"
            },
            "Comprador": {"RNCComprador": "198000012", "RazonSocialComprador": "Cliente SRL"},
            "Totales": totales
        },
        "DetallesItems": {"Item": lines}
    })
}

fn line(more: Value) -> Value {
    let mut line = json!({
        "IndicadorFacturacion": 1, "NombreItem": "Artículo", "IndicadorBienoServicio": 1, "CantidadItem": "10",
        "PrecioUnitarioItem": "100"
    });
    line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    line
}

/// Code, path, given value, expected value, difference.
fn told(violation: &Violation) -> (&str, String, Option<&str>, Option<&str>, Option<&str>) {
    (
        violation.code,
        violation.path.join("/"),
        violation.given.as_deref(),
        violation.expected.as_deref(),
        violation.difference.as_deref(),
    )
}

#[test]
fn discounts_that_do_not_add_up_are_told_with_line_and_both_sums() {
    let parts = json!({"SubDescuento": [
        {"TipoSubDescuento": "$", "MontoSubDescuento": "30.00"},
        {"TipoSubDescuento": "$", "MontoSubDescuento": "20.00"}
    ]});
    let lines = json!([
        line(json!({})),
        line(json!({"DescuentoMonto": "55.00", "TablaSubDescuento": parts}))
    ]);
    let found = refusals(31, &invoice(lines, json!({})));
    let path = "DetallesItems/Item/1/DescuentoMonto".to_owned();
    assert_eq!(
        found.iter().map(told).collect::<Vec<_>>(),
        [("LINEA-03", path, Some("55.00"), Some("50.00"), Some("-5.00"))]
    );
    assert!(
        found[0]
            .message
            .en
            .contains("55.00 was given, 50.00 is expected, the difference is -5.00")
    );
}

#[test]
fn surcharges_that_do_not_add_up_are_told_with_line_and_both_sums() {
    let parts = json!({"SubRecargo": [{"TipoSubRecargo": "$", "MontoSubRecargo": "30.00"}]});
    let lines = json!([line(json!({"RecargoMonto": "29.00", "TablaSubRecargo": parts}))]);
    let found = refusals(31, &invoice(lines, json!({})));
    let path = "DetallesItems/Item/0/RecargoMonto".to_owned();
    assert_eq!(
        found.iter().map(told).collect::<Vec<_>>(),
        [("LINEA-07", path, Some("29.00"), Some("30.00"), Some("+1.00"))]
    );
}

#[test]
fn an_excise_tax_without_its_content_is_told_with_its_line() {
    let beer = json!({
        "CantidadReferencia": "24", "GradosAlcohol": "5", "PrecioUnitarioReferencia": "75",
        "TablaImpuestoAdicional": {"ImpuestoAdicional": [{"TipoImpuesto": "006"}, {"TipoImpuesto": "023"}]}
    });
    let taxes = json!({"ImpuestosAdicionales": {"ImpuestoAdicional": [
        {"TipoImpuesto": "006", "TasaImpuestoAdicional": "745.60"}, {"TipoImpuesto": "023", "TasaImpuestoAdicional": "10"}
    ]}});
    let found = refusals(
        31,
        &invoice(json!([line(json!({})), line(json!({})), line(beer)]), taxes),
    );
    let content: Vec<_> = found.iter().filter(|violation| violation.code == "ISC-01").collect();
    assert_eq!(content.len(), 1, "{found:#?}");
    assert_eq!(content[0].path.join("/"), "DetallesItems/Item/2/TablaSubcantidad");
    let at_the_field = found
        .iter()
        .filter(|violation| violation.path.contains(&"TablaSubcantidad".to_owned()));
    assert_eq!(at_the_field.count(), 1, "a missing field is told once: {found:#?}");
}

#[test]
fn a_tax_that_does_not_match_the_lines_is_told_by_its_code_and_both_amounts() {
    let telecom =
        json!({"TablaImpuestoAdicional": {"ImpuestoAdicional": [{"TipoImpuesto": "002"}, {"TipoImpuesto": "004"}]}});
    let taxes = json!({"ImpuestosAdicionales": {"ImpuestoAdicional": [
        {"TipoImpuesto": "002", "TasaImpuestoAdicional": "2", "OtrosImpuestosAdicionales": "25.00"},
        {"TipoImpuesto": "004", "TasaImpuestoAdicional": "10", "OtrosImpuestosAdicionales": "100.00"}
    ]}});
    let found = refusals(31, &invoice(json!([line(telecom)]), taxes));
    let path = "Encabezado/Totales/ImpuestosAdicionales/ImpuestoAdicional/0/OtrosImpuestosAdicionales".to_owned();
    assert_eq!(
        found.iter().map(told).collect::<Vec<_>>(),
        [("IMPUESTO-06", path, Some("25.00"), Some("20.00"), Some("-5.00"))]
    );
    assert!(found[0].message.en.contains("tax 002"), "{}", found[0].message.en);
}

/// A note on a note is detected here. Whether an original was accepted already is known only to the store.
#[test]
fn a_note_on_a_note_is_told_before_it_is_refused_as_unknown() {
    let mut note = invoice(json!([line(json!({}))]), json!({}));
    note["Encabezado"]["IdDoc"]["IndicadorNotaCredito"] = json!(0);
    note["InformacionReferencia"] =
        json!({"NCFModificado": "E340000000001", "FechaNCFModificado": "26-11-2026", "CodigoModificacion": 3});
    let found = refusals(34, &note);
    assert_eq!(
        found.iter().map(|violation| violation.code).collect::<Vec<_>>(),
        ["REFERENCIA-03"]
    );
    assert!(
        explain("614", "El NCF modificado no ha sido emitido")
            .unwrap()
            .fix
            .en
            .contains("after the verdict")
    );
}

#[test]
fn a_large_consumer_invoice_without_a_buyer_is_told_both_ways_to_name_one() {
    let mut large = invoice(json!([line(json!({"PrecioUnitarioItem": "25000"}))]), json!({}));
    large["Encabezado"]["Comprador"] = json!({"RazonSocialComprador": "John Doe"});
    let found = refusals(32, &large);
    assert_eq!(
        found.iter().map(|violation| violation.code).collect::<Vec<_>>(),
        ["COMPRADOR-01"]
    );
    assert!(found[0].message.en.contains("RNCComprador") && found[0].message.en.contains("IdentificadorExtranjero"));
}

#[test]
fn a_day_of_issue_in_the_future_is_told_with_both_days() {
    let mut early = invoice(json!([line(json!({}))]), json!({}));
    early["Encabezado"]["Emisor"]["FechaEmision"] = json!("28-11-2026");
    let found = refusals(31, &early);
    assert_eq!(
        found.iter().map(|violation| violation.code).collect::<Vec<_>>(),
        ["EMISOR-01"]
    );
    assert!(found[0].message.en.contains("28-11-2026") && found[0].message.en.contains("27-11-2026"));
}

#[test]
fn a_personal_number_of_eleven_digits_is_no_fault() {
    let mut personal = invoice(json!([line(json!({}))]), json!({}));
    personal["Encabezado"]["Comprador"]["RNCComprador"] = json!("00113918205");
    assert_eq!(refusals(31, &personal), []);
}

/// Twelve units of 48.75 are 585.00: the worked examples T01 to T04.
#[test]
fn a_line_may_be_off_by_one_peso_and_no_more() {
    for (stated, expected) in [
        ("585.60", Grade::Notice),
        ("586.00", Grade::Notice),
        ("586.01", Grade::Conditional),
        ("583.99", Grade::Conditional),
    ] {
        let lines = json!([line(
            json!({"CantidadItem": "12", "PrecioUnitarioItem": "48.75", "MontoItem": stated})
        )]);
        let receipt_type = ecf::ReceiptType::E31;
        let payload = Node::parse(invoice(lines, json!({})).to_string().as_bytes()).unwrap();
        let rates = IscRates::of(Environment::Ecf);
        let (draft, _) = Draft::read(receipt_type, &payload, Amounts::Scaled).unwrap();
        let today = "27-11-2026".parse().unwrap();
        let judged = judge(draft, Environment::Ecf, today, &rates, OnConditional::Warn);
        let (_, warnings) = judged.unwrap();
        let graded = warnings
            .iter()
            .find(|violation| violation.code == "LINEA-02")
            .map(|violation| violation.grade);
        assert_eq!(graded, Some(expected), "{stated}");
    }
}
