//! Typical first mistakes: each refusal says what to write.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use ecf::rules::{OnConditional, judge};
use ecf::totals::IscRates;
use ecf::{Amounts, Draft, Environment, Grade, Node, ReceiptType, Violation};
use serde_json::{Value, json};

/// A valid receipt of the type, with a member of each block that the mistakes change.
fn receipt(receipt_type: &str) -> Value {
    let mut payload = json!({
        "Encabezado": {
            "IdDoc": {"TipoIngresos": "01", "TipoPago": "1", "IndicadorMontoGravado": "0"},
            "Emisor": {
                "RNCEmisor": "199000013", "RazonSocialEmisor": "Ejemplo SRL", "DireccionEmisor": "Calle Primera 1",
                "FechaEmision": "27-11-2026"
            },
            "Comprador": {"RNCComprador": "198000012", "RazonSocialComprador": "Cliente SRL"}
        },
        "DetallesItems": {"Item": [{
            "IndicadorFacturacion": "1", "NombreItem": "Artículo", "IndicadorBienoServicio": "1", "CantidadItem": "2",
            "PrecioUnitarioItem": "500"
        }]}
    });
    if receipt_type == "34" {
        payload["Encabezado"]["IdDoc"]["IndicadorNotaCredito"] = json!("0");
        payload["InformacionReferencia"] = json!({
            "NCFModificado": "E310000000009", "FechaNCFModificado": "20-11-2026", "CodigoModificacion": "3"
        });
    }
    payload
}

fn set(payload: &mut Value, path: &str, value: Value) {
    let mut place = payload;
    for step in path.split('/') {
        place = match step.parse::<usize>() {
            Ok(index) => {
                if place.is_null() {
                    *place = json!([null]);
                }
                &mut place[index]
            }
            Err(_) => &mut place[step],
        };
    }
    *place = value;
}

/// All refusals and notices about a payload, outside production.
fn findings(receipt_type: &str, payload: &Value) -> Vec<Violation> {
    let receipt_type: ReceiptType = receipt_type.parse().unwrap();
    let node = Node::parse(&serde_json::to_vec(payload).unwrap()).unwrap();
    let (draft, mut notices) = match Draft::read(receipt_type, &node, Amounts::Scaled) {
        Ok(read) => read,
        Err(violations) => return violations,
    };
    let environment = Environment::TesteCF;
    let rates = IscRates::of(environment);
    let today = "27-11-2026".parse().unwrap();
    match judge(draft, environment, today, &rates, OnConditional::Refuse) {
        Ok((_, told)) => notices.extend(told),
        Err(violations) => notices.extend(violations),
    }
    notices
}

/// Type, path, given value, code of the refusal, advice.
type Mistake = (&'static str, &'static str, Value, &'static str, &'static str);

const ID_DOC: &str = "Encabezado/IdDoc";
const EMISOR: &str = "Encabezado/Emisor";
const COMPRADOR: &str = "Encabezado/Comprador";
const ITEM: &str = "DetallesItems/Item/0";
const TOTALES: &str = "Encabezado/Totales";
const OTRA: &str = "Encabezado/OtraMoneda";
const REF: &str = "InformacionReferencia";

fn at(block: &str, field: &str) -> &'static str {
    Box::leak(format!("{block}/{field}").into_boxed_str())
}

#[rustfmt::skip]
fn mistakes() -> Vec<Mistake> {
    let unit = at(ITEM, "UnidadMedida");
    let price = at(ITEM, "PrecioUnitarioItem");
    let day = at(EMISOR, "FechaEmision");
    let phone = at(EMISOR, "TablaTelefonoEmisor/TelefonoEmisor/0");
    let mail = at(EMISOR, "CorreoEmisor");
    let rnc = at(COMPRADOR, "RNCComprador");
    let town = at(EMISOR, "Municipio");
    let province = at(EMISOR, "Provincia");
    let currency = at(OTRA, "TipoMoneda");
    let included = at(ID_DOC, "IndicadorMontoGravado");
    let number = at(ID_DOC, "eNCF");
    let modified = at(REF, "NCFModificado");
    vec![
        ("31", unit, json!("UND"), "ESTRUCTURA-14", "43"),
        ("31", unit, json!("unidades"), "ESTRUCTURA-14", "43"),
        ("31", unit, json!("Kg."), "ESTRUCTURA-14", "21"),
        ("31", unit, json!("libras"), "ESTRUCTURA-14", "23"),
        ("31", unit, json!("galón"), "ESTRUCTURA-14", "15"),
        ("31", unit, json!("m2"), "ESTRUCTURA-14", "27"),
        ("31", unit, json!("pies cuadrados"), "ESTRUCTURA-14", "53"),
        ("31", unit, json!("caja"), "ESTRUCTURA-14", "6"),
        ("31", unit, json!("Unidda"), "ESTRUCTURA-14", "43"),
        ("31", unit, json!("Galo\u{301}n"), "ESTRUCTURA-14", "15"),
        ("31", unit, json!("unidad ".repeat(1_000)), "ESTRUCTURA-14", "one of 62 codes from 1 to 62"),
        ("31", unit, json!("043"), "ESTRUCTURA-14", "43"),
        ("31", unit, json!(99), "ESTRUCTURA-14", "one of 62 codes from 1 to 62"),
        ("31", town, json!("Santo Domingo"), "ESTRUCTURA-14", "320100, 320200, 320300 or 010100"),
        ("31", town, json!("Sto. Dgo. Este"), "ESTRUCTURA-14", "320100"),
        ("31", town, json!("Distrito Nacional"), "ESTRUCTURA-14", "010100"),
        ("31", town, json!("0101"), "ESTRUCTURA-14", "010100"),
        ("31", province, json!("Santo Domingo"), "ESTRUCTURA-14", "320000"),
        ("31", province, json!("01"), "ESTRUCTURA-14", "010000"),
        ("31", province, json!("azua"), "ESTRUCTURA-14", "020000"),
        ("31", currency, json!("usd"), "ESTRUCTURA-14", "USD"),
        ("31", currency, json!("US$"), "ESTRUCTURA-14", "USD"),
        ("31", currency, json!("Dólares"), "ESTRUCTURA-14", "USD"),
        ("31", currency, json!("DOP"), "ESTRUCTURA-14", "no OtraMoneda"),
        ("31", currency, json!("RD$"), "ESTRUCTURA-14", "no OtraMoneda"),
        ("31", currency, json!("CNY"), "ESTRUCTURA-14", "CHY"),
        ("31", included, json!(true), "ESTRUCTURA-06", "1"),
        ("31", included, json!(false), "ESTRUCTURA-06", "0"),
        ("31", included, json!("Sí"), "ESTRUCTURA-14", "1"),
        ("31", included, json!("No"), "ESTRUCTURA-14", "0"),
        ("31", included, json!("true"), "ESTRUCTURA-14", "1"),
        ("31", at(ID_DOC, "IndicadorEnvioDiferido"), json!(false), "ESTRUCTURA-06", "the field left out"),
        ("31", at(ID_DOC, "TipoPago"), json!("contado"), "ESTRUCTURA-14", "1"),
        ("31", at(ID_DOC, "TipoPago"), json!("Credito"), "ESTRUCTURA-14", "2"),
        ("31", at(ID_DOC, "TipoPago"), json!("01"), "ESTRUCTURA-14", "1"),
        ("31", at(ID_DOC, "TipoIngresos"), json!("001"), "ESTRUCTURA-14", "01"),
        ("31", at(ID_DOC, "TablaFormasPago/FormaDePago/0/FormaPago"), json!("efectivo"), "ESTRUCTURA-14", "1"),
        ("31", at(ID_DOC, "TablaFormasPago/FormaDePago/0/FormaPago"), json!("tarjetas"), "ESTRUCTURA-14", "3"),
        ("31", at(ITEM, "IndicadorFacturacion"), json!("18%"), "ESTRUCTURA-14", "1"),
        ("31", at(ITEM, "IndicadorFacturacion"), json!(18), "ESTRUCTURA-14", "1"),
        ("31", at(ITEM, "IndicadorFacturacion"), json!("exenta"), "ESTRUCTURA-14", "4"),
        ("31", at(ITEM, "IndicadorFacturacion"), json!("E"), "ESTRUCTURA-14", "4"),
        ("31", at(ITEM, "IndicadorBienoServicio"), json!("S"), "ESTRUCTURA-14", "2"),
        ("31", at(ITEM, "IndicadorBienoServicio"), json!("servicios"), "ESTRUCTURA-14", "2"),
        ("34", at(REF, "CodigoModificacion"), json!("Anulación"), "ESTRUCTURA-14", "1"),
        ("31", at(TOTALES, "ITBIS1"), json!("0.18"), "ESTRUCTURA-24", "18"),
        ("31", at(TOTALES, "ITBIS1"), json!("18%"), "ESTRUCTURA-24", "18"),
        ("31", at(TOTALES, "ITBIS2"), json!(0.16), "ESTRUCTURA-24", "16"),
        ("31", at(ITEM, "NumeroLinea"), json!("1.0"), "ESTRUCTURA-24", "1"),
        ("31", price, json!("+5"), "ESTRUCTURA-23", "5"),
        ("31", price, json!("1,180.00"), "ESTRUCTURA-20", "1180.00"),
        ("31", price, json!("1.180,00"), "ESTRUCTURA-20", "1180.00"),
        ("31", price, json!("1180,5"), "ESTRUCTURA-20", "1180.5"),
        ("31", price, json!("1,180"), "ESTRUCTURA-20", "1180 or 1.180"),
        ("31", price, json!("1,180,000"), "ESTRUCTURA-20", "1180000"),
        ("31", price, json!("RD$1,180.00"), "ESTRUCTURA-20", "1180.00"),
        ("31", price, json!("$ 500"), "ESTRUCTURA-20", "500"),
        ("31", price, json!("500 DOP"), "ESTRUCTURA-20", "500"),
        ("31", price, json!("1 180.00"), "ESTRUCTURA-20", "1180.00"),
        ("31", price, json!("1'180.00"), "ESTRUCTURA-20", "1180.00"),
        ("31", price, json!(".5"), "ESTRUCTURA-20", "0.5"),
        ("31", price, json!("500."), "ESTRUCTURA-20", "500"),
        ("31", price, json!("1.5e3"), "ESTRUCTURA-20", "1500"),
        ("31", price, json!("-5"), "ESTRUCTURA-23", "zero or more, without a sign"),
        ("31", price, json!("quinientos"), "ESTRUCTURA-20", "digits, and a point before decimals"),
        ("31", price, json!("500.123456"), "ESTRUCTURA-21", "at most 4 decimals"),
        ("31", day, json!("2026-11-27"), "ESTRUCTURA-30", "27-11-2026"),
        ("31", day, json!("2026-11-27T10:30:00Z"), "ESTRUCTURA-30", "27-11-2026"),
        ("31", day, json!("27/11/2026"), "ESTRUCTURA-30", "27-11-2026"),
        ("31", day, json!("27.11.2026"), "ESTRUCTURA-30", "27-11-2026"),
        ("31", day, json!("11/27/2026"), "ESTRUCTURA-30", "27-11-2026"),
        ("31", day, json!("11-27-2026"), "ESTRUCTURA-30", "27-11-2026"),
        ("31", day, json!("27-11-26"), "ESTRUCTURA-30", "27-11-2026"),
        ("31", day, json!("27-11-2026 10:30:00"), "ESTRUCTURA-30", "27-11-2026"),
        ("31", day, json!("20261127"), "ESTRUCTURA-30", "27-11-2026"),
        ("31", day, json!("27112026"), "ESTRUCTURA-30", "27-11-2026"),
        ("31", day, json!("27 de noviembre de 2026"), "ESTRUCTURA-30", "27-11-2026"),
        ("31", day, json!("27-NOV-2026"), "ESTRUCTURA-30", "27-11-2026"),
        ("31", day, json!("Nov 27, 2026"), "ESTRUCTURA-30", "27-11-2026"),
        ("31", day, json!(46353), "ESTRUCTURA-30", "27-11-2026"),
        ("31", day, json!("2026-27-11"), "ESTRUCTURA-30", "27-11-2026"),
        ("31", day, json!("2026-02-30"), "ESTRUCTURA-30", "dd-MM-yyyy"),
        ("31", day, json!("31-11-2026"), "ESTRUCTURA-30", "dd-MM-yyyy"),
        ("31", day, json!("hoy"), "ESTRUCTURA-30", "dd-MM-yyyy"),
        ("31", phone, json!("(809) 555-1234"), "ESTRUCTURA-11", "809-555-1234"),
        ("31", phone, json!("8095551234"), "ESTRUCTURA-13", "809-555-1234"),
        ("31", phone, json!(8_095_551_234_u64), "ESTRUCTURA-13", "809-555-1234"),
        ("31", phone, json!("809 555 1234"), "ESTRUCTURA-13", "809-555-1234"),
        ("31", phone, json!("+1 809-555-1234"), "ESTRUCTURA-11", "809-555-1234"),
        ("31", phone, json!("809-555-1234 ext. 5"), "ESTRUCTURA-11", "809-555-1234"),
        ("31", phone, json!("1 (809) 555-1234 / 829-555-0000"), "ESTRUCTURA-11", "809-555-1234"),
        ("31", phone, json!("809-555-12345"), "ESTRUCTURA-11", "at most 12"),
        ("31", phone, json!("555-1234"), "ESTRUCTURA-13", "a telephone number written 809-555-0100"),
        ("31", mail, json!("Ana <ana@ejemplo.do>"), "ESTRUCTURA-13", "ana@ejemplo.do"),
        ("31", mail, json!("ana@ejemplo.do; luis@ejemplo.do"), "ESTRUCTURA-13", "ana@ejemplo.do"),
        ("31", mail, json!("mailto:ana@ejemplo.do"), "ESTRUCTURA-13", "ana@ejemplo.do"),
        ("31", mail, json!("ana@ejemplo"), "ESTRUCTURA-13", "an e-mail address"),
        ("31", rnc, json!("1-30-00001-2"), "ESTRUCTURA-32", "130000012"),
        ("31", rnc, json!("001-1391820-5"), "ESTRUCTURA-32", "00113918205"),
        ("31", rnc, json!("RNC 130000012"), "ESTRUCTURA-32", "130000012"),
        ("31", rnc, json!("Cédula 001-1391820-5"), "ESTRUCTURA-32", "00113918205"),
        ("31", rnc, json!("0113918205"), "ESTRUCTURA-32", "00113918205"),
        ("31", rnc, json!(1_139_182_050_u64), "ESTRUCTURA-32", "9 or 11 digits"),
        ("31", rnc, json!("AB1234567"), "ESTRUCTURA-32", "9 or 11 digits"),
        ("31", number, json!("B0100000001"), "ESTRUCTURA-33", "E and twelve digits, or no eNCF"),
        ("31", number, json!("E31-0000000001"), "ESTRUCTURA-33", "E310000000001"),
        ("31", number, json!("E31000000001"), "ESTRUCTURA-33", "E310000000001"),
        ("31", number, json!("310000000001"), "ESTRUCTURA-33", "E310000000001"),
        ("34", modified, json!("B01-00000009"), "ESTRUCTURA-34", "B0100000009"),
        ("34", modified, json!("B010000009"), "ESTRUCTURA-34", "B0100000009"),
        ("34", modified, json!("E31000000009"), "ESTRUCTURA-34", "E310000000009"),
        ("31", at(ID_DOC, "TipoeCF"), json!("B01"), "ESTRUCTURA-15", "31"),
        ("31", at(ID_DOC, "TipoeCF"), json!("E31"), "ESTRUCTURA-15", "31"),
        ("31", at(ID_DOC, "TerminoPago"), json!("30, neto"), "ESTRUCTURA-13", "30 neto"),
        ("31", at(EMISOR, "NumeroPedidoInterno"), json!("PO-123"), "ESTRUCTURA-13", "123"),
        ("31", at(COMPRADOR, "ResponsablePago"), json!("Ana #1"), "ESTRUCTURA-13", "Ana"),
        ("46", at(COMPRADOR, "PaisComprador"), json!("US"), "ESTRUCTURA-13", "Estados Unidos"),
        ("31", at(EMISOR, "NombreComercial"), json!(" Ejemplo "), "ESTRUCTURA-12", "Ejemplo"),
    ]
}

#[test]
fn a11_every_mistake_of_a_first_day_says_what_to_write() {
    let mut wrong = Vec::new();
    for (receipt_type, path, sent, code, expected) in mistakes() {
        let mut payload = receipt(receipt_type);
        set(&mut payload, path, sent.clone());
        let found = findings(receipt_type, &payload);
        let told = found.iter().find(|violation| violation.path.join("/") == path);
        let fits = told.is_some_and(|told| told.code == code && told.expected.as_deref() == Some(expected));
        let told = told.map(|told| (told.code, &told.expected, &told.message.en));
        eprintln!("{path} {sent}: {told:?}");
        if !fits {
            wrong.push(format!("{path} {sent}: {code} {expected:?} is due, {told:?} came"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Searching the right code takes time, so a payload without any right code gets at most a hundred hints.
#[test]
fn a11_hints_end_after_a_hundred_faults() {
    let mut payload = receipt("31");
    let mut line = payload["DetallesItems"]["Item"][0].clone();
    line["UnidadMedida"] = json!("UND");
    payload["DetallesItems"]["Item"] = json!(vec![line; 150]);
    let found = findings("31", &payload);
    let advised = |range: std::ops::Range<usize>| {
        found[range]
            .iter()
            .filter(|violation| violation.expected.as_deref() == Some("43"))
            .count()
    };
    assert_eq!((found.len(), advised(0..100), advised(100..150)), (150, 100, 0));
}

/// The value that a refusal advises is accepted, so that advice never leads to another mistake.
#[test]
fn a11_what_a_refusal_tells_to_write_is_accepted() {
    let advised = mistakes().into_iter().filter(|(_, path, sent, _, expected)| {
        let single = !expected.contains(' ') || expected.starts_with("30 ") || expected.starts_with("Estados");
        single && !path.ends_with("eNCF") && sent.as_str() != Some("hoy") && *expected != "dd-MM-yyyy"
    });
    let mut count = 0;
    for (receipt_type, path, _, _, expected) in advised {
        let mut payload = receipt(receipt_type);
        set(&mut payload, path, json!(expected));
        let found = findings(receipt_type, &payload);
        let unreadable: Vec<_> = found
            .iter()
            .filter(|violation| violation.path.join("/") == path && violation.code.starts_with("ESTRUCTURA-"))
            .collect();
        assert!(unreadable.is_empty(), "{path} {expected}: {unreadable:?}");
        count += 1;
    }
    assert!(count > 80, "{count}");
}

#[test]
fn a11_a_credit_note_without_its_indicator_is_told_which_one_the_dates_give() {
    for (modified, expected, days) in [("28-10-2026", "0", 30), ("27-10-2026", "1", 31), ("27-11-2026", "0", 0)] {
        let mut payload = receipt("34");
        set(&mut payload, at(ID_DOC, "IndicadorNotaCredito"), Value::Null);
        set(&mut payload, at(REF, "FechaNCFModificado"), json!(modified));
        // Also beside another fault, when only the structure is checked.
        for other in [json!("500"), json!("x")] {
            set(&mut payload, at(ITEM, "PrecioUnitarioItem"), other);
            let found = findings("34", &payload);
            let told = found
                .iter()
                .find(|violation| violation.path.last().unwrap() == "IndicadorNotaCredito")
                .unwrap();
            assert_eq!((told.code, told.expected.as_deref()), ("ESTRUCTURA-01", Some(expected)));
            assert!(
                told.message.en.contains(&format!("{days} calendar days")),
                "{}",
                told.message.en
            );
        }
    }
    let mut payload = receipt("34");
    set(&mut payload, at(ID_DOC, "IndicadorNotaCredito"), Value::Null);
    set(&mut payload, at(REF, "FechaNCFModificado"), Value::Null);
    let found = findings("34", &payload);
    let told = found
        .iter()
        .find(|violation| violation.path.last().unwrap() == "IndicadorNotaCredito")
        .unwrap();
    assert_eq!(
        told.expected.as_deref(),
        Some("one of 0 Hasta 30 días, 1 Más de 30 días")
    );
}

/// Type 31 has no field for a foreign identity, so the advice does not name one.
#[test]
fn a11_a_passport_is_sent_to_its_field_where_the_type_has_one() {
    for (receipt_type, sent) in [("31", false), ("32", true), ("44", true), ("45", false)] {
        let mut payload = receipt(receipt_type);
        set(&mut payload, at(COMPRADOR, "RNCComprador"), json!("AB1234567"));
        let found = findings(receipt_type, &payload);
        let told = found
            .iter()
            .find(|violation| violation.code == "ESTRUCTURA-32")
            .unwrap();
        assert_eq!(
            told.message.en.contains("IdentificadorExtranjero"),
            sent,
            "{receipt_type}"
        );
    }
}

#[test]
fn a11_a_discount_above_its_line_is_told_by_how_much() {
    let mut payload = receipt("31");
    payload["DetallesItems"]["Item"][0]["DescuentoMonto"] = json!("1500");
    payload["DetallesItems"]["Item"][0]["TablaSubDescuento"] =
        json!({"SubDescuento": [{"TipoSubDescuento": "$", "MontoSubDescuento": "1500"}]});
    let found = findings("31", &payload);
    let told = found.iter().find(|violation| violation.code == "CALCULO-02").unwrap();
    assert_eq!(told.path.join("/"), "DetallesItems/Item/0/MontoItem");
    assert!(
        told.message.en.starts_with("MontoItem would be -500")
            && told.message.en.contains("exceed what they reduce by 500"),
        "{}",
        told.message.en
    );
}

#[test]
fn c7_a_fraction_where_a_tax_has_a_fixed_rate_is_refused() {
    let mut payload = receipt("31");
    payload["DetallesItems"]["Item"][0]["TablaImpuestoAdicional"] =
        json!({"ImpuestoAdicional": [{"TipoImpuesto": "001"}]});
    payload["Encabezado"]["Totales"] = json!({
        "ImpuestosAdicionales": {"ImpuestoAdicional": [{"TipoImpuesto": "001", "TasaImpuestoAdicional": "0.10"}]}
    });
    let found = findings("31", &payload);
    let told = found.iter().find(|violation| violation.code == "IMPUESTO-08").unwrap();
    assert_eq!(told.expected.as_deref(), Some("10"));
    assert_eq!(
        told.message.en,
        "the rate of tax 001 (Propina Legal) is fixed: write 10, in percent, not 0.10"
    );
    payload["Encabezado"]["Totales"]["ImpuestosAdicionales"]["ImpuestoAdicional"][0]["TasaImpuestoAdicional"] =
        json!("10");
    assert!(
        findings("31", &payload)
            .iter()
            .all(|violation| violation.code != "IMPUESTO-08")
    );
}

#[test]
fn c8_an_inverted_rate_is_told_once_with_the_right_one() {
    let mut payload = receipt("31");
    payload["Encabezado"]["OtraMoneda"] =
        json!({"TipoMoneda": "USD", "TipoCambio": "0.0171", "MontoTotalOtraMoneda": "20.18"});
    let found = findings("31", &payload);
    let told: Vec<_> = found
        .iter()
        .filter(|violation| violation.code.starts_with("MONEDA-"))
        .map(|violation| (violation.code, violation.expected.as_deref()))
        .collect();
    assert_eq!(told, [("MONEDA-04", Some("58.4795"))]);
}

#[test]
fn c9_a_date_of_the_year_before_is_told_in_tests_and_left_alone_in_certification() {
    let mut payload = receipt("31");
    set(&mut payload, at(EMISOR, "FechaEmision"), json!("23-10-2025"));
    let found = findings("31", &payload);
    let told = found.iter().find(|violation| violation.code == "FECHA-01").unwrap();
    assert_eq!(told.expected.as_deref(), Some("23-10-2026"));
    let node = Node::parse(&serde_json::to_vec(&payload).unwrap()).unwrap();
    let (draft, _) = Draft::read("31".parse().unwrap(), &node, Amounts::Scaled).unwrap();
    let rates = IscRates::of(Environment::CerteCF);
    let today = "27-11-2026".parse().unwrap();
    let (_, told) = judge(draft, Environment::CerteCF, today, &rates, OnConditional::Refuse).unwrap();
    assert!(told.iter().all(|violation| violation.code != "FECHA-01"), "{told:?}");
}

#[test]
fn p16_a_receipt_dated_a_month_back_is_told_in_tests_and_in_production() {
    let mut payload = receipt("31");
    set(&mut payload, at(EMISOR, "FechaEmision"), json!("27-10-2026"));
    let node = Node::parse(&serde_json::to_vec(&payload).unwrap()).unwrap();
    for (environment, is_told) in [
        (Environment::TesteCF, true),
        (Environment::Ecf, true),
        (Environment::CerteCF, false),
    ] {
        let (draft, _) = Draft::read("31".parse().unwrap(), &node, Amounts::Scaled).unwrap();
        let rates = IscRates::of(environment);
        let today = "27-11-2026".parse().unwrap();
        let (_, told) = judge(draft, environment, today, &rates, OnConditional::Refuse).unwrap();
        let told = told.iter().find(|violation| violation.code == "EMISOR-02");
        assert_eq!(told.is_some(), is_told, "{environment}");
        if let Some(told) = told {
            assert_eq!(
                told.message.en,
                "FechaEmision 27-10-2026 is 31 days ago: a receipt is due within 72 hours of its issue"
            );
            assert_eq!(told.grade, Grade::Notice);
        }
    }
}

#[test]
fn c13_a_late_replacement_of_a_contingency_receipt_names_the_terms() {
    for (modified, expected) in [
        ("28-10-2026", None),
        (
            "27-10-2026",
            Some("replaced in time only if the contingency ended at most 30 days ago"),
        ),
        (
            "13-10-2026",
            Some("replaced in time only if the contingency ended at most 30 days ago"),
        ),
        ("12-10-2026", Some("46 days old, more than the 45 that the terms allow")),
        ("19-08-2026", Some("100 days old, more than the 45")),
        ("23-10-2025", Some("400 days old, more than the 45")),
    ] {
        let mut payload = receipt("31");
        payload["InformacionReferencia"] =
            json!({"NCFModificado": "B0100000009", "FechaNCFModificado": modified, "CodigoModificacion": "4"});
        let found = findings("31", &payload);
        let told = found.iter().find(|violation| violation.code == "REFERENCIA-15");
        assert_eq!(
            told.is_some_and(|told| told.message.en.contains(expected.unwrap())),
            expected.is_some(),
            "{modified}: {told:?}"
        );
    }
}
