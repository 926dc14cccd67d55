//! The arithmetic against the worked examples of the reference, exact to the cent.

use std::{fmt::Write, path::PathBuf};

use rust_decimal::Decimal;
use serde_json::Value;

use super::*;

const TOTALES: [&str; 14] = [
    "MontoGravadoTotal",
    "MontoGravadoI1",
    "MontoGravadoI2",
    "MontoGravadoI3",
    "MontoExento",
    "ITBIS1",
    "ITBIS2",
    "ITBIS3",
    "TotalITBIS",
    "TotalITBIS1",
    "TotalITBIS2",
    "TotalITBIS3",
    "MontoImpuestoAdicional",
    "MontoTotal",
];

fn examples() -> Option<Vec<Value>> {
    let file = PathBuf::from(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../shared/reference/vectors/worked-examples.json"
    ));
    let Ok(text) = std::fs::read(file) else {
        eprintln!("skipped: the arithmetic of the judge against the worked examples (../shared is not there)");
        return None;
    };
    let all: Value = serde_json::from_slice(&text).expect("the examples are JSON");
    Some(all["W"].as_array().expect("group W is a list").clone())
}

/// `<name>value</name>`, or nothing.
fn leaf(out: &mut String, name: &str, value: &Value) {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    if !value.is_null() {
        write!(out, "<{name}>{text}</{name}>").expect("a string takes everything");
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// The discount or surcharge of a line: parts from the input, amounts from the expected values.
fn adjustment(out: &mut String, word: &str, item: &Value, expected: &Value) {
    let parts = list(&item[format!("Sub{word}")]);
    leaf(out, &format!("{word}Monto"), &expected[format!("{word}Monto")]);
    if parts.is_empty() {
        return;
    }
    write!(out, "<TablaSub{word}>").expect("a string takes everything");
    for (index, part) in parts.iter().enumerate() {
        write!(out, "<Sub{word}>").expect("a string takes everything");
        leaf(
            out,
            &format!("Sub{word}Porcentaje"),
            &part[format!("Sub{word}Porcentaje")],
        );
        leaf(
            out,
            &format!("MontoSub{word}"),
            &expected[format!("MontoSub{word}")][index],
        );
        write!(out, "</Sub{word}>").expect("a string takes everything");
    }
    write!(out, "</TablaSub{word}>").expect("a string takes everything");
}

fn item(out: &mut String, item: &Value, expected: &Value) {
    out.push_str("<Item>");
    for name in [
        "NumeroLinea",
        "IndicadorFacturacion",
        "CantidadItem",
        "UnidadMedida",
        "CantidadReferencia",
    ] {
        leaf(out, name, &item[name]);
    }
    if !item["Subcantidad"].is_null() {
        out.push_str("<TablaSubcantidad><SubcantidadItem>");
        leaf(out, "Subcantidad", &item["Subcantidad"]);
        out.push_str("<CodigoSubcantidad>1</CodigoSubcantidad></SubcantidadItem></TablaSubcantidad>");
    }
    for name in ["GradosAlcohol", "PrecioUnitarioReferencia", "PrecioUnitarioItem"] {
        leaf(out, name, &item[name]);
    }
    adjustment(out, "Descuento", item, expected);
    adjustment(out, "Recargo", item, expected);
    out.push_str("<TablaImpuestoAdicional>");
    for code in list(&item["TipoImpuesto"]) {
        out.push_str("<ImpuestoAdicional>");
        leaf(out, "TipoImpuesto", code);
        out.push_str("</ImpuestoAdicional>");
    }
    out.push_str("</TablaImpuestoAdicional>");
    leaf(out, "MontoItem", &expected["MontoItem"]);
    out.push_str("</Item>");
}

/// A document with the example's lines and its expected totals.
fn document(example: &Value) -> Element {
    let (input, expected) = (&example["input"], &example["expect"]);
    let mut out = String::from("<ECF><Encabezado><IdDoc>");
    leaf(&mut out, "IndicadorMontoGravado", &input["IndicadorMontoGravado"]);
    out.push_str("</IdDoc><Totales>");
    for name in TOTALES {
        match (name, &expected[name.replace("ITBIS", "MontoGravadoI")]) {
            ("ITBIS1", base) if !base.is_null() => leaf(&mut out, name, &Value::from(18)),
            ("ITBIS2", base) if !base.is_null() => leaf(&mut out, name, &Value::from(16)),
            ("ITBIS3", base) if !base.is_null() => leaf(&mut out, name, &Value::from(0)),
            _ => leaf(&mut out, name, &expected[name]),
        }
    }
    leaf(&mut out, "MontoNoFacturable", &expected["MontoNoFacturable"]);
    out.push_str("<ImpuestosAdicionales>");
    for tax in list(&expected["ImpuestosAdicionales"]) {
        out.push_str("<ImpuestoAdicional>");
        tax.as_object()
            .into_iter()
            .flatten()
            .for_each(|(name, value)| leaf(&mut out, name, value));
        out.push_str("</ImpuestoAdicional>");
    }
    out.push_str("</ImpuestosAdicionales></Totales></Encabezado><DetallesItems>");
    for (line, expected) in list(&input["Item"]).iter().zip(list(&expected["Item"])) {
        item(&mut out, line, expected);
    }
    out.push_str("</DetallesItems><DescuentosORecargos>");
    for (index, entry) in list(&input["DescuentoORecargo"]).iter().enumerate() {
        out.push_str("<DescuentoORecargo>");
        for name in [
            "TipoAjuste",
            "IndicadorNorma1007",
            "IndicadorFacturacionDescuentooRecargo",
        ] {
            leaf(&mut out, name, &entry[name]);
        }
        leaf(
            &mut out,
            "MontoDescuentooRecargo",
            &expected["MontoDescuentooRecargo"][index],
        );
        out.push_str("</DescuentoORecargo>");
    }
    out.push_str("</DescuentosORecargos></ECF>");
    Element::parse(out.as_bytes()).expect("the built document is XML")
}

fn findings(document: &Element, tolerance: Decimal) -> Findings {
    let mut findings = Findings::default();
    let receipt = amounts::Receipt::read(document).expect("the amounts are in range");
    lines::check(&receipt, 31, &mut findings).expect("the amounts are in range");
    totals::check_within(&receipt, 31, tolerance, &mut findings).expect("the amounts are in range");
    findings
}

#[test]
fn the_worked_examples_come_out_exact_to_the_cent() {
    let Some(examples) = examples() else { return };
    assert_eq!(examples.len(), 40);
    for example in examples {
        let found = findings(&document(&example), Decimal::ZERO);
        assert!(
            found.errors.is_empty() && found.remarks.is_empty(),
            "{}: {found:?}",
            example["id"]
        );
    }
}

#[test]
fn an_amount_that_is_off_by_more_than_the_tolerance_is_found() {
    let Some(examples) = examples() else { return };
    for mut example in examples {
        let id = example["id"].to_string();
        let total: Decimal = example["expect"]["MontoTotal"]
            .as_str()
            .expect("a text")
            .parse()
            .expect("a decimal");
        example["expect"]["MontoTotal"] = Value::from((total + Decimal::new(101, 2)).to_string());
        let found = findings(&document(&example), Decimal::ONE);
        assert_eq!((found.errors.len(), found.remarks.len()), (0, 1), "{id}: {found:?}");
    }
}

#[test]
fn amounts_too_large_to_multiply_end_the_arithmetic_without_a_panic() {
    let digits = "9999999999999999.99";
    let text = format!(
        "<ECF><Encabezado><IdDoc/><Totales><MontoTotal>1</MontoTotal></Totales></Encabezado><DetallesItems><Item>\
         <NumeroLinea>1</NumeroLinea><IndicadorFacturacion>1</IndicadorFacturacion>\
         <CantidadItem>{digits}</CantidadItem><PrecioUnitarioItem>{digits}</PrecioUnitarioItem>\
         <MontoItem>1</MontoItem></Item></DetallesItems></ECF>"
    );
    let document = Element::parse(text.as_bytes()).expect("the built document is XML");
    assert_eq!(arithmetic(&document, 31, &mut Findings::default()), None);
}

/// A minimal credit sale: one line that is not billed and one line with a tax on alcohol.
fn bare(tipo: u8) -> Element {
    let line = |number: u8, indicator: &str, taxes: &str| {
        format!(
            "<Item><NumeroLinea>{number}</NumeroLinea><IndicadorFacturacion>{indicator}</IndicadorFacturacion><CantidadItem>1</CantidadItem>\
             <PrecioUnitarioItem>100</PrecioUnitarioItem>{taxes}<MontoItem>100</MontoItem></Item>"
        )
    };
    let billed = match tipo {
        43 | 44 | 47 => "4",
        46 => "3",
        _ => "1",
    };
    let taxes = "<TablaImpuestoAdicional><ImpuestoAdicional><TipoImpuesto>006</TipoImpuesto></ImpuestoAdicional></TablaImpuestoAdicional>";
    let text = format!(
        "<ECF><Encabezado><IdDoc><TipoPago>2</TipoPago></IdDoc><Totales><ImpuestosAdicionales><ImpuestoAdicional><TipoImpuesto>006</TipoImpuesto>\
         <TasaImpuestoAdicional>700</TasaImpuestoAdicional></ImpuestoAdicional></ImpuestosAdicionales></Totales></Encabezado>\
         <DetallesItems>{}{}</DetallesItems></ECF>",
        line(1, "0", ""),
        line(2, billed, taxes)
    );
    Element::parse(text.as_bytes()).expect("the built document is XML")
}

#[test]
fn c1_nothing_is_demanded_that_the_type_does_not_have() {
    for tipo in structure::TYPES {
        let document = bare(tipo);
        let mut findings = Findings::default();
        header::check(&document, tipo, &mut findings);
        arithmetic(&document, tipo, &mut findings).expect("the amounts are in range");
        for Mensaje { valor, .. } in &findings.errors {
            let named = [
                "FechaLimitePago",
                "MontoNoFacturable",
                "TablaSubcantidad",
                "MontoExento",
                "MontoGravadoI1",
                "TotalITBIS",
            ];
            let named = named.into_iter().filter(|name| valor.contains(name));
            for name in named {
                assert!(structure::is_allowed(name, tipo), "type {tipo}: {valor}");
            }
        }
    }
}

#[test]
fn c1_the_last_day_to_pay_is_demanded_where_its_obligation_is_conditional() {
    for tipo in structure::TYPES {
        let mut findings = Findings::default();
        header::check(&bare(tipo), tipo, &mut findings);
        let is_demanded = findings
            .errors
            .iter()
            .any(|one| one.valor.starts_with("FechaLimitePago"));
        assert_eq!(is_demanded, !matches!(tipo, 43 | 47), "type {tipo}: {findings:?}");
    }
}
