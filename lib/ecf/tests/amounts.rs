//! Properties: computed amounts cause no findings, and any amount that differs by more than its tolerance is reported.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use ecf::document::{Document, Item, Totales};
use ecf::rules::{Context, check};
use ecf::totals::{IscRates, compute};
use ecf::{Amounts, Draft, Environment, Grade, Monto, Node, ReceiptType, Violation};
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};

fn cents(cents: u32, scale: u32) -> String {
    let unit = 10_u32.pow(scale);
    format!("{}.{:0width$}", cents / unit, cents % unit, width = scale as usize)
}

prop_compose! {
    fn line()(
        indicator in 0_u32..=4,
        quantity in 1_u32..100_000,
        price in 10_000_u32..100_000_000,
        discount in proptest::option::of(1_u32..100),
        surcharge in proptest::option::of(1_u32..10_000),
        telecom in proptest::bool::weighted(0.2),
    ) -> Value {
        let mut line = json!({
            "IndicadorFacturacion": indicator, "NombreItem": "Artículo", "IndicadorBienoServicio": 2,
            "CantidadItem": cents(quantity, 2), "PrecioUnitarioItem": cents(price, 4)
        });
        if let Some(discount) = discount.filter(|_| indicator != 0) {
            let part = json!([{"TipoSubDescuento": "%", "SubDescuentoPorcentaje": discount.to_string()}]);
            line["TablaSubDescuento"] = json!({"SubDescuento": part});
        }
        if let Some(surcharge) = surcharge {
            let part = json!([{"TipoSubRecargo": "$", "MontoSubRecargo": cents(surcharge, 2)}]);
            line["TablaSubRecargo"] = json!({"SubRecargo": part});
        }
        if telecom && indicator == 1 {
            let taxes = json!([{"TipoImpuesto": "002"}, {"TipoImpuesto": "004"}]);
            line["TablaImpuestoAdicional"] = json!({"ImpuestoAdicional": taxes});
        }
        line
    }
}

/// An invoice whose amounts were all computed.
fn completed(lines: &[Value], itbis_included: bool) -> Document {
    let taxed = lines
        .iter()
        .any(|line| matches!(line["IndicadorFacturacion"].as_u64(), Some(1 | 2)));
    let indicator = taxed.then_some(u32::from(itbis_included));
    let payload = json!({
        "Encabezado": {
            "IdDoc": {"IndicadorMontoGravado": indicator, "TipoIngresos": "01", "TipoPago": 1},
            "Emisor": {
                "RNCEmisor": "199000013", "RazonSocialEmisor": "Ejemplo SRL", "DireccionEmisor": "Calle Primera 1",
                "FechaEmision": "27-11-2026"
            },
            "Comprador": {"RNCComprador": "198000012", "RazonSocialComprador": "Cliente SRL"}
        },
        "DetallesItems": {"Item": lines}
    });
    let payload = Node::parse(payload.to_string().as_bytes()).unwrap();
    let (mut draft, _) = Draft::read(ReceiptType::E31, &payload, Amounts::Scaled).unwrap();
    draft.complete(&IscRates::of(Environment::Ecf));
    draft.check().unwrap().document().clone()
}

fn findings(document: &Document) -> Vec<Violation> {
    let rates = IscRates::of(Environment::Ecf);
    let computed = compute(document, ReceiptType::E31, &rates);
    let context = Context {
        receipt_type: ReceiptType::E31,
        environment: Environment::Ecf,
        today: "27-11-2026".parse().unwrap(),
        computed: &computed,
        rates: &rates,
    };
    check(document, &context)
}

/// The name of a header amount, and its accessor.
type HeaderAmount = (&'static str, fn(&mut Totales) -> &mut Option<Monto>);

const HEADER: [HeaderAmount; 12] = [
    ("MontoGravadoTotal", |totales| &mut totales.monto_gravado_total),
    ("MontoGravadoI1", |totales| &mut totales.monto_gravado_i1),
    ("MontoGravadoI2", |totales| &mut totales.monto_gravado_i2),
    ("MontoGravadoI3", |totales| &mut totales.monto_gravado_i3),
    ("MontoExento", |totales| &mut totales.monto_exento),
    ("TotalITBIS", |totales| &mut totales.total_itbis),
    ("TotalITBIS1", |totales| &mut totales.total_itbis1),
    ("TotalITBIS2", |totales| &mut totales.total_itbis2),
    ("TotalITBIS3", |totales| &mut totales.total_itbis3),
    ("MontoImpuestoAdicional", |totales| {
        &mut totales.monto_impuesto_adicional
    }),
    ("MontoNoFacturable", |totales| &mut totales.monto_no_facturable),
    ("MontoTotal", |totales| &mut totales.monto_total),
];

/// The name of a line amount, and its accessor.
type LineAmount = (&'static str, fn(&mut Item) -> Option<&mut Monto>);

const LINE: [LineAmount; 5] = [
    ("MontoItem", |item| item.monto_item.as_mut()),
    ("DescuentoMonto", |item| item.descuento_monto.as_mut()),
    ("RecargoMonto", |item| item.recargo_monto.as_mut()),
    ("MontoSubDescuento", |item| {
        item.tabla_sub_descuento
            .sub_descuento
            .first_mut()?
            .monto_sub_descuento
            .as_mut()
    }),
    ("MontoSubRecargo", |item| {
        item.tabla_sub_recargo
            .sub_recargo
            .first_mut()?
            .monto_sub_recargo
            .as_mut()
    }),
];

/// Raises an amount by whole pesos and three cents: with ITBIS included the authority accepts two ways of rounding,
/// which differ by a cent for each rate.
fn raise(amount: &mut Monto, pesos: usize) {
    let more = format!("{pesos}.03").parse::<Monto>().unwrap();
    *amount = Monto::try_from(amount.value() + more.value()).unwrap();
}

fn is_told(found: &[Violation], names: &[&str]) -> bool {
    found.iter().any(|violation| {
        violation.grade > Grade::Notice
            && violation
                .path
                .last()
                .is_some_and(|field| names.contains(&field.as_str()))
    })
}

/// When amounts have the largest size of their field, sums and products have more digits than a decimal holds.
#[test]
fn amounts_at_their_limits_are_judged_without_overflow() {
    let most = "9999999999999999.99";
    let part = json!({"TipoSubDescuento": "%", "SubDescuentoPorcentaje": "999.99", "MontoSubDescuento": most});
    let line = json!({
        "NumeroLinea": 1, "IndicadorFacturacion": 1, "NombreItem": "Artículo", "IndicadorBienoServicio": 1,
        "CantidadItem": most, "PrecioUnitarioItem": "9999999999999999.9999", "DescuentoMonto": most,
        "TablaSubDescuento": {"SubDescuento": vec![part; 12]}, "MontoItem": most, "Retencion": {"MontoITBISRetenido": most},
        "OtraMonedaDetalle": {"PrecioOtraMoneda": "9999999999999999.9999", "MontoItemOtraMoneda": most}
    });
    let lines: Vec<Value> = std::iter::repeat_n(line, 1_000).collect();
    let payload = json!({
        "Encabezado": {
            "Totales": {"MontoGravadoI1": most, "TotalITBIS1": most, "MontoTotal": most, "TotalITBISRetenido": "0.00"},
            "OtraMoneda": {"TipoMoneda": "USD", "TipoCambio": "0.0001", "MontoTotalOtraMoneda": most}
        },
        "DetallesItems": {"Item": lines}
    });
    let payload = Node::parse(payload.to_string().as_bytes()).unwrap();
    let (draft, _) = Draft::read(ReceiptType::E31, &payload, Amounts::Verbatim).unwrap();
    let found = findings(draft.document());
    assert!(found.iter().any(|violation| violation.code == "LINEA-03"));
    assert!(found.iter().any(|violation| violation.code == "RETENCION-06"));
}

proptest! {
    #[test]
    fn computed_amounts_raise_nothing(lines in proptest::collection::vec(line(), 1..12), included: bool) {
        prop_assert_eq!(findings(&completed(&lines, included)), []);
    }

    #[test]
    fn a_header_amount_beyond_its_tolerance_is_told(
        lines in proptest::collection::vec(line(), 1..12),
        included: bool,
        which: Index,
    ) {
        let mut document = completed(&lines, included);
        let totales = &mut document.encabezado.totales;
        let there: Vec<_> = HEADER.into_iter().filter(|(_, amount)| amount(totales).is_some()).collect();
        let (name, amount) = there[which.index(there.len())];
        raise(amount(totales).as_mut().unwrap(), lines.len());
        let found = findings(&document);
        prop_assert!(is_told(&found, &[name]), "{name}: {found:#?}");
    }

    #[test]
    fn an_amount_of_a_line_beyond_its_tolerance_is_told_on_that_line(
        lines in proptest::collection::vec(line(), 1..12),
        included: bool,
        which: Index,
        amount: Index,
    ) {
        let mut document = completed(&lines, included);
        let index = which.index(lines.len());
        let item = &mut document.detalles_items.item[index];
        let there: Vec<_> = LINE.into_iter().filter(|(_, amount)| amount(item).is_some()).collect();
        let (name, amount) = there[amount.index(there.len())];
        raise(amount(item).unwrap(), 1);
        let mut found = findings(&document);
        found.retain(|violation| violation.path.get(2) == Some(&index.to_string()));
        // A wrong part is reported at the part or at the sum of the parts.
        let names = match name {
            "MontoSubDescuento" => ["MontoSubDescuento", "DescuentoMonto"],
            "MontoSubRecargo" => ["MontoSubRecargo", "RecargoMonto"],
            other => [other, other],
        };
        prop_assert!(is_told(&found, &names), "{name}: {found:#?}");
    }
}
