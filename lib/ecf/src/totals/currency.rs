//! The header in the other currency: the amounts in pesos divided by TipoCambio, and their sums. Amounts in pesos take
//! precedence. (For additional taxes the Informe Técnico prints another divisor; the format, which is newer, prints
//! TipoCambio.)

use rust_decimal::Decimal;

use super::exact::{Exact as _, TooLarge};
use super::header::sum_of;
use super::lines::monto;
use crate::Monto;
use crate::document::{ImpuestoAdicionalOtraMoneda, ImpuestosAdicionalesOtraMoneda, OtraMoneda, Totales};

pub(super) fn compute(totales: &Totales, rate: Decimal) -> Result<OtraMoneda, TooLarge> {
    let convert = |amount: &Option<Monto>| {
        amount
            .as_ref()
            .map(|amount| monto(amount.value().over(rate)?))
            .transpose()
    };
    let mut there = OtraMoneda {
        monto_gravado1_otra_moneda: convert(&totales.monto_gravado_i1)?,
        monto_gravado2_otra_moneda: convert(&totales.monto_gravado_i2)?,
        monto_gravado3_otra_moneda: convert(&totales.monto_gravado_i3)?,
        monto_exento_otra_moneda: convert(&totales.monto_exento)?,
        total_itbis1_otra_moneda: convert(&totales.total_itbis1)?,
        total_itbis2_otra_moneda: convert(&totales.total_itbis2)?,
        total_itbis3_otra_moneda: convert(&totales.total_itbis3)?,
        ..OtraMoneda::default()
    };
    let mut taxes = Vec::new();
    for tax in &totales.impuestos_adicionales.impuesto_adicional {
        // An amount that rounds to zero in the other currency is left out: the schema requires more than zero.
        let convert = |amount| convert(amount).map(|amount| amount.filter(|amount| *amount > Monto::zero()));
        taxes.push(ImpuestoAdicionalOtraMoneda {
            tipo_impuesto_otra_moneda: tax.tipo_impuesto,
            tasa_impuesto_adicional_otra_moneda: tax.tasa_impuesto_adicional.clone(),
            monto_impuesto_selectivo_consumo_especifico_otra_moneda: convert(
                &tax.monto_impuesto_selectivo_consumo_especifico,
            )?,
            monto_impuesto_selectivo_consumo_advalorem_otra_moneda: convert(
                &tax.monto_impuesto_selectivo_consumo_advalorem,
            )?,
            otros_impuestos_adicionales_otra_moneda: convert(&tax.otros_impuestos_adicionales)?,
        });
    }
    there.impuestos_adicionales_otra_moneda = ImpuestosAdicionalesOtraMoneda {
        impuesto_adicional_otra_moneda: taxes,
    };
    sum_up(&mut there)?;
    Ok(there)
}

/// Computes the sums of the header from the parts that are present; stated sums do not change.
pub(super) fn sum_up(there: &mut OtraMoneda) -> Result<(), TooLarge> {
    let taxed = [
        &there.monto_gravado1_otra_moneda,
        &there.monto_gravado2_otra_moneda,
        &there.monto_gravado3_otra_moneda,
    ];
    let taxed = sum_of(taxed)?;
    let itbis = sum_of([
        &there.total_itbis1_otra_moneda,
        &there.total_itbis2_otra_moneda,
        &there.total_itbis3_otra_moneda,
    ])?;
    let mut additional = None;
    for tax in &there.impuestos_adicionales_otra_moneda.impuesto_adicional_otra_moneda {
        additional = sum_of([
            &additional,
            &tax.monto_impuesto_selectivo_consumo_especifico_otra_moneda,
            &tax.monto_impuesto_selectivo_consumo_advalorem_otra_moneda,
            &tax.otros_impuestos_adicionales_otra_moneda,
        ])?;
    }
    let fill = |field: &mut Option<Monto>, amount: Option<Monto>| {
        if field.is_none() {
            *field = amount;
        }
    };
    fill(&mut there.monto_gravado_total_otra_moneda, taxed);
    fill(&mut there.total_itbis_otra_moneda, itbis);
    fill(&mut there.monto_impuesto_adicional_otra_moneda, additional);
    let total = sum_of([
        &there.monto_gravado_total_otra_moneda,
        &there.monto_exento_otra_moneda,
        &there.total_itbis_otra_moneda,
        &there.monto_impuesto_adicional_otra_moneda,
    ])?;
    fill(
        &mut there.monto_total_otra_moneda,
        Some(total.unwrap_or_else(Monto::zero)),
    );
    Ok(())
}
