//! Receipts with mistakes.

use ecf::totals::IscRates;
use ecf::{Amounts, Draft, Environment, Node, ReceiptType};
use proptest::option::{of, weighted};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};

fn cents(cents: u32) -> String {
    format!("{}.{:02}", cents / 100, cents % 100)
}

prop_compose! {
    /// A discount of a line: its table and its sum, which is right, wrong or missing.
    fn discount()(
        percent in of(1_u32..40),
        amount in weighted(0.8, 0_u32..300),
        stated in weighted(0.5, 0_u32..400),
        kind in select(vec!["$", "%"]),
        has_table in proptest::bool::weighted(0.9),
    ) -> Value {
        let mut part = json!({"TipoSubDescuento": kind, "MontoSubDescuento": amount.map(cents)});
        if kind == "%" {
            part["SubDescuentoPorcentaje"] = json!(percent.map(|percent| percent.to_string()));
        } else if amount.is_none() {
            part["MontoSubDescuento"] = json!("1.00");
        }
        let table = has_table.then(|| json!({"SubDescuento": [part]}));
        let stated = stated.or((!has_table).then_some(100));
        json!({"TablaSubDescuento": table, "DescuentoMonto": stated.map(cents)})
    }
}

prop_compose! {
    /// Additional taxes of a line, with some of the fields that they require.
    fn taxes()(
        codes in select(vec![vec![], vec![], vec!["001"], vec!["002", "004"], vec!["006"], vec!["023"], vec!["006", "023"]]),
        fields in proptest::sample::subsequence(
            vec!["CantidadReferencia", "GradosAlcohol", "PrecioUnitarioReferencia", "TablaSubcantidad"], 0..=4
        ),
    ) -> Value {
        let mut line = json!({});
        if !codes.is_empty() {
            let entries: Vec<Value> = codes.iter().map(|code| json!({"TipoImpuesto": code})).collect();
            line["TablaImpuestoAdicional"] = json!({"ImpuestoAdicional": entries});
            for field in fields.into_iter().filter(|_| codes.iter().any(|code| *code > "005")) {
                line[field] = match field {
                    "TablaSubcantidad" => json!({"SubcantidadItem": [{"Subcantidad": "0.355", "CodigoSubcantidad": 15}]}),
                    "GradosAlcohol" => json!("5.00"),
                    "CantidadReferencia" => json!("24"),
                    _ => json!("75.00"),
                };
            }
        }
        line
    }
}

prop_compose! {
    fn line()(
        indicator in prop_oneof![3 => Just(1_u32), 1 => Just(2), 1 => Just(3), 2 => Just(4), 1 => Just(0)],
        quantity in 1_u32..5,
        price in weighted(0.97, 50_000_u32..1_000_000),
        off in weighted(0.3, prop_oneof![-300_i64..300, -20_000_i64..20_000]),
        discount in weighted(0.3, discount()),
        taxes in taxes(),
        retention in weighted(0.3, (select(vec!["0.00", "5.00", "900.00"]), of(select(vec!["0.00", "10.00"])))),
        kind in 1_u32..3,
    ) -> Value {
        let mut line = json!({
            "IndicadorFacturacion": indicator, "NombreItem": "Artículo", "IndicadorBienoServicio": kind,
            "CantidadItem": quantity.to_string(), "PrecioUnitarioItem": price.map(cents)
        });
        if let (Some(off), Some(price)) = (off, price) {
            let amount = i64::from(price * quantity) + off;
            line["MontoItem"] = json!(cents(u32::try_from(amount).unwrap()));
        }
        if let Some((itbis, isr)) = retention {
            line["Retencion"] = json!({
                "IndicadorAgenteRetencionoPercepcion": 1, "MontoITBISRetenido": itbis, "MontoISRRetenido": isr
            });
        }
        let members = line.as_object_mut().unwrap();
        members.extend(discount.iter().flat_map(|discount| discount.as_object().unwrap().clone()));
        members.extend(taxes.as_object().unwrap().clone());
        line
    }
}

prop_compose! {
    /// An entry for the whole receipt, complete or not.
    fn entry()(
        kind in select(vec!["$", "%"]),
        indicator in of(1_u32..5),
        percent in weighted(0.8, 1_u32..20),
        amount in of(0_u32..10_000),
    ) -> Value {
        let amount = if kind == "$" { Some(amount.unwrap_or(500)) } else { amount };
        json!({
            "TipoAjuste": "D", "TipoValor": kind, "IndicadorFacturacionDescuentooRecargo": indicator,
            "ValorDescuentooRecargo": percent.filter(|_| kind == "%").map(|percent| percent.to_string()),
            "MontoDescuentooRecargo": amount.map(cents)
        })
    }
}

/// The totals that are stated.
#[derive(Debug, Clone)]
enum Stated {
    Nothing,
    /// The totals of the lines with this IndicadorMontoGravado, some left out, one of them wrong.
    Of {
        indicator: u32,
        left_out: Vec<Index>,
        off: Option<(Index, i64)>,
    },
}

fn stated() -> impl Strategy<Value = Stated> {
    let of = (
        0_u32..2,
        proptest::collection::vec(any::<Index>(), 0..4),
        weighted(0.5, (any::<Index>(), prop_oneof![-300_i64..300, -90_000_i64..90_000])),
    );
    prop_oneof![
        1 => Just(Stated::Nothing),
        4 => of.prop_map(|(indicator, left_out, off)| Stated::Of { indicator, left_out, off }),
    ]
}

/// The totals that the service computes for a payload with an indicator.
fn computed(receipt_type: ReceiptType, payload: &Value, indicator: u32) -> Value {
    let mut payload = payload.clone();
    payload["Encabezado"]["IdDoc"]["IndicadorMontoGravado"] = json!(indicator);
    let node = Node::parse(payload.to_string().as_bytes()).unwrap();
    // As the type with the most fields, which forbids none of them.
    let readable = Draft::read(ReceiptType::E31, &node, Amounts::Scaled)
        .or_else(|_| Draft::read(receipt_type, &node, Amounts::Scaled));
    let Ok((mut draft, _)) = readable else { return json!({}) };
    draft.complete(&IscRates::of(Environment::TesteCF));
    let totales = &draft.document().encabezado.totales;
    let text = |amount: &Option<ecf::Monto>| amount.as_ref().map(ToString::to_string);
    let taxes = totales.impuestos_adicionales.impuesto_adicional.iter().map(|tax| {
        json!({
            "TipoImpuesto": tax.tipo_impuesto.map(|tipo| tipo.code()),
            "TasaImpuestoAdicional": tax.tasa_impuesto_adicional.as_ref().map(ToString::to_string),
            "MontoImpuestoSelectivoConsumoEspecifico": text(&tax.monto_impuesto_selectivo_consumo_especifico),
            "MontoImpuestoSelectivoConsumoAdvalorem": text(&tax.monto_impuesto_selectivo_consumo_advalorem),
            "OtrosImpuestosAdicionales": text(&tax.otros_impuestos_adicionales)
        })
    });
    let taxes: Vec<Value> = taxes.collect();
    json!({
        "MontoGravadoTotal": text(&totales.monto_gravado_total), "MontoGravadoI1": text(&totales.monto_gravado_i1),
        "MontoGravadoI2": text(&totales.monto_gravado_i2), "MontoGravadoI3": text(&totales.monto_gravado_i3),
        "MontoExento": text(&totales.monto_exento), "ITBIS1": totales.itbis1, "ITBIS2": totales.itbis2,
        "ITBIS3": totales.itbis3, "TotalITBIS": text(&totales.total_itbis), "TotalITBIS1": text(&totales.total_itbis1),
        "TotalITBIS2": text(&totales.total_itbis2), "TotalITBIS3": text(&totales.total_itbis3),
        "MontoImpuestoAdicional": text(&totales.monto_impuesto_adicional),
        "ImpuestosAdicionales": (!taxes.is_empty()).then(|| json!({"ImpuestoAdicional": taxes})),
        "MontoTotal": text(&totales.monto_total), "MontoNoFacturable": text(&totales.monto_no_facturable)
    })
}

fn totals(receipt_type: ReceiptType, payload: &Value, stated: Stated) -> Value {
    let Stated::Of {
        indicator,
        left_out,
        off,
    } = stated
    else {
        return json!({});
    };
    let mut totales = computed(receipt_type, payload, indicator);
    let names: Vec<String> = totales.as_object().unwrap().keys().cloned().collect();
    if names.is_empty() {
        return totales;
    }
    for index in left_out {
        totales[index.get(&names).as_str()] = Value::Null;
    }
    if let Some((index, off)) = off {
        let field = &mut totales[index.get(&names).as_str()];
        let amount = field
            .as_str()
            .map(|amount| amount.replace('.', "").parse::<i64>().unwrap() + off);
        if let Some(amount) = amount.filter(|amount| *amount > 0) {
            *field = json!(cents(u32::try_from(amount).unwrap()));
        }
    }
    totales
}

/// A receipt of any type, often with several mistakes.
pub(crate) fn receipt() -> impl Strategy<Value = (ReceiptType, Value)> {
    (
        select(ReceiptType::ALL.to_vec()),
        proptest::collection::vec(line(), 1..4),
        of(0_u32..2),
        1_u32..4,
        weighted(0.2, entry()),
        weighted(0.8, Just(())),
        weighted(0.1, of(Just(2))),
        stated(),
    )
        .prop_map(|(receipt_type, lines, indicator, payment, entry, buyer, page, stated)| {
            let buyer = buyer.map(|()| json!({"RNCComprador": "198000012", "RazonSocialComprador": "Cliente SRL"}));
            let note = receipt_type.is_note().then(|| {
                json!({"NCFModificado": "E310000000009", "FechaNCFModificado": "20-11-2026", "CodigoModificacion": 3})
            });
            let mut payload = json!({
                "Encabezado": {
                    "IdDoc": {
                        "IndicadorMontoGravado": indicator, "TipoPago": payment, "TipoIngresos": "01",
                        "TotalPaginas": page.flatten(),
                        "IndicadorNotaCredito": (receipt_type == ReceiptType::E34).then_some(0)
                    },
                    "Emisor": {
                        "RNCEmisor": "199000013", "RazonSocialEmisor": "Ejemplo SRL",
                        "DireccionEmisor": "Calle Primera 1", "FechaEmision": "27-11-2026"
                    },
                    "Comprador": buyer
                },
                "DetallesItems": {"Item": lines},
                "DescuentosORecargos": entry.map(|entry| json!({"DescuentoORecargo": [entry]})),
                "Paginacion": page.map(|_| json!([{"PaginaNo": 1, "NoLineaDesde": 1, "NoLineaHasta": lines.len()}])),
                "InformacionReferencia": note
            });
            payload["Encabezado"]["Totales"] = totals(receipt_type, &payload, stated);
            (receipt_type, payload)
        })
}
