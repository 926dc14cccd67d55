//! Amounts that are filled in, amounts that do not change, and properties of any receipt.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod properties;

use ecf::document::Totales;
use ecf::totals::IscRates;
use ecf::{Amounts, Document, Draft, Environment, Grade, Monto, Node, ReceiptType, Violation};
use serde_json::{Value, json};

fn rates() -> IscRates {
    IscRates::of(Environment::Ecf)
}

/// A type 31 with these lines.
fn invoice(lines: Vec<Value>) -> Value {
    let lines: Vec<Value> = lines
        .into_iter()
        .map(|mut line| {
            line["NombreItem"] = json!("Artículo");
            line["IndicadorBienoServicio"] = json!(1);
            line
        })
        .collect();
    json!({
        "Encabezado": {
            "IdDoc": {"TipoPago": 1, "TipoIngresos": "01", "IndicadorMontoGravado": 0},
            "Emisor": {"RNCEmisor": "130000001", "RazonSocialEmisor": "Emisor", "DireccionEmisor": "Calle 1", "FechaEmision": "27-11-2026"},
            "Comprador": {"RNCComprador": "130000002", "RazonSocialComprador": "Cliente"}
        },
        "DetallesItems": lines
    })
}

fn line(indicador: u32, quantity: &str, price: &str) -> Value {
    json!({"IndicadorFacturacion": indicador, "CantidadItem": quantity, "PrecioUnitarioItem": price})
}

fn read(payload: &Value, amounts: Amounts) -> Draft {
    let node = Node::parse(payload.to_string().as_bytes()).unwrap();
    Draft::read(ReceiptType::E31, &node, amounts)
        .unwrap_or_else(|told| panic!("{told:#?}"))
        .0
}

fn completed(payload: &Value) -> (Document, Vec<Violation>) {
    let mut draft = read(payload, Amounts::Scaled);
    let notices = draft.complete(&rates());
    let ecf = draft.check().unwrap_or_else(|told| panic!("{told:#?}"));
    (ecf.document().clone(), notices)
}

/// Path and code of the findings that prevent completion.
fn refused(payload: &Value) -> Vec<(String, &'static str)> {
    let mut draft = read(payload, Amounts::Scaled);
    draft.complete(&rates());
    let told = draft.check().unwrap_err();
    told.iter().map(|found| (found.path.join("/"), found.code)).collect()
}

fn text(amount: &Option<Monto>) -> String {
    amount.as_ref().map(ToString::to_string).unwrap_or_default()
}

#[test]
fn a_payload_without_amounts_is_completed_and_told_so() {
    let (document, notices) = completed(&invoice(vec![line(1, "2", "100"), line(4, "1", "50")]));
    let totales = &document.encabezado.totales;
    assert_eq!(
        [
            &totales.monto_gravado_total,
            &totales.total_itbis,
            &totales.monto_exento,
            &totales.monto_total
        ]
        .map(text),
        ["200.00", "36.00", "50.00", "286.00"]
    );
    assert_eq!((totales.itbis1, totales.itbis2), (Some(18), None));
    // Optional sums without new information are not added.
    assert_eq!((&totales.monto_periodo, &totales.valor_pagar), (&None, &None));
    let told: Vec<(String, &str, &str)> = notices
        .iter()
        .map(|notice| (notice.path.join("/"), notice.code, &*notice.message.en))
        .collect();
    assert_eq!(
        told,
        [
            (
                "Encabezado/Totales".to_owned(),
                "CALCULO-10",
                "computed, since left out: MontoGravadoI1, MontoExento, ITBIS1, TotalITBIS1, MontoGravadoTotal, TotalITBIS, MontoTotal"
            ),
            (
                "DetallesItems".to_owned(),
                "CALCULO-10",
                "computed, since left out: MontoItem (2 times)"
            ),
        ]
    );
    assert!(notices.iter().all(|notice| notice.grade == Grade::Notice));
}

#[test]
fn what_is_given_stays_and_sums_follow_it() {
    let mut payload = invoice(vec![line(1, "1", "100")]);
    payload["Encabezado"]["IdDoc"]["IndicadorMontoGravado"] = json!(1);
    // The ITBIS as the format words it, a cent above the exact one.
    payload["Encabezado"]["Totales"] = json!({"TotalITBIS1": "15.26", "MontoAvancePago": "50"});
    let (document, _) = completed(&payload);
    let totales = &document.encabezado.totales;
    assert_eq!(
        [
            &totales.monto_gravado_i1,
            &totales.total_itbis,
            &totales.monto_total,
            &totales.valor_pagar
        ]
        .map(text),
        ["84.75", "15.26", "100.01", "50.01"]
    );
    // A line that states its amount counts with that amount.
    let mut stated = line(4, "3", "33.33");
    stated["MontoItem"] = json!("100.00");
    let (document, _) = completed(&invoice(vec![stated]));
    assert_eq!(text(&document.encabezado.totales.monto_total), "100.00");
    assert_eq!(text(&document.detalles_items.item[0].monto_item), "100.00");
}

#[test]
fn verbatim_amounts_get_nothing_added() {
    let mut payload = invoice(vec![line(1, "1", "100")]);
    payload["DetallesItems"][0]["MontoItem"] = json!("100");
    payload["Encabezado"]["Totales"] = json!({"MontoTotal": "118.0"});
    let mut draft = read(&payload, Amounts::Verbatim);
    let before = draft.document().clone();
    assert_eq!(draft.complete(&rates()), []);
    assert_eq!(draft.document(), &before);
    assert_eq!(text(&draft.computed().unwrap().totales.total_itbis1), "18.00");
}

#[test]
fn a_list_of_taxes_without_amounts_gives_rates_and_one_with_amounts_is_left_as_it_is() {
    let mut whisky = line(1, "1", "1000");
    for (field, value) in [
        (
            "TablaImpuestoAdicional",
            json!([{"TipoImpuesto": "013"}, {"TipoImpuesto": "030"}]),
        ),
        ("CantidadReferencia", json!(12)),
        ("TablaSubcantidad", json!([{"Subcantidad": "0.75"}])),
        ("GradosAlcohol", json!(40)),
        ("PrecioUnitarioReferencia", json!(1500)),
    ] {
        whisky[field] = value;
    }
    let mut payload = invoice(vec![whisky]);
    payload["Encabezado"]["Totales"] =
        json!({"ImpuestosAdicionales": [{"TipoImpuesto": "013", "TasaImpuestoAdicional": "700"}]});
    let (document, _) = completed(&payload);
    let taxes = &document.encabezado.totales.impuestos_adicionales.impuesto_adicional;
    // 12 × 0.75 × 40 % × 700 = 2520; (1500 × 12 − 1.18 × 2520) × 10 / (1.18 × 110).
    assert_eq!(text(&taxes[0].monto_impuesto_selectivo_consumo_especifico), "2520.00");
    assert_eq!(text(&taxes[1].monto_impuesto_selectivo_consumo_advalorem), "1157.66");
    assert_eq!(text(&document.encabezado.totales.monto_impuesto_adicional), "3677.66");

    let list = &mut payload["Encabezado"]["Totales"]["ImpuestosAdicionales"];
    list[0]["MontoImpuestoSelectivoConsumoEspecifico"] = json!("2520.00");
    let (document, _) = completed(&payload);
    assert_eq!(
        document
            .encabezado
            .totales
            .impuestos_adicionales
            .impuesto_adicional
            .len(),
        1
    );
}

#[test]
fn what_cannot_be_computed_is_told_with_its_reason() {
    let mut beer = line(1, "1", "100");
    beer["TablaImpuestoAdicional"] = json!([{"TipoImpuesto": "006"}, {"TipoImpuesto": "023"}]);
    // A day whose rate is not in the table.
    let unrated = |lines| {
        let mut payload = invoice(lines);
        payload["Encabezado"]["Emisor"]["FechaEmision"] = json!("27-03-2026");
        payload
    };
    let payload = unrated(vec![beer.clone()]);
    let missing = |field: &str| (format!("DetallesItems/Item/0/{field}"), "CALCULO-04");
    let fields = [
        "CantidadReferencia",
        "TablaSubcantidad",
        "GradosAlcohol",
        "PrecioUnitarioReferencia",
    ]
    .map(missing);
    let mut all = vec![("Encabezado/Totales/ImpuestosAdicionales".to_owned(), "CALCULO-03")];
    all.extend(fields.clone());
    assert_eq!(refused(&payload), all);
    for (field, value) in [
        ("CantidadReferencia", json!(24)),
        ("TablaSubcantidad", json!([{"Subcantidad": "0.355"}])),
        ("GradosAlcohol", json!(5)),
        ("PrecioUnitarioReferencia", json!(65)),
    ] {
        beer[field] = value;
    }
    assert_eq!(refused(&unrated(vec![beer.clone()])), all[..1]);

    let mut rated = payload.clone();
    rated["Encabezado"]["Totales"] =
        json!({"ImpuestosAdicionales": [{"TipoImpuesto": "006", "TasaImpuestoAdicional": 750}]});
    assert_eq!(refused(&rated), fields);

    beer["TablaImpuestoAdicional"] = json!([{"TipoImpuesto": "023"}]);
    let alone = ("DetallesItems/Item/0/TablaImpuestoAdicional".to_owned(), "CALCULO-05");
    assert_eq!(refused(&invoice(vec![beer])), [alone]);

    let mut discounted = line(1, "1", "100");
    discounted["TablaSubDescuento"] = json!([{"TipoSubDescuento": "$", "MontoSubDescuento": "100.01"}]);
    assert_eq!(
        refused(&invoice(vec![discounted])),
        [("DetallesItems/Item/0/MontoItem".to_owned(), "CALCULO-02")]
    );

    let mut payload = invoice(vec![line(1, "1", "100")]);
    payload["DescuentosORecargos"] = json!([{"TipoAjuste": "D", "TipoValor": "$", "MontoDescuentooRecargo": "101", "IndicadorFacturacionDescuentooRecargo": 1}]);
    assert_eq!(
        refused(&payload),
        [("Encabezado/Totales/MontoGravadoI1".to_owned(), "CALCULO-02")]
    );
}

#[test]
fn amounts_beyond_sixteen_digits_are_told_and_never_panic() {
    let huge = "9999999999999999.99";
    assert_eq!(
        refused(&invoice(vec![
            line(1, huge, "9999999999999999.9999"),
            line(1, "1", "1")
        ])),
        [("DetallesItems/Item/0/MontoItem".to_owned(), "CALCULO-01")]
    );
    // Each line fits, but their sum does not.
    let total = [("Encabezado/Totales/MontoTotal".to_owned(), "CALCULO-01")];
    assert_eq!(refused(&invoice(vec![line(1, "1", huge), line(1, "1", huge)])), total);
    assert_eq!(refused(&invoice(vec![line(1, "1", huge)])), total);
    let (document, _) = completed(&invoice(vec![line(4, "1", huge)]));
    assert_eq!(text(&document.encabezado.totales.monto_total), huge);
}

#[test]
fn a_line_that_misses_its_price_is_told_once() {
    let mut payload = invoice(vec![line(1, "1", "100")]);
    payload["DetallesItems"][0]["PrecioUnitarioItem"] = Value::Null;
    assert_eq!(
        refused(&payload),
        [("DetallesItems/Item/0/PrecioUnitarioItem".to_owned(), "ESTRUCTURA-01")]
    );
    // After a fault of reading, amounts that would be computed are not reported as missing.
    payload["DetallesItems"][0]["CantidadItem"] = json!("many");
    let node = Node::parse(payload.to_string().as_bytes()).unwrap();
    let told = Draft::read(ReceiptType::E31, &node, Amounts::Scaled).unwrap_err();
    assert_eq!(told.len(), 2, "{told:#?}");
    let told = Draft::read(ReceiptType::E31, &node, Amounts::Verbatim).unwrap_err();
    assert_eq!(told.len(), 4, "{told:#?}");
}

#[test]
fn a_type_gets_no_amount_that_it_must_not_carry() {
    let mut payload = invoice(vec![line(1, "1", "100"), line(0, "1", "5")]);
    let header = &mut payload["Encabezado"];
    header["IdDoc"] = Value::Null;
    header["Comprador"] = Value::Null;
    let node = Node::parse(payload.to_string().as_bytes()).unwrap();
    let (mut draft, _) = Draft::read(ReceiptType::E43, &node, Amounts::Scaled).unwrap();
    draft.complete(&rates());
    // The rules report that type 43 has only exempt lines. Nothing forbidden was added here.
    let totales = draft.document().encabezado.totales.clone();
    assert_eq!(
        totales,
        Totales {
            monto_total: totales.monto_total.clone(),
            ..Totales::default()
        }
    );
    draft.check().unwrap();
}

#[test]
fn pages_share_global_discounts_and_add_up() {
    let mut payload = invoice(vec![
        line(1, "1", "0.33"),
        line(1, "1", "0.33"),
        line(2, "1", "100"),
        line(0, "1", "7"),
    ]);
    payload["DescuentosORecargos"] = json!([{"TipoAjuste": "D", "TipoValor": "%", "ValorDescuentooRecargo": "50", "IndicadorFacturacionDescuentooRecargo": 1}]);
    payload["Paginacion"] = json!([
        {"PaginaNo": 1, "NoLineaDesde": 1, "NoLineaHasta": 1},
        {"PaginaNo": 2, "NoLineaDesde": 2, "NoLineaHasta": 4}
    ]);
    let (document, _) = completed(&payload);
    let pages = &document.paginacion.pagina;
    let bases = [0, 1].map(|page: usize| text(&pages[page].subtotal_monto_gravado1_pagina));
    assert_eq!(bases, ["0.17", "0.16"]);
    assert_eq!(text(&document.encabezado.totales.monto_gravado_i1), "0.33");
    assert_eq!(
        [0, 1].map(|page: usize| text(&pages[page].subtotal_itbis1_pagina)),
        ["0.03", "0.03"]
    );
    assert_eq!(
        [0, 1].map(|page: usize| text(&pages[page].subtotal_monto_no_facturable_pagina)),
        ["", "7.00"]
    );
    let sum = pages
        .iter()
        .map(|page| page.monto_subtotal_pagina.as_ref().unwrap().value());
    assert_eq!(
        sum.sum::<rust_decimal::Decimal>(),
        document.encabezado.totales.monto_total.as_ref().unwrap().value()
    );
}

#[test]
fn lines_priced_in_the_other_currency_get_their_price_in_pesos() {
    let mut foreign = line(1, "10000", "0");
    foreign["PrecioUnitarioItem"] = Value::Null;
    foreign["OtraMonedaDetalle"] = json!({"PrecioOtraMoneda": "0.3333"});
    foreign["TablaSubDescuento"] = json!([{"TipoSubDescuento": "$", "MontoSubDescuento": "605.00"}]);
    let mut payload = invoice(vec![foreign]);
    payload["Encabezado"]["OtraMoneda"] = json!({"TipoMoneda": "USD", "TipoCambio": "60.5"});
    let (document, _) = completed(&payload);
    let item = &document.detalles_items.item[0];
    assert_eq!(item.precio_unitario_item.as_ref().unwrap().to_string(), "20.1647");
    assert_eq!(text(&item.monto_item), "201042.00");
    let there = &item.otra_moneda_detalle;
    assert_eq!(
        [&there.descuento_otra_moneda, &there.monto_item_otra_moneda].map(text),
        ["10.00", "3323.00"]
    );
}
