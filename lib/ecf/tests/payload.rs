//! Real payloads: tolerated shapes with their notices, mistakes with their hints.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use ecf::{Amounts, Document, Draft, Encf, Grade, Node, ReceiptType, Violation, json_schema};
use proptest::prelude::*;
use serde_json::{Value, json};

/// A valid receipt of type 31.
fn invoice() -> Value {
    json!({
        "DetallesItems": {"Item": [{
            "MontoItem": 10000.0, "NombreItem": "Asesoría", "IndicadorFacturacion": 1, "IndicadorBienoServicio": "2",
            "CantidadItem": 1, "PrecioUnitarioItem": "10000"
        }]},
        "Encabezado": {
            "Totales": {"MontoTotal": 11800.0, "MontoGravadoTotal": 10000, "MontoGravadoI1": "10000.0", "ITBIS1": 18.0,
                        "TotalITBIS": 1800, "TotalITBIS1": 1800},
            "Comprador": {"RazonSocialComprador": "Cliente SRL", "RNCComprador": "198000012"},
            "Emisor": {"RNCEmisor": 199000013, "RazonSocialEmisor": "Emisor SRL", "DireccionEmisor": "Calle 1",
                       "FechaEmision": "27-11-2026"},
            "IdDoc": {"TipoPago": "1", "TipoIngresos": 1, "IndicadorMontoGravado": 0, "TipoeCF": 31}
        }
    })
}

fn read_as(
    receipt_type: ReceiptType,
    payload: &Value,
    amounts: Amounts,
) -> Result<(Draft, Vec<Violation>), Vec<Violation>> {
    Draft::read(
        receipt_type,
        &Node::parse(&serde_json::to_vec(payload).unwrap()).unwrap(),
        amounts,
    )
}

fn read(payload: &Value) -> Result<(Draft, Vec<Violation>), Vec<Violation>> {
    read_as(ReceiptType::E31, payload, Amounts::Scaled)
}

/// The XML of a valid payload.
fn xml(payload: &Value) -> String {
    let (draft, _) = read(payload).unwrap();
    let ecf = draft.check().unwrap();
    let numbered = ecf
        .numbered("E310000000007".parse().unwrap(), Some("31-12-2028".parse().unwrap()))
        .unwrap();
    String::from_utf8(numbered.to_xml("27-11-2026 10:30:00".parse().unwrap())).unwrap()
}

/// Path, code, kind and expectation of each violation.
fn told(violations: &[Violation]) -> Vec<(String, &'static str, &'static str, Option<&str>)> {
    violations
        .iter()
        .map(|found| (found.path.join("/"), found.code, found.kind, found.expected.as_deref()))
        .collect()
}

fn refused(payload: &Value) -> Vec<Violation> {
    read(payload)
        .map(|(draft, _)| draft)
        .and_then(|draft| draft.check().map(|_| ()))
        .unwrap_err()
}

#[test]
fn order_numbers_and_texts_do_not_matter_and_the_scale_is_that_of_the_field() {
    let written = xml(&invoice());
    for expected in [
        "<ECF><Encabezado><Version>1.0</Version><IdDoc><TipoeCF>31</TipoeCF><eNCF>E310000000007</eNCF>",
        "<TipoIngresos>01</TipoIngresos><TipoPago>1</TipoPago>",
        "<MontoGravadoI1>10000.00</MontoGravadoI1><ITBIS1>18</ITBIS1>",
        "<NumeroLinea>1</NumeroLinea><IndicadorFacturacion>1</IndicadorFacturacion>",
        "<CantidadItem>1.00</CantidadItem><PrecioUnitarioItem>10000.0000</PrecioUnitarioItem>",
        "<FechaHoraFirma>27-11-2026 10:30:00</FechaHoraFirma></ECF>",
    ] {
        assert!(written.contains(expected), "{expected} is not in {written}");
    }
}

#[test]
fn verbatim_amounts_are_written_as_given() {
    let mut payload = invoice();
    payload["DetallesItems"]["Item"][0]["PrecioUnitarioItem"] = json!("35.0000");
    payload["DetallesItems"]["Item"][0]["CantidadItem"] = json!("1");
    payload["DetallesItems"]["Item"][0]["MontoItem"] = json!("1.5");
    let (draft, _) = read_as(ReceiptType::E31, &payload, Amounts::Verbatim).unwrap();
    let written = String::from_utf8(draft.document().to_xml()).unwrap();
    assert!(
        written
            .contains("<CantidadItem>1</CantidadItem><PrecioUnitarioItem>35.0000</PrecioUnitarioItem><MontoItem>1.5<")
    );
}

#[test]
fn tolerated_shapes_give_the_same_document_and_a_notice() {
    let plain = {
        let mut payload = invoice();
        payload["Encabezado"]["Emisor"]["TablaTelefonoEmisor"] = json!({"TelefonoEmisor": ["809-555-0101"]});
        payload
    };
    let expected = xml(&plain);
    type Change = fn(&mut Value);
    let changes: [(&str, Change); 5] = [
        ("AVISO-02", |payload| {
            payload["Encabezado"]["Emisor"]["TablaTelefonoEmisor"] =
                json!({"Telefono": [{"Telefono": "809-555-0101"}]});
        }),
        ("AVISO-02", |payload| {
            payload["Encabezado"]["Emisor"]["TablaTelefonoEmisor"] = json!(["809-555-0101"])
        }),
        ("AVISO-02", |payload| {
            let lines = payload["DetallesItems"]["Item"].take();
            payload["DetallesItems"] = lines;
        }),
        ("AVISO-01", |payload| *payload = json!({"ECF": payload.take()})),
        ("AVISO-05", |payload| {
            payload["FechaHoraFirma"] = json!("01-01-2020 00:00:00")
        }),
    ];
    for (code, change) in changes {
        let mut payload = plain.clone();
        change(&mut payload);
        let (_, notices) = read(&payload).unwrap();
        assert!(
            notices
                .iter()
                .any(|notice| notice.code == code && notice.grade == Grade::Notice),
            "{code} {notices:?}"
        );
        assert_eq!(xml(&payload), expected, "{code}");
    }
    // These are equivalent and give no notice.
    let mut payload = plain.clone();
    let line = payload["DetallesItems"]["Item"][0].take();
    payload["DetallesItems"]["Item"] = line;
    payload["Encabezado"]["Emisor"]["TablaTelefonoEmisor"] = json!({"TelefonoEmisor": "809-555-0101"});
    payload["Encabezado"]["IdDoc"]["TerminoPago"] = Value::Null;
    payload["Encabezado"]["Transporte"] = json!({});
    payload["Subtotales"] = json!({"Subtotal": []});
    assert_eq!(read(&payload).unwrap().1, []);
    assert_eq!(xml(&payload), expected);
}

#[test]
fn known_slips_are_refused_with_the_right_name() {
    let mut payload = invoice();
    let line = &mut payload["DetallesItems"]["Item"][0];
    line["Descripcion"] = line["NombreItem"].take();
    payload["Encabezado"]["Emisor"]["RNC"] = json!("199000013");
    payload["Encabezado"]["Emisor"]["FechaEmision"] = json!("2026-11-27");
    payload["Encabezado"]["MontoTotal"] = json!(1);
    payload["Encabezado"]["Totales"]["MontoToTal"] = json!(1);
    assert_eq!(
        told(&refused(&payload)),
        [
            (
                "Encabezado/Emisor/RNC".into(),
                "ESTRUCTURA-04",
                "extra_forbidden",
                Some("RNCEmisor")
            ),
            (
                "Encabezado/Emisor/FechaEmision".into(),
                "ESTRUCTURA-30",
                "date_parsing",
                Some("27-11-2026")
            ),
            (
                "Encabezado/Totales/MontoToTal".into(),
                "ESTRUCTURA-04",
                "extra_forbidden",
                Some("MontoTotal")
            ),
            (
                "Encabezado/MontoTotal".into(),
                "ESTRUCTURA-04",
                "extra_forbidden",
                Some("Encabezado/Totales")
            ),
            (
                "DetallesItems/Item/0/Descripcion".into(),
                "ESTRUCTURA-04",
                "extra_forbidden",
                Some("NombreItem")
            ),
            (
                "DetallesItems/Item/0/NombreItem".into(),
                "ESTRUCTURA-01",
                "missing",
                None
            ),
        ]
    );
}

#[test]
fn every_kind_of_fault_has_its_code_and_all_are_told_at_once() {
    let mut payload = invoice();
    let header = &mut payload["Encabezado"];
    header["IdDoc"]["TipoIngresos"] = json!("07");
    header["IdDoc"]["TerminoPago"] = json!("30, neto");
    header["IdDoc"]["TotalPaginas"] = json!(1);
    header["IdDoc"]["IndicadorNotaCredito"] = json!(0);
    header["Emisor"]["RNCEmisor"] = json!("1-99-00001-3");
    header["Emisor"]["NombreComercial"] = json!(" blank");
    header["Emisor"]["Sucursal"] = json!("ñ".repeat(21));
    header["Emisor"]["WebSite"] = json!("");
    header["Emisor"]["ActividadEconomica"] = json!(["a", "b"]);
    header["Emisor"]["ZonaVenta"] = json!("a\u{7}b");
    header["Comprador"] = json!("Cliente");
    header["Totales"]["MontoTotal"] = json!("82.60000000000001");
    header["Totales"]["MontoExento"] = json!("1,000.00");
    header["Totales"]["MontoGravadoI1"] = json!("12345678901234567");
    header["Totales"]["MontoGravadoI2"] = json!(-1);
    header["Totales"]["MontoImpuestoAdicional"] = json!(0);
    header["Totales"]["ITBIS1"] = json!("dieciocho");
    header["IdDoc"]["eNCF"] = json!("E320000000001");
    header["IdDoc"]["TipoeCF"] = json!("32");
    payload["DetallesItems"]["Item"][0]["TablaCodigosItem"] =
        json!({"CodigosItem": vec![json!({"TipoCodigo": "EAN", "CodigoItem": "1"}); 6]});
    payload["DetallesItems"]["Item"][0]["UnidadMedida"] = json!(99);
    assert_eq!(
        told(&refused(&payload))
            .into_iter()
            .map(|(path, code, kind, _)| format!("{path} {code} {kind}"))
            .collect::<Vec<_>>(),
        [
            "Encabezado/IdDoc/TipoeCF ESTRUCTURA-40 value_error",
            "Encabezado/IdDoc/eNCF ESTRUCTURA-41 value_error",
            "Encabezado/IdDoc/IndicadorNotaCredito ESTRUCTURA-02 extra_forbidden",
            "Encabezado/IdDoc/TipoIngresos ESTRUCTURA-14 enum",
            "Encabezado/IdDoc/TerminoPago ESTRUCTURA-13 string_pattern_mismatch",
            "Encabezado/IdDoc/TotalPaginas ESTRUCTURA-25 greater_than_equal",
            "Encabezado/Emisor/RNCEmisor ESTRUCTURA-32 value_error",
            "Encabezado/Emisor/NombreComercial ESTRUCTURA-12 value_error",
            "Encabezado/Emisor/Sucursal ESTRUCTURA-11 string_too_long",
            "Encabezado/Emisor/WebSite ESTRUCTURA-10 string_too_short",
            "Encabezado/Emisor/ActividadEconomica ESTRUCTURA-06 string_type",
            "Encabezado/Emisor/ZonaVenta ESTRUCTURA-12 value_error",
            "Encabezado/Comprador ESTRUCTURA-05 dict_type",
            "Encabezado/Totales/MontoGravadoI1 ESTRUCTURA-22 decimal_whole_digits",
            "Encabezado/Totales/MontoGravadoI2 ESTRUCTURA-23 greater_than_equal",
            "Encabezado/Totales/MontoExento ESTRUCTURA-20 decimal_parsing",
            "Encabezado/Totales/ITBIS1 ESTRUCTURA-24 int_parsing",
            "Encabezado/Totales/MontoImpuestoAdicional ESTRUCTURA-23 greater_than",
            "Encabezado/Totales/MontoTotal ESTRUCTURA-21 decimal_max_places",
            "DetallesItems/Item/0/TablaCodigosItem/CodigosItem ESTRUCTURA-03 too_long",
            "DetallesItems/Item/0/UnidadMedida ESTRUCTURA-14 enum",
        ]
    );
}

#[test]
fn an_empty_payload_is_told_all_that_is_missing() {
    let missing = refused(&json!({}));
    let paths: Vec<String> = missing.iter().map(|found| found.path.join("/")).collect();
    assert_eq!(
        paths,
        [
            "Encabezado/IdDoc/TipoIngresos",
            "Encabezado/IdDoc/TipoPago",
            "Encabezado/Emisor",
            "Encabezado/Comprador",
            "Encabezado/Totales",
            "DetallesItems",
        ]
    );
    assert_eq!(
        missing[2].message.en,
        "Emisor is mandatory in type 31 with RNCEmisor, RazonSocialEmisor, DireccionEmisor, FechaEmision"
    );
    assert_eq!(refused(&json!([1]))[0].code, "ESTRUCTURA-05");
}

#[test]
fn line_breaks_become_blanks_and_a_wrong_check_digit_is_only_noticed() {
    let mut payload = invoice();
    payload["DetallesItems"]["Item"][0]["DescripcionItem"] = json!("uno\r\ndos\n");
    payload["Encabezado"]["Comprador"]["RNCComprador"] = json!("198000013");
    let (draft, notices) = read(&payload).unwrap();
    let codes: Vec<(&str, String)> = notices
        .iter()
        .map(|notice| (notice.code, notice.path.join("/")))
        .collect();
    assert_eq!(
        codes,
        [
            ("AVISO-04", "Encabezado/Comprador/RNCComprador".to_owned()),
            ("AVISO-03", "DetallesItems/Item/0/DescripcionItem".to_owned()),
        ]
    );
    assert_eq!(
        draft.document().detalles_items.item[0].descripcion_item.as_deref(),
        Some("uno dos")
    );
}

#[test]
fn an_anonymous_consumer_is_named_but_never_where_amounts_are_verbatim() {
    let mut payload = invoice();
    payload["Encabezado"]["Comprador"] = Value::Null;
    payload["Encabezado"]["IdDoc"]["TipoeCF"] = json!(32);
    let (draft, notices) = read_as(ReceiptType::E32, &payload, Amounts::Scaled).unwrap();
    assert_eq!(notices[0].code, "AVISO-06");
    let buyer = &draft.document().encabezado.comprador;
    assert_eq!(buyer.razon_social_comprador.as_deref(), Some("CONSUMIDOR FINAL"));
    draft.check().unwrap();
    let (draft, _) = read_as(ReceiptType::E32, &payload, Amounts::Verbatim).unwrap();
    assert_eq!(told(&draft.check().unwrap_err())[0].0, "Encabezado/Comprador");
}

#[test]
fn a_number_must_fit_the_type_the_payload_and_the_range() {
    let ecf = |change: fn(&mut Value)| {
        let mut payload = invoice();
        change(&mut payload);
        read(&payload).unwrap().0.check().unwrap()
    };
    let number: Encf = "E310000000007".parse().unwrap();
    let expiry = Some("31-12-2028".parse().unwrap());
    let code = |result: Result<ecf::Numbered, Box<Violation>>| result.unwrap_err().code;
    assert_eq!(
        code(ecf(|_| {}).numbered("E320000000007".parse().unwrap(), expiry)),
        "ESTRUCTURA-41"
    );
    assert_eq!(code(ecf(|_| {}).numbered(number, None)), "ESTRUCTURA-01");
    let other_number = ecf(|payload| payload["Encabezado"]["IdDoc"]["eNCF"] = json!("E310000000008"));
    assert_eq!(code(other_number.numbered(number, expiry)), "ESTRUCTURA-42");
    let other_expiry = ecf(|payload| payload["Encabezado"]["IdDoc"]["FechaVencimientoSecuencia"] = json!("31-12-2027"));
    assert_eq!(code(other_expiry.clone().numbered(number, expiry)), "ESTRUCTURA-43");
    assert_eq!(other_expiry.numbered(number, None).unwrap().encf(), number);
}

#[test]
fn only_small_consumer_invoices_may_have_more_than_a_thousand_lines() {
    let invoice_of = |total: &str| {
        let mut payload = invoice();
        let line = payload["DetallesItems"]["Item"][0].clone();
        payload["DetallesItems"]["Item"] = json!(vec![line; 1_001]);
        payload["Encabezado"]["Totales"]["MontoTotal"] = json!(total);
        payload["Encabezado"]["IdDoc"]["TipoeCF"] = json!(32);
        read_as(ReceiptType::E32, &payload, Amounts::Scaled).unwrap().0.check()
    };
    assert!(invoice_of("249999.99").unwrap().goes_as_summary());
    assert_eq!(told(&invoice_of("250000.00").unwrap_err())[0].1, "ESTRUCTURA-03");
}

#[test]
fn a10_a_list_is_read_up_to_the_limit_of_the_type() {
    let mut payload = invoice();
    let mut line = payload["DetallesItems"]["Item"][0].clone();
    line["NombreItem"] = json!("");
    payload["DetallesItems"]["Item"] = json!(vec![line; 1_500]);
    let violations = refused(&payload);
    let of = |code: &str| violations.iter().filter(|violation| violation.code == code).count();
    assert_eq!(
        (of("ESTRUCTURA-03"), of("ESTRUCTURA-10")),
        (1, 1_000),
        "{}",
        violations.len()
    );
    let too_many = violations
        .iter()
        .find(|violation| violation.code == "ESTRUCTURA-03")
        .unwrap();
    assert_eq!(too_many.path, ["DetallesItems", "Item"]);
    assert_eq!(
        (too_many.given.as_deref(), too_many.expected.as_deref()),
        (Some("1500"), Some("at most 1000"))
    );
}

#[test]
fn a10_a_long_unknown_name_is_cut_everywhere() {
    let mut payload = invoice();
    let name = "x".repeat(100_000);
    payload[&name] = json!(1);
    let violation = refused(&payload).swap_remove(0);
    assert_eq!(violation.code, "ESTRUCTURA-04");
    assert_eq!(violation.path[0].chars().count(), 81);
    assert!(violation.message.en.len() < 200, "{}", violation.message.en.len());
    assert!(violation.given.unwrap().len() < 100);
}

#[test]
fn a7_a_finding_carries_the_value_that_came() {
    let mut payload = invoice();
    payload["Encabezado"]["Emisor"]["Color"] = json!({"nombre": "azul"});
    payload["DetallesItems"]["Item"][0]["NombreItem"] = json!(["a"]);
    payload["DetallesItems"]["Item"][0]["Descripcion"] = json!("Café");
    let inputs: Vec<Value> = refused(&payload)
        .iter()
        .map(|violation| serde_json::to_value(&violation.input).unwrap())
        .collect();
    assert_eq!(inputs, [json!({"nombre": "azul"}), json!(["a"]), json!("Café")]);
}

#[test]
fn the_json_schema_says_what_each_type_may_carry() {
    let schema = json_schema(ReceiptType::E31);
    let header = &schema["properties"]["Encabezado"]["properties"];
    assert_eq!(schema["required"], json!(["Encabezado", "DetallesItems"]));
    assert_eq!(header["Emisor"]["properties"]["RazonSocialEmisor"]["maxLength"], 150);
    let id_doc = &header["IdDoc"]["properties"];
    assert_eq!(
        (&id_doc["TipoPago"]["type"], &id_doc["TipoPago"]["enum"]),
        (&json!("integer"), &json!([1, 2, 3]))
    );
    assert_eq!(id_doc["TipoIngresos"]["type"], "string");
    assert!(
        header["IdDoc"]["properties"]["TipoPago"]["description"]
            .as_str()
            .unwrap()
            .contains("2 Crédito")
    );
    assert!(header["IdDoc"]["properties"]["IndicadorNotaCredito"].is_null());
    assert_eq!(
        schema["properties"]["DetallesItems"]["properties"]["Item"]["maxItems"],
        1_000
    );
    assert!(json_schema(ReceiptType::E43)["properties"]["Encabezado"]["properties"]["Comprador"].is_null());
}

/// The contract declares one type for a value, and the reader also accepts the other spelling.
#[test]
fn b9_an_amount_and_a_code_are_taken_as_number_and_as_text() {
    let mut given = invoice();
    // A rate is a whole number. `18.0` is one as a number, but not as a text.
    given["Encabezado"]["Totales"]["ITBIS1"] = json!(18);
    let (mut texts, mut numbers) = (given.clone(), given.clone());
    each_scalar(&mut texts, &|scalar| {
        if let Value::Number(number) = scalar {
            *scalar = json!(number.to_string());
        }
    });
    each_scalar(&mut numbers, &|scalar| {
        let number = scalar
            .as_str()
            .and_then(|text| serde_json::from_str::<serde_json::Number>(text).ok());
        if let Some(number) = number {
            *scalar = json!(number);
        }
    });
    assert_ne!(texts, numbers);
    assert_eq!(xml(&texts), xml(&given));
    assert_eq!(xml(&numbers), xml(&given));
}

fn each_scalar(value: &mut Value, change: &impl Fn(&mut Value)) {
    match value {
        Value::Object(members) => members.values_mut().for_each(|member| each_scalar(member, change)),
        Value::Array(values) => values.iter_mut().for_each(|value| each_scalar(value, change)),
        scalar => change(scalar),
    }
}

#[test]
fn b9_a_value_has_one_declared_type_and_a_kind_of_block_one_form() {
    for receipt_type in ReceiptType::ALL {
        let schema = json_schema(receipt_type);
        let mut kinds = std::collections::BTreeMap::new();
        walk(&schema, "", &mut |place, schema| {
            assert!(schema["type"].is_string(), "{receipt_type}{place}: {schema}");
            assert_eq!(
                (&schema["anyOf"], &schema["oneOf"]),
                (&Value::Null, &Value::Null),
                "{place}"
            );
            if schema["type"] == "object" && !place.is_empty() {
                let mut form = schema.clone();
                form["description"].take();
                let kind = schema["title"].as_str().expect(place).to_owned();
                let known = kinds.entry(kind).or_insert_with(|| form.clone());
                assert_eq!(*known, form, "{receipt_type}{place}");
            }
        });
        assert!(kinds.len() > 8, "{receipt_type}: {} kinds of block", kinds.len());
    }
}

/// Visits each schema with its path.
fn walk(schema: &Value, place: &str, visit: &mut impl FnMut(&str, &Value)) {
    visit(place, schema);
    for (name, member) in schema["properties"].as_object().into_iter().flatten() {
        walk(member, &format!("{place}/{name}"), visit);
    }
    if let Some(items) = schema.get("items") {
        walk(items, &format!("{place}[]"), visit);
    }
}

/// Any JSON, with the names of our fields among its keys.
fn any_json() -> impl Strategy<Value = Value> {
    let names = prop::sample::select(vec![
        "Encabezado",
        "IdDoc",
        "Emisor",
        "Totales",
        "DetallesItems",
        "Item",
        "MontoTotal",
        "TipoeCF",
        "eNCF",
        "TablaTelefonoEmisor",
        "Telefono",
        "RNCEmisor",
        "FechaEmision",
        "ECF",
        "Version",
        "x",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 48, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::hash_map(names.clone(), inner, 0..6).prop_map(|members| members
                .into_iter()
                .map(|(key, value)| (key.to_owned(), value))
                .collect()),
        ]
    })
}

proptest! {
    #[test]
    fn any_payload_is_read_or_refused_and_never_panics(payload in any_json(), kind in 0..10usize) {
        if let Ok((draft, _)) = read_as(ReceiptType::ALL[kind], &payload, Amounts::Scaled) {
            let _ = draft.check();
        }
    }

    #[test]
    fn any_text_comes_back_from_the_xml_as_it_was_given(text in "[^\\p{C}\\s]([^\\p{C}\u{2028}\u{2029}]{0,70}[^\\p{C}\\s])?") {
        let mut payload = invoice();
        payload["DetallesItems"]["Item"][0]["NombreItem"] = json!(text);
        let received = Document::from_xml(xml(&payload).as_bytes()).unwrap();
        prop_assert_eq!(received.violations, []);
        prop_assert_eq!(received.document.detalles_items.item[0].nombre_item.as_deref(), Some(text.as_str()));
    }
}
