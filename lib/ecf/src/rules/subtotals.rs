//! `Subtotales` and the costs of a shipment. The sums are informative, so all findings are notices.

use ecf_language::say;
use rust_decimal::Decimal;

use super::finding::at;
use super::{Case, Findings, Rule, sum};
use crate::Monto;
use crate::document::Subtotal;

pub(super) const RULES: &[Rule] = &[
    Rule::notice(
        "SUBTOTAL-01",
        "format, Subtotales: MontoSubTotal",
        "MontoSubTotal is taxed, ITBIS, additional and exempt of the subtotal together",
        subtotal_is_the_sum,
    ),
    Rule::notice(
        "EMBARQUE-01",
        "format, InformacionesAdicionales: TotalCif",
        "TotalCif is FOB, freight, insurance and other costs together",
        cif_is_the_sum,
    ),
];

/// Taxed amounts and ITBIS are one sum, or one amount per rate when the sum is absent.
fn parts(subtotal: &Subtotal) -> Option<Decimal> {
    let total = |whole: &Option<Monto>, parts: [&Option<Monto>; 3]| match whole {
        Some(whole) => Some(whole.value()),
        None => sum(parts.into_iter().map(Option::as_ref)),
    };
    let taxed = total(
        &subtotal.sub_total_monto_gravado_total,
        [
            &subtotal.sub_total_monto_gravado_i1,
            &subtotal.sub_total_monto_gravado_i2,
            &subtotal.sub_total_monto_gravado_i3,
        ],
    );
    let itbis = total(
        &subtotal.sub_tota_itbis,
        [
            &subtotal.sub_tota_itbis1,
            &subtotal.sub_tota_itbis2,
            &subtotal.sub_tota_itbis3,
        ],
    );
    let rest = [&subtotal.sub_total_impuesto_adicional, &subtotal.sub_total_exento];
    let rest = sum(rest.into_iter().map(Option::as_ref));
    let given: Vec<Decimal> = [taxed, itbis, rest].into_iter().flatten().collect();
    let first = *given.first()?;
    given[1..].iter().try_fold(first, |sum, part| sum.checked_add(*part))
}

fn subtotal_is_the_sum(case: &Case<'_>, out: &mut Findings<'_>) {
    for (index, subtotal) in case.document.subtotales.subtotal.iter().enumerate() {
        let Some((stated, expected)) = subtotal.monto_sub_total.as_ref().zip(parts(subtotal)) else {
            continue;
        };
        if stated.value() != expected {
            let path = at(&["Subtotales", "Subtotal", &index.to_string(), "MontoSubTotal"]);
            let message = say!(
                "MontoSubTotal is not the sum of the parts of the subtotal",
                "MontoSubTotal no es la suma de las partes del subtotal"
            );
            out.amount(path, stated.value(), expected, message);
        }
    }
}

fn cif_is_the_sum(case: &Case<'_>, out: &mut Findings<'_>) {
    let shipment = &case.document.encabezado.informaciones_adicionales;
    let parts = [
        &shipment.total_fob,
        &shipment.seguro,
        &shipment.flete,
        &shipment.otros_gastos,
    ];
    let Some((stated, expected)) = shipment
        .total_cif
        .as_ref()
        .zip(sum(parts.into_iter().map(Option::as_ref)))
    else {
        return;
    };
    if stated.value() != expected {
        let path = at(&["Encabezado", "InformacionesAdicionales", "TotalCif"]);
        let message = say!(
            "TotalCif is not TotalFob + Seguro + Flete + OtrosGastos",
            "TotalCif no es TotalFob + Seguro + Flete + OtrosGastos"
        );
        out.amount(path, stated.value(), expected, message);
    }
}
