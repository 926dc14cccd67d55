//! Mistakes whose cause is one field: a finding names that field, and its effects are reported after it or not at all.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use ecf::rules::{OnConditional, judge};
use ecf::totals::IscRates;
use ecf::{Amounts, Draft, Environment, Grade, Node, Violation};
use serde_json::{Value, json};

/// The findings that stop the receipt, or the notices if it passes.
fn judged(ecf_type: u32, payload: &Value, policy: OnConditional) -> Result<Vec<Violation>, Vec<Violation>> {
    let node = Node::parse(payload.to_string().as_bytes()).unwrap();
    let rates = IscRates::of(Environment::TesteCF);
    let (draft, _) = Draft::read(ecf_type.to_string().parse().unwrap(), &node, Amounts::Scaled)?;
    let today = "27-11-2026".parse().unwrap();
    judge(draft, Environment::TesteCF, today, &rates, policy).map(|(_, told)| told)
}

fn refused(ecf_type: u32, payload: &Value) -> Vec<Violation> {
    judged(ecf_type, payload, OnConditional::Refuse).unwrap_err()
}

/// The notices on a receipt that passes, except those about computed amounts.
fn told(ecf_type: u32, payload: &Value) -> Vec<Violation> {
    let mut told = judged(ecf_type, payload, OnConditional::Refuse).unwrap_or_else(|found| panic!("{found:#?}"));
    told.retain(|violation| violation.code != "CALCULO-10");
    told
}

fn invoice(indicator: Option<u32>, lines: Value, totales: Value) -> Value {
    json!({
        "Encabezado": {
            "IdDoc": {"IndicadorMontoGravado": indicator, "TipoIngresos": "01", "TipoPago": 1},
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

fn line(indicator: u32, price: &str, more: Value) -> Value {
    let mut line = json!({
        "IndicadorFacturacion": indicator, "NombreItem": "Artículo", "IndicadorBienoServicio": 1, "CantidadItem": "1",
        "PrecioUnitarioItem": price
    });
    line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    line
}

/// Totals of lines at 18 %.
fn totals(base: &str, itbis: &str, total: &str) -> Value {
    json!({
        "MontoGravadoTotal": base, "MontoGravadoI1": base, "ITBIS1": 18, "TotalITBIS": itbis, "TotalITBIS1": itbis,
        "MontoTotal": total
    })
}

fn codes(found: &[Violation]) -> Vec<&str> {
    found.iter().map(|violation| violation.code).collect()
}

fn paths(found: &[Violation]) -> Vec<String> {
    found.iter().map(|violation| violation.path.join("/")).collect()
}

const INDICATOR: &str = "Encabezado/IdDoc/IndicadorMontoGravado";

/// The only finding of a receipt whose only mistake is the indicator.
fn reversed(name: &str, ecf_type: u32, payload: &Value) -> Violation {
    let found = refused(ecf_type, payload);
    assert_eq!(paths(&found), [INDICATOR], "{name}: {found:#?}");
    let mut right = payload.clone();
    let expected: u32 = found[0].expected.as_ref().unwrap().parse().unwrap();
    right["Encabezado"]["IdDoc"]["IndicadorMontoGravado"] = json!(expected);
    assert_eq!(told(ecf_type, &right), [], "{name}: the advice makes it right");
    found[0].clone()
}

#[test]
fn c4_the_wrong_indicator_is_named_in_one_finding_whatever_it_makes_wrong() {
    let line18 = |price| line(1, price, json!({}));
    let two_rates = json!({
        "MontoGravadoTotal": "850.00", "MontoGravadoI1": "600.00", "MontoGravadoI2": "250.00", "MontoExento": "151.00",
        "ITBIS1": 18, "ITBIS2": 16, "TotalITBIS": "148.00", "TotalITBIS1": "108.00", "TotalITBIS2": "40.00",
        "MontoTotal": "1149.00"
    });
    let propina = json!({"TablaImpuestoAdicional": [{"TipoImpuesto": "001"}]});
    let with_propina = json!({
        "MontoGravadoTotal": "1000.00", "MontoGravadoI1": "1000.00", "ITBIS1": 18, "TotalITBIS": "180.00",
        "TotalITBIS1": "180.00", "MontoImpuestoAdicional": "100.00", "MontoTotal": "1280.00",
        "ImpuestosAdicionales": [
            {"TipoImpuesto": "001", "TasaImpuestoAdicional": "10", "OtrosImpuestosAdicionales": "100.00"}
        ]
    });
    let discount = json!({"TablaSubDescuento": [{"TipoSubDescuento": "%", "SubDescuentoPorcentaje": "10"}]});
    let whole = totals("1000.00", "180.00", "1180.00");
    for (name, indicator, lines, totales) in [
        (
            "net prices marked as included",
            1,
            json!([line18("1000")]),
            whole.clone(),
        ),
        (
            "included prices marked as net",
            0,
            json!([line18("1180")]),
            whole.clone(),
        ),
        (
            "only MontoTotal is given",
            1,
            json!([line18("1000")]),
            json!({"MontoTotal": "1180.00"}),
        ),
        (
            "only the base is given",
            0,
            json!([line18("1180")]),
            json!({"MontoGravadoI1": "1000.00"}),
        ),
        (
            "several rates, included",
            0,
            json!([
                line(1, "708", json!({})),
                line(2, "290", json!({})),
                line(4, "151", json!({}))
            ]),
            two_rates.clone(),
        ),
        (
            "several rates, net",
            1,
            json!([
                line(1, "600", json!({})),
                line(2, "250", json!({})),
                line(4, "151", json!({}))
            ]),
            two_rates,
        ),
        (
            "a discount on the line, included",
            0,
            json!([line(1, "1311.1111", discount.clone())]),
            whole.clone(),
        ),
        (
            "a discount on the line, net",
            1,
            json!([line(1, "1111.1111", discount)]),
            whole.clone(),
        ),
        (
            "an additional tax, included",
            0,
            json!([line(1, "1180", propina.clone())]),
            with_propina.clone(),
        ),
        (
            "an additional tax, net",
            1,
            json!([line(1, "1000", propina)]),
            with_propina,
        ),
    ] {
        let found = reversed(name, 31, &invoice(Some(indicator), lines, totales));
        assert_eq!(
            (found.code, found.given, found.expected),
            (
                "IDDOC-14",
                Some(indicator.to_string()),
                Some((1 - indicator).to_string())
            ),
            "{name}"
        );
    }
}

#[test]
fn c4_the_wrong_indicator_is_named_with_discounts_of_the_receipt_and_with_other_currency() {
    for (indicator, price) in [(0, "1180"), (1, "1000")] {
        // 8 % of the net 1000.00. The amount of the entry is given, as are the totals.
        let totales = totals("920.00", "165.60", "1085.60");
        let mut payload = invoice(Some(indicator), json!([line(1, price, json!({}))]), totales);
        payload["DescuentosORecargos"] = json!([{
            "TipoAjuste": "D", "TipoValor": "%", "ValorDescuentooRecargo": "8", "MontoDescuentooRecargo": "80.00",
            "IndicadorFacturacionDescuentooRecargo": 1
        }]);
        reversed("an entry in percent", 31, &payload);

        let totales = totals("60000.00", "10800.00", "70800.00");
        let price = if indicator == 0 { "70800" } else { "60000" };
        let mut payload = invoice(Some(indicator), json!([line(1, price, json!({}))]), totales);
        payload["Encabezado"]["OtraMoneda"] = json!({
            "TipoMoneda": "USD", "TipoCambio": "60.0000", "MontoGravadoTotalOtraMoneda": "1000.00",
            "MontoGravado1OtraMoneda": "1000.00", "TotalITBISOtraMoneda": "180.00", "TotalITBIS1OtraMoneda": "180.00",
            "MontoTotalOtraMoneda": "1180.00"
        });
        reversed("other currency", 31, &payload);
    }
}

/// Another rule asks for the indicator; the sums determine its value.
#[test]
fn c4_a_missing_indicator_is_asked_for_with_the_value_that_the_sums_tell() {
    let totales = totals("1000.00", "180.00", "1180.00");
    let found = reversed(
        "absent",
        31,
        &invoice(None, json!([line(1, "1180", json!({}))]), totales),
    );
    assert_eq!((found.code, found.expected.as_deref()), ("IDDOC-03", Some("1")));
    assert!(
        found
            .message
            .en
            .contains("with 0, MontoTotal would be 1392.40 instead of 1180.00"),
        "{}",
        found.message.en
    );
    // Norma 10-07 requires 1 in any case.
    let mut payload = invoice(
        Some(0),
        json!([line(
            1,
            "1300",
            json!({"TablaImpuestoAdicional": [{"TipoImpuesto": "002"}, {"TipoImpuesto": "004"}]})
        )]),
        json!({"MontoGravadoTotal": "1000.00", "MontoTotal": "1300.00", "ValorPagar": "1100.00"}),
    );
    payload["DescuentosORecargos"] = json!([{
        "TipoAjuste": "D", "IndicadorNorma1007": 1, "TipoValor": "$", "MontoDescuentooRecargo": "200.00",
        "IndicadorFacturacionDescuentooRecargo": 1
    }]);
    assert_eq!(reversed("Norma 10-07", 31, &payload).code, "DESCUENTO-08");
}

#[test]
fn c4_other_mistakes_are_told_beside_the_indicator_and_sums_that_stay_wrong_are_no_proof() {
    let mut payload = invoice(
        Some(1),
        json!([line(1, "1000", json!({}))]),
        totals("1000.00", "180.00", "1180.00"),
    );
    payload["Encabezado"]["IdDoc"]["TipoPago"] = json!(2);
    assert_eq!(codes(&refused(31, &payload)), ["IDDOC-14", "IDDOC-01"]);
    payload["Encabezado"]["Totales"]["MontoTotal"] = json!("1190.00");
    let found = refused(31, &payload);
    assert!(!codes(&found).contains(&"IDDOC-14"), "{found:#?}");
    assert!(codes(&found).contains(&"TOTALES-05"), "{found:#?}");
    // A mistyped total of a small receipt is closer to the other indicator, but base and ITBIS are right.
    let small = totals("5.00", "0.90", "4.80");
    let found = refused(31, &invoice(Some(0), json!([line(1, "5", json!({}))]), small));
    assert_eq!(codes(&found), ["TOTALES-05"]);
}

#[test]
fn c4_the_finding_has_the_grade_of_what_it_explains() {
    let net = invoice(
        Some(1),
        json!([line(1, "1000", json!({}))]),
        totals("1000.00", "180.00", "1180.00"),
    );
    let warnings = judged(31, &net, OnConditional::Warn).unwrap();
    let graded: Vec<_> = warnings
        .iter()
        .filter(|violation| violation.grade > Grade::Notice)
        .map(|violation| (violation.code, violation.grade))
        .collect();
    assert_eq!(graded, [("IDDOC-14", Grade::Conditional)]);
}

#[test]
fn c4_a_sum_says_which_numbers_it_was_compared_with() {
    let one = json!([line(1, "1000", json!({}))]);
    let message = |totales, code: &str| {
        let found = refused(31, &invoice(Some(0), one.clone(), totales));
        let found = found.into_iter().find(|violation| violation.code == code);
        found.unwrap().message.en
    };
    // The parts are right, but their sum is wrong.
    assert_eq!(
        message(totals("1000.00", "180.00", "1280.00"), "TOTALES-05"),
        "MontoTotal is not MontoGravadoTotal 1000.00 + TotalITBIS 180.00, as the lines give it, beyond the tolerance of \
         1: 1280.00 was given, 1180.00 is expected, the difference is -100.00"
    );
    // The sum matches its parts, but the parts do not match the lines.
    let off = totals("1100.00", "198.00", "1298.00");
    assert_eq!(
        message(off.clone(), "TOTALES-05"),
        "MontoTotal is MontoGravadoTotal 1100.00 + TotalITBIS 198.00 as given, but the lines give MontoGravadoTotal \
         1000.00 + TotalITBIS 180.00, beyond the tolerance of 1: 1298.00 was given, 1180.00 is expected, the difference \
         is -118.00"
    );
    let found = refused(31, &invoice(Some(0), one.clone(), off));
    assert_eq!(
        codes(&found),
        ["TOTALES-01", "TOTALES-02", "TOTALES-03", "TOTALES-03", "TOTALES-05"],
        "causes before effects"
    );
    // Neither the sum nor the parts match.
    assert_eq!(
        message(totals("1100.00", "198.00", "1400.00"), "TOTALES-05"),
        "MontoTotal is neither MontoGravadoTotal 1100.00 + TotalITBIS 198.00 = 1298.00 as given, nor what the lines \
         give, MontoGravadoTotal 1000.00 + TotalITBIS 180.00, beyond the tolerance of 1: 1400.00 was given, 1180.00 is \
         expected, the difference is -220.00"
    );
    // A missing sum is never described as given.
    let message = message(
        json!({"MontoGravadoI1": "1000.90", "TotalITBIS1": "180.90"}),
        "TOTALES-05",
    );
    assert!(
        message.contains("1181.80 was computed here, 1180.00 is expected"),
        "{message}"
    );
}

#[test]
fn c5_a_refusal_begins_with_the_line_that_is_its_cause() {
    let lines = json!([line(1, "1250", json!({"CantidadItem": "3", "MontoItem": "3751.00"}))]);
    let found = refused(31, &invoice(Some(0), lines, totals("3750.00", "675.00", "4425.00")));
    assert_eq!(codes(&found), ["LINEA-02", "TOTALES-05"]);
    assert_eq!(
        found.iter().map(|violation| violation.grade).collect::<Vec<_>>(),
        [Grade::Notice, Grade::Conditional]
    );
    assert!(
        found[1]
            .message
            .en
            .ends_with("it is right once MontoItem of line 1 is 3750.00"),
        "{}",
        found[1].message.en
    );
    // A line that stops the receipt explains all of it.
    let lines = json!([line(1, "1250", json!({"CantidadItem": "3", "MontoItem": "3800.00"}))]);
    let found = refused(31, &invoice(Some(0), lines, totals("3750.00", "675.00", "4425.00")));
    assert_eq!(codes(&found), ["LINEA-02"]);
    // A mistake in the quantity is not a fault of the totals.
    let lines = json!([
        line(1, "1250", json!({"CantidadItem": "4", "MontoItem": "3750.00"})),
        line(4, "10", json!({}))
    ]);
    let mut totales = totals("3750.00", "675.00", "4500.00");
    totales["MontoExento"] = json!("10.00");
    let found = refused(31, &invoice(Some(0), lines, totales));
    assert_eq!(codes(&found), ["LINEA-02", "TOTALES-05"]);
    assert_eq!(found[1].expected.as_deref(), Some("4435.00"));
}

#[test]
fn c5_a_refusal_carries_the_largest_differences_and_leaves_other_amounts_out() {
    let off = |cents: usize| line(4, "100", json!({"MontoItem": format!("100.{cents:02}")}));
    let lines: Vec<Value> = (1..=40).map(off).collect();
    let mut payload = invoice(
        None,
        json!(lines),
        json!({"MontoExento": "3900.00", "MontoTotal": "3900.00"}),
    );
    let found = refused(31, &payload);
    let carried: Vec<_> = found
        .iter()
        .filter(|violation| violation.grade == Grade::Notice)
        .collect();
    assert_eq!(carried.len(), 20);
    assert!(carried.iter().all(|violation| violation.code == "LINEA-02"));
    assert_eq!(carried[0].path[2], "20", "the larger half, in the order of the lines");
    assert_eq!(codes(&found)[20..], ["TOTALES-01", "TOTALES-05"]);
    // A finding that is not about amounts has no notices about amounts.
    payload["Encabezado"]["Totales"] = json!({});
    payload["Encabezado"]["IdDoc"]["TipoPago"] = json!(2);
    assert_eq!(codes(&refused(31, &payload)), ["IDDOC-01"]);
}

fn purchase(indicator: u32, retention: Value) -> Value {
    let service = json!({"IndicadorBienoServicio": 2, "Retencion": retention});
    let indicator_of_header = (indicator == 1).then_some(0);
    let mut payload = invoice(
        indicator_of_header,
        json!([line(indicator, "1000", service)]),
        json!({}),
    );
    payload["Encabezado"]["IdDoc"]["TipoIngresos"] = Value::Null;
    payload
}

#[test]
fn c2_no_itbis_is_withheld_from_an_exempt_line_and_never_more_than_there_is() {
    let retention = |itbis: &str, isr: &str| json!({"IndicadorAgenteRetencionoPercepcion": 1, "MontoITBISRetenido": itbis, "MontoISRRetenido": isr});
    let found = refused(41, &purchase(4, retention("100.00", "100.00")));
    let [exempt] = found.as_slice() else {
        panic!("{found:#?}")
    };
    assert_eq!(
        (
            exempt.code,
            exempt.path.last().map(String::as_str),
            exempt.expected.as_deref()
        ),
        ("RETENCION-09", Some("MontoITBISRetenido"), Some("0.00"))
    );
    assert_eq!(told(41, &purchase(4, retention("0.00", "100.00"))), []);
    assert_eq!(
        codes(&told(41, &purchase(1, retention("180.02", "100.00")))),
        ["RETENCION-10"]
    );
    assert_eq!(
        codes(&told(41, &purchase(1, retention("180.00", "1000.01")))),
        ["RETENCION-11"]
    );
    assert_eq!(told(41, &purchase(1, retention("180.00", "1000.00"))), []);
}

#[test]
fn c10_what_is_said_of_perception_is_what_happens() {
    let one = json!([line(1, "1000", json!({}))]);
    let payload = invoice(Some(0), one, json!({"TotalITBISPercepcion": "1.00"}));
    let found = told(31, &payload);
    assert_eq!(codes(&found), ["RETENCION-08"]);
    assert_eq!(
        found[0].message.en,
        "perception is not in force: TotalITBISPercepcion should be left out, and is written as given"
    );
    let node = Node::parse(payload.to_string().as_bytes()).unwrap();
    let (draft, _) = Draft::read("31".parse().unwrap(), &node, Amounts::Scaled).unwrap();
    let xml = String::from_utf8(draft.document().to_xml()).unwrap();
    assert!(
        xml.contains("<TotalITBISPercepcion>1.00</TotalITBISPercepcion>"),
        "{xml}"
    );
}

#[test]
fn c16_an_additional_tax_beyond_the_tolerance_is_refused_under_every_policy_and_says_so() {
    let telecom = line(1, "1000", json!({"TablaImpuestoAdicional": [{"TipoImpuesto": "002"}]}));
    let taxes = |amount: &str| {
        json!({"ImpuestosAdicionales": [
            {"TipoImpuesto": "002", "TasaImpuestoAdicional": "2", "OtrosImpuestosAdicionales": amount}
        ]})
    };
    for policy in [OnConditional::Warn, OnConditional::Refuse] {
        let found = judged(31, &invoice(Some(0), json!([telecom]), taxes("25.00")), policy).unwrap_err();
        assert_eq!(
            codes(&found),
            ["IMPUESTO-06"],
            "the sums were computed from the wrong tax"
        );
        assert!(
            found[0]
                .message
                .en
                .ends_with("; the authority rejects such a receipt, so it is refused with on_conditional=warn too"),
            "{}",
            found[0].message.en
        );
    }
    let found = told(31, &invoice(Some(0), json!([telecom]), taxes("20.50")));
    assert!(
        found
            .iter()
            .all(|violation| !violation.message.en.contains("on_conditional")),
        "{found:#?}"
    );
}

#[test]
fn c6_what_the_service_computes_is_not_asked_for() {
    let found = |line: Value| {
        let found = refused(31, &invoice(Some(0), json!([line]), json!({})));
        found
            .iter()
            .map(|violation| format!("{} {}", violation.code, violation.path.last().unwrap()))
            .collect::<Vec<_>>()
    };
    let beer = json!({
        "CantidadReferencia": "24", "PrecioUnitarioReferencia": "75",
        "TablaSubcantidad": [{"Subcantidad": "0.355", "CodigoSubcantidad": "15"}],
        "TablaImpuestoAdicional": [{"TipoImpuesto": "006"}, {"TipoImpuesto": "023"}]
    });
    assert_eq!(found(line(1, "1000", beer)), ["ISC-04 GradosAlcohol"]);
    let discount = json!({"TablaSubDescuento": [{"TipoSubDescuento": "%"}]});
    assert_eq!(found(line(1, "1000", discount)), ["LINEA-05 SubDescuentoPorcentaje"]);
    let mut payload = invoice(Some(0), json!([line(1, "1000", json!({}))]), json!({}));
    payload["DescuentosORecargos"] =
        json!([{"TipoAjuste": "D", "TipoValor": "%", "IndicadorFacturacionDescuentooRecargo": 1}]);
    assert_eq!(codes(&refused(31, &payload)), ["DESCUENTO-03"]);
    // A zero tax has no entry: the schema requires more than zero.
    let free = line(1, "0", json!({"TablaImpuestoAdicional": [{"TipoImpuesto": "002"}]}));
    assert_eq!(told(31, &invoice(Some(0), json!([free]), json!({}))), []);
    // Sums that cannot be computed are not compared.
    let without_price = line(1, "1000", json!({"PrecioUnitarioItem": null}));
    let found = refused(
        31,
        &invoice(Some(0), json!([without_price]), totals("1000.00", "180.00", "1180.00")),
    );
    assert_eq!(codes(&found), ["ESTRUCTURA-01"]);
}

#[test]
fn c6_the_sums_of_a_page_that_were_computed_are_no_second_mistake() {
    let lines = json!([line(1, "1000", json!({})), line(4, "300", json!({}))]);
    let mut payload = invoice(Some(0), lines, json!({}));
    payload["Encabezado"]["IdDoc"]["TotalPaginas"] = json!(2);
    payload["Paginacion"] = json!([
        {"PaginaNo": 1, "NoLineaDesde": 1, "NoLineaHasta": 1, "SubtotalMontoGravado1Pagina": "1100.00"},
        {"PaginaNo": 2, "NoLineaDesde": 2, "NoLineaHasta": 2}
    ]);
    let found = refused(31, &payload);
    assert_eq!(
        paths(&found)[0],
        "Paginacion/Pagina/0/SubtotalMontoGravado1Pagina",
        "{found:#?}"
    );
    assert!(
        codes(&found).iter().filter(|code| **code == "PAGINA-05").count() == 1,
        "{found:#?}"
    );
}

#[test]
fn c6_nothing_is_asked_for_that_the_type_forbids() {
    let excise = json!({"TablaImpuestoAdicional": [{"TipoImpuesto": "006"}, {"TipoImpuesto": "023"}]});
    let found = refused(44, &invoice(None, json!([line(4, "1000", excise)]), json!({})));
    assert_eq!(codes(&found), ["IMPUESTO-01", "IMPUESTO-01"]);
    // The group of the line is the cause; its totals are right after the correction.
    let mut petty = invoice(
        None,
        json!([line(1, "1000", json!({}))]),
        json!({"MontoExento": "1000.00", "MontoTotal": "1000.00"}),
    );
    petty["Encabezado"]["Comprador"] = Value::Null;
    petty["Encabezado"]["IdDoc"]["TipoIngresos"] = Value::Null;
    assert_eq!(codes(&refused(43, &petty)), ["LINEA-11"]);
}

#[test]
fn c6_no_finding_asks_for_an_indicator_that_the_type_does_not_have() {
    let propina = json!({"TablaImpuestoAdicional": [{"TipoImpuesto": "001"}]});
    let totals = json!({
        "MontoImpuestoAdicional": "42.37",
        "ImpuestosAdicionales": [
            {"TipoImpuesto": "001", "TasaImpuestoAdicional": "10", "OtrosImpuestosAdicionales": "42.37"}
        ]
    });
    // This sum includes the ITBIS.
    let mut payload = invoice(None, json!([line(1, "500.00", propina)]), totals);
    payload["Paginacion"] = json!([{"PaginaNo": 1, "NoLineaDesde": 1, "NoLineaHasta": 1}]);
    let found = refused(44, &payload);
    assert!(!paths(&found).iter().any(|path| path == INDICATOR), "{found:#?}");
}
