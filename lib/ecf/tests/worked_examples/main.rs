//! The arithmetic cases of the reference, each exact to the cent, and some cases of ours that need no reference.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod receipt;

use std::fs;
use std::path::Path;

use ecf::totals::{Computed, Tolerance, indicador_nota_credito};
use ecf::{Document, Fecha, ReceiptType};
use serde_json::{Value, json};

use receipt::{completed, payload, receipt_type};

const GROUPS: [&str; 6] = ["W", "R", "O", "T", "D", "P"];

/// The files of the reference, with the number of their cases.
const FILES: [(&str, usize); 2] = [
    ("worked-examples.json", 40 + 4 + 3 + 7 + 4 + 1),
    ("worked-examples-2026.json", 1 + 1),
];

#[test]
fn every_worked_example_of_the_reference_comes_out_to_the_cent() {
    for (name, expected) in FILES {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/reference/vectors");
        let Ok(text) = fs::read(file.join(name)) else {
            eprintln!("skipped: {name} of the reference (../shared is not there)");
            continue;
        };
        let examples: Value = serde_json::from_slice(&text).unwrap();
        let groups = examples.as_object().unwrap().keys().map(String::as_str);
        assert!(
            groups
                .into_iter()
                .all(|group| group == "comment" || GROUPS.contains(&group)),
            "{name} has a group that is not tried"
        );
        let mut failed = Vec::new();
        let mut tried = 0;
        for group in GROUPS {
            for case in examples[group].as_array().into_iter().flatten() {
                tried += 1;
                let told = match group {
                    "T" => tolerance(case),
                    "D" => thirty_days(case),
                    _ => differences(case, &examples),
                };
                failed.extend(
                    told.into_iter()
                        .map(|told| format!("{}: {told}", case["id"].as_str().unwrap())),
                );
            }
        }
        assert!(failed.is_empty(), "{name}: {failed:#?}");
        assert_eq!(tried, expected, "{name}");
    }
}

/// Our own cases: input as in the reference, and the expected result.
#[test]
fn cases_of_our_own_come_out_to_the_cent() {
    let line = |indicador: u32, quantity: &str, price: &str| json!({"IndicadorFacturacion": indicador, "CantidadItem": quantity, "PrecioUnitarioItem": price});
    let with = |mut line: Value, more: Value| {
        line.as_object_mut()
            .unwrap()
            .append(&mut more.as_object().unwrap().clone());
        line
    };
    let beer = json!({"TipoImpuesto": ["006", "023"], "CantidadReferencia": "24", "Subcantidad": "0.355", "GradosAlcohol": "5", "PrecioUnitarioReferencia": "65.00"});
    let cases = [
        (
            "prices with ITBIS included neither gain nor lose a cent",
            json!({"IndicadorMontoGravado": 1, "Item": [line(1, "3", "33.33"), line(2, "1", "57.99"), line(4, "1", "10")]}),
            json!({"MontoGravadoI1": "84.74", "MontoGravadoI2": "49.99", "MontoGravadoTotal": "134.73", "MontoExento": "10.00", "TotalITBIS1": "15.25", "TotalITBIS2": "8.00", "TotalITBIS": "23.25", "MontoTotal": "167.98"}),
        ),
        (
            "percentages are of price times quantity, each rounded once",
            json!({"Item": [with(line(1, "3", "1.6667"), json!({"SubDescuento": [{"TipoSubDescuento": "%", "SubDescuentoPorcentaje": "10"}, {"TipoSubDescuento": "%", "SubDescuentoPorcentaje": "10"}], "SubRecargo": [{"TipoSubRecargo": "$", "MontoSubRecargo": "1"}]}))]}),
            json!({"MontoGravadoI1": "5.00", "TotalITBIS1": "0.90", "MontoTotal": "5.90", "Item": [{"MontoItem": "5.00", "DescuentoMonto": "1.00", "RecargoMonto": "1.00", "MontoSubDescuento": ["0.50", "0.50"]}]}),
        ),
        (
            "beer at the rate of the test environments",
            json!({"Item": [with(line(1, "2", "1615"), beer.clone())]}),
            json!({"MontoGravadoI1": "3230.00", "TotalITBIS1": "713.04", "MontoTotal": "4674.36", "MontoImpuestoAdicional": "731.32"}),
        ),
        (
            "intermediate results of the ad valorem tax are not rounded",
            json!({"Item": [with(line(1, "20", "100"), json!({"TipoImpuesto": ["019", "036"], "CantidadReferencia": "1", "PrecioUnitarioReferencia": "200"}))], "TasaImpuestoAdicional": {"019": "25.86"}}),
            json!({"MontoImpuestoAdicional": "995.97", "ImpuestosAdicionales": [{"TipoImpuesto": "019", "TasaImpuestoAdicional": "25.86", "MontoImpuestoSelectivoConsumoEspecifico": "517.20"}, {"TipoImpuesto": "036", "TasaImpuestoAdicional": "20.00", "MontoImpuestoSelectivoConsumoAdvalorem": "478.77"}]}),
        ),
        (
            "under Norma 10-07 lines without the two taxes are divided by 1.18",
            json!({"IndicadorMontoGravado": 1, "Item": [with(line(1, "1", "130"), json!({"TipoImpuesto": ["002", "004"]})), line(1, "1", "118")], "DescuentoORecargo": [{"TipoAjuste": "D", "IndicadorFacturacionDescuentooRecargo": 1, "TipoValor": "$", "MontoDescuentooRecargo": "20", "IndicadorNorma1007": 1}]}),
            json!({"MontoGravadoI1": "200.00", "TotalITBIS1": "36.00", "MontoImpuestoAdicional": "12.00", "MontoTotal": "248.00", "ValorPagar": "228.00"}),
        ),
        (
            "code 005 knows no division",
            json!({"IndicadorMontoGravado": 1, "Item": [with(line(1, "1", "118"), json!({"TipoImpuesto": ["005"]}))]}),
            json!({"MontoGravadoI1": "100.00", "TotalITBIS1": "18.00", "MontoImpuestoAdicional": "20.06", "MontoTotal": "138.06"}),
        ),
        (
            "lines outside the invoice pay no tax",
            json!({"Item": [with(line(0, "1", "50"), json!({"TipoImpuesto": ["001"]})), line(3, "1", "8")]}),
            json!({"MontoGravadoI3": "8.00", "TotalITBIS3": "0.00", "TotalITBIS": "0.00", "MontoTotal": "8.00", "MontoNoFacturable": "50.00", "MontoPeriodo": "58.00"}),
        ),
    ];
    for (name, input, expected) in cases {
        let case = json!({"id": name, "input": input, "expect": expected});
        assert_eq!(differences(&case, &Value::Null), [] as [String; 0], "{name}");
    }
}

#[test]
fn either_rounding_of_the_itbis_is_accepted() {
    let case = json!({"input": {"IndicadorMontoGravado": 1, "Item": [{"IndicadorFacturacion": 1, "CantidadItem": "1", "PrecioUnitarioItem": "100"}]}, "expect": {}});
    let (_, computed) = completed(&payload(&case, &Value::Null), ReceiptType::E31);
    let accepted: Vec<String> = computed
        .accepted(|totales| totales.monto_total.as_ref())
        .map(ToString::to_string)
        .collect();
    assert_eq!(accepted, ["100.00", "100.01"]);
    let accepted = computed.accepted(|totales| totales.monto_gravado_i1.as_ref()).count();
    assert_eq!(accepted, 1);
}

#[test]
fn the_thirtieth_day_is_still_within_the_thirty_days() {
    for (modified, issued, code) in [
        ("28-02-2024", "29-03-2024", "0"),
        ("28-02-2024", "30-03-2024", "1"),
        ("01-05-2026", "01-05-2026", "0"),
    ] {
        let day = |text: &str| text.parse::<Fecha>().unwrap();
        assert_eq!(
            indicador_nota_credito(day(issued), day(modified)).code(),
            code,
            "{modified} {issued}"
        );
    }
}

#[test]
fn tolerances_include_their_limit() {
    let amount = |text: &str| text.parse::<ecf::Monto>().unwrap().value();
    assert!(Tolerance::LINE.covers(amount("11.00"), amount("10.00")));
    assert!(!Tolerance::LINE.covers(amount("8.99"), amount("10.00")));
    assert!(Tolerance::of_header(3).covers(amount("97.00"), amount("100.00")));
    assert!(!Tolerance::of_header(3).covers(amount("103.01"), amount("100.00")));
}

fn tolerance(case: &Value) -> Vec<String> {
    let (input, expect) = (&case["input"], &case["expect"]);
    let amount = |value: &Value| value.as_str().unwrap().parse::<ecf::Monto>().unwrap().value();
    let (given, exact, tolerance) = match input.get("lines") {
        Some(lines) => {
            let tolerance = Tolerance::of_header(lines.as_u64().unwrap() as usize);
            assert_eq!(tolerance.limit(), amount(&expect["tolerance"]));
            (
                amount(&input["MontoTotal_stated"]),
                amount(&input["MontoTotal_exact"]),
                tolerance,
            )
        }
        None => {
            let payload = payload(
                &json!({"input": {"Item": [{"IndicadorFacturacion": 4, "CantidadItem": input["CantidadItem"], "PrecioUnitarioItem": input["PrecioUnitarioItem"], "MontoItem": input["MontoItem_stated"]}]}, "expect": {}}),
                &Value::Null,
            );
            let (_, computed) = completed(&payload, ReceiptType::E31);
            let exact = computed.lines[0].monto_item.as_ref().unwrap().value();
            assert_eq!(exact, amount(&expect["MontoItem_exact"]));
            (amount(&input["MontoItem_stated"]), exact, Tolerance::LINE)
        }
    };
    let mut told = Vec::new();
    if (given - exact).abs() != amount(&expect["difference"]) {
        told.push(format!("difference {}", given - exact));
    }
    if tolerance.covers(given, exact) != expect["within"].as_bool().unwrap() {
        told.push(format!("{given} against {exact}"));
    }
    told
}

fn thirty_days(case: &Value) -> Vec<String> {
    let day = |name: &str| case["input"][name].as_str().unwrap().parse::<Fecha>().unwrap();
    let indicator = indicador_nota_credito(day("FechaEmision"), day("FechaNCFModificado"));
    let expected = case["expect"]["IndicadorNotaCredito"].to_string();
    (indicator.code() != expected)
        .then(|| format!("{indicator} instead of {expected}"))
        .into_iter()
        .collect()
}

/// The differences between the completed receipt of a case and the expectation, alternatives included.
fn differences(case: &Value, examples: &Value) -> Vec<String> {
    let payload = payload(case, examples);
    let receipt_type = receipt_type(case);
    let (document, computed) = completed(&payload, receipt_type);
    let written = String::from_utf8(document.to_xml()).unwrap();
    let mut told = Vec::new();
    let items = elements(&written, "Item");
    for (field, expected) in case["expect"].as_object().unwrap() {
        match field.as_str() {
            "Item" => {
                for (place, (line, item)) in expected.as_array().unwrap().iter().zip(&items).enumerate() {
                    for (field, expected) in line.as_object().unwrap() {
                        told.extend(differs(item, field, expected).map(|told| format!("line {place} {told}")));
                    }
                }
            }
            "Pagina" => {
                for (page, written) in expected.as_array().unwrap().iter().zip(elements(&written, "Pagina")) {
                    for (field, expected) in page.as_object().unwrap() {
                        told.extend(differs(written, field, expected));
                    }
                }
            }
            "ImpuestosAdicionales" => {
                let list = elements(&written, "ImpuestosAdicionales").concat();
                let entries = elements(&list, "ImpuestoAdicional");
                let expected = expected.as_array().unwrap();
                if entries.len() != expected.len() {
                    told.push(format!("{} additional taxes", entries.len()));
                }
                for (tax, entry) in expected.iter().zip(entries) {
                    for (field, expected) in tax.as_object().unwrap() {
                        told.extend(differs(entry, field, expected));
                    }
                }
            }
            // Optional fields, which are always computed but written only when they add information.
            "MontoPeriodo" | "ValorPagar" => {
                let amounts = &computed.totales;
                let amount = if field == "ValorPagar" {
                    &amounts.valor_pagar
                } else {
                    &amounts.monto_periodo
                };
                if amount.as_ref().unwrap().to_string() != expected.as_str().unwrap() {
                    told.push(format!("{field} {amount:?}"));
                }
            }
            "cash_to_pay_informative" => {
                let totales = &document.encabezado.totales;
                let value = |amount: &Option<ecf::Monto>| amount.as_ref().map(ecf::Monto::value).unwrap_or_default();
                let cash = value(&totales.monto_total)
                    - value(&totales.total_itbis_retenido)
                    - value(&totales.total_isr_retencion);
                if cash.to_string() != expected.as_str().unwrap() {
                    told.push(format!("cash {cash}"));
                }
            }
            _ => told.extend(differs(&written, field, expected)),
        }
    }
    // A case that lists totals lists all of them.
    let expect = &case["expect"];
    let partial = ["MontoItem", "MontoTotalOtraMoneda", "Pagina"];
    if expect.get("MontoTotal").is_some() && partial.iter().all(|field| expect.get(field).is_none()) {
        for field in [
            "MontoGravadoI1",
            "MontoGravadoI2",
            "MontoGravadoI3",
            "MontoExento",
            "TotalITBIS1",
            "TotalITBIS2",
            "TotalITBIS3",
            "MontoImpuestoAdicional",
            "MontoNoFacturable",
            "TotalITBISRetenido",
            "TotalISRRetencion",
        ] {
            if expect.get(field).is_none() && written.contains(&format!("<{field}>")) {
                told.push(format!("{field} is there"));
            }
        }
    }
    if let Some(alternative) = case.get("alternative_literal_rounding") {
        let literal = literal_totals(&computed);
        for (field, expected) in alternative.as_object().unwrap() {
            told.extend(differs(&literal, field, expected).map(|told| format!("alternative {told}")));
        }
    }
    told
}

/// The totals with literal rounding, as XML.
fn literal_totals(computed: &Computed) -> String {
    let mut document = Document::default();
    document.encabezado.totales = computed.literal.clone();
    String::from_utf8(document.to_xml()).unwrap()
}

/// The contents of all elements with this name.
fn elements<'x>(xml: &'x str, name: &str) -> Vec<&'x str> {
    let (start, end) = (format!("<{name}>"), format!("</{name}>"));
    xml.split(&start)
        .skip(1)
        .map(|rest| rest.split(&end).next().unwrap())
        .collect()
}

fn differs(xml: &str, field: &str, expected: &Value) -> Option<String> {
    let written = elements(xml, field);
    let expected: Vec<String> = match expected {
        Value::Array(list) => list.iter().map(|one| one.as_str().unwrap().to_owned()).collect(),
        Value::String(one) => vec![one.clone()],
        number => vec![number.to_string()],
    };
    let same = written.len() >= expected.len()
        && written.iter().zip(&expected).all(|(written, expected)| {
            written == expected || written.parse::<ecf::Precio>().ok() == expected.parse::<ecf::Precio>().ok()
        });
    (!same).then(|| format!("{field}: {written:?} instead of {expected:?}"))
}
