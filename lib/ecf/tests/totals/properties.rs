//! Properties of any receipt.

use ecf::document::Totales;
use ecf::totals::{self, IscRates};
use ecf::{Amounts, Document, Draft, Environment, Node, ReceiptType};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{completed, invoice, line, rates};

/// A line of any group, with discounts, surcharges and taxes.
fn any_line() -> impl Strategy<Value = Value> {
    let amount = (1u64..5_000_000_000, 0u32..5);
    let adjustment = prop_oneof![
        (1u32..2_000).prop_map(|percent| json!({"%": format!("{}.{:02}", percent / 100, percent % 100)})),
        (0u32..50).prop_map(|cents| json!({"$": format!("0.{cents:02}")})),
    ];
    let taxes = prop::sample::subsequence(vec!["001", "002", "003", "004", "005"], 0..=2);
    let adjustments = || prop::collection::vec(adjustment.clone(), 0..3);
    (0u32..5, 1u64..100_000, amount, adjustments(), adjustments(), taxes).prop_map(
        |(indicador, quantity, (price, _), discounts, surcharges, taxes)| {
            let mut line = line(
                indicador,
                &format!("{}.{:02}", quantity / 100, quantity % 100),
                &format!("{}.{:04}", price / 10_000, price % 10_000),
            );
            let table = |name: &str, list: &[Value]| {
                let entries = list.iter().map(|one| match one.get("%") {
                    Some(percent) => {
                        json!({format!("Tipo{name}"): "%", format!("{name}Porcentaje"): percent})
                    }
                    None => json!({format!("Tipo{name}"): "$", format!("Monto{name}"): one["$"]}),
                });
                entries.collect::<Vec<Value>>()
            };
            // Fixed discounts could exceed a tiny line.
            if price > 10_000 && quantity > 100 {
                line["TablaSubDescuento"] = json!(table("SubDescuento", &discounts));
                line["TablaSubRecargo"] = json!(table("SubRecargo", &surcharges));
            }
            let taxes = taxes.iter().map(|code| json!({"TipoImpuesto": code}));
            line["TablaImpuestoAdicional"] = taxes.collect();
            line
        },
    )
}

fn any_invoice() -> impl Strategy<Value = Value> {
    let entry = (1u32..5, any::<bool>(), 1u32..500).prop_map(|(group, discount, percent)| {
        json!({
            "TipoAjuste": if discount { "D" } else { "R" }, "TipoValor": "%",
            "ValorDescuentooRecargo": format!("{}.{:02}", percent / 100, percent % 100),
            "IndicadorFacturacionDescuentooRecargo": group
        })
    });
    (
        prop::collection::vec(any_line(), 1..12),
        prop::collection::vec(entry, 0..4),
        any::<bool>(),
    )
        .prop_map(|(lines, entries, included)| {
            let mut payload = invoice(lines);
            payload["Encabezado"]["IdDoc"]["IndicadorMontoGravado"] = json!(u8::from(included));
            payload["DescuentosORecargos"] = json!(entries);
            payload
        })
}

/// The totals that a receipt must state, without the optional ones.
fn comparable(totales: &Totales) -> Totales {
    let mut totales = totales.clone();
    totales.monto_periodo = None;
    totales.valor_pagar = None;
    totales
}

proptest! {
    #[test]
    fn a_completed_receipt_states_what_would_be_computed_for_it(payload in any_invoice()) {
        let (document, _) = completed(&payload);
        let received = Document::from_xml(&document.to_xml()).unwrap().document;
        let computed = totals::compute(&received, ReceiptType::E31, &rates());
        prop_assert_eq!(&computed.problems, &[]);
        prop_assert_eq!(comparable(&computed.totales), comparable(&received.encabezado.totales));
        for (item, line) in received.detalles_items.item.iter().zip(&computed.lines) {
            prop_assert_eq!(&item.monto_item, &line.monto_item);
            prop_assert_eq!(&item.descuento_monto, &line.descuento_monto);
            prop_assert_eq!(&item.recargo_monto, &line.recargo_monto);
        }
        for (entry, amounts) in received.descuentos_o_recargos.descuento_o_recargo.iter().zip(&computed.entries) {
            prop_assert_eq!(&entry.monto_descuentoo_recargo, &amounts.monto_descuentoo_recargo);
        }
    }

    #[test]
    fn the_order_of_lines_does_not_matter(payload in any_invoice(), turn in 1usize..12) {
        let mut turned = payload.clone();
        let lines = turned["DetallesItems"].as_array_mut().unwrap();
        let turn = turn % lines.len();
        lines.rotate_left(turn);
        lines.reverse();
        let (first, second) = (completed(&payload).0, completed(&turned).0);
        prop_assert_eq!(&first.encabezado.totales, &second.encabezado.totales);
    }

    #[test]
    fn prices_with_itbis_included_add_up_to_what_the_customer_pays(cents in prop::collection::vec(1u64..10_000_000, 1..20)) {
        let lines = cents.iter().map(|cents| line(1, "1", &format!("{}.{:02}", cents / 100, cents % 100)));
        let mut payload = invoice(lines.collect());
        payload["Encabezado"]["IdDoc"]["IndicadorMontoGravado"] = json!(1);
        let paid = rust_decimal::Decimal::new(i64::try_from(cents.iter().sum::<u64>()).unwrap(), 2);
        prop_assert_eq!(completed(&payload).0.encabezado.totales.monto_total.unwrap().value(), paid);
    }

    #[test]
    fn no_amounts_make_it_panic(
        lines in prop::collection::vec((0u32..5, "[0-9]{1,16}\\.[0-9]{2}", "[0-9]{1,16}\\.[0-9]{4}", "[0-9]{1,16}\\.[0-9]{2}", "[0-9]{1,3}\\.[0-9]{2}"), 1..5),
        codes in prop::sample::subsequence(vec!["001", "006", "019", "023", "036"], 2),
    ) {
        let lines = lines.into_iter().map(|(indicador, quantity, price, reference, rate)| {
            let mut line = line(indicador, &quantity, &price);
            line["CantidadReferencia"] = json!(reference);
            line["PrecioUnitarioReferencia"] = json!(reference);
            line["GradosAlcohol"] = json!(rate);
            line["TablaSubcantidad"] = json!([{"Subcantidad": reference}]);
            line["TablaImpuestoAdicional"] = codes.iter().map(|code| json!({"TipoImpuesto": code})).collect();
            line["TablaSubRecargo"] = json!([{"TipoSubRecargo": "%", "SubRecargoPorcentaje": rate}]);
            line
        });
        let mut payload = invoice(lines.collect());
        payload["Encabezado"]["OtraMoneda"] = json!({"TipoMoneda": "USD", "TipoCambio": "0.0001"});
        let node = Node::parse(payload.to_string().as_bytes()).unwrap();
        if let Ok((mut draft, _)) = Draft::read(ReceiptType::E31, &node, Amounts::Scaled) {
            draft.complete(&IscRates::of(Environment::TesteCF));
            let _ = draft.check();
        }
    }
}
