//! Discounts and surcharges of the whole receipt (format, section DescuentosORecargos; Informe Técnico §15).

use rust_decimal::Decimal;

use super::exact::{Exact as _, TooLarge};
use super::lines::{monto, value};
use super::problem::{Problem, path};
use super::setting::{Setting, is_norma_1007};
use super::sums::{GROUPS, Sums};
use crate::Monto;
use crate::catalogue::{IndicadorFacturacionDescuentooRecargo, TipoAjuste, TipoValor};
use crate::document::{DescuentoORecargo, Document};

/// The computed amounts of one entry.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EntryAmounts {
    /// MontoDescuentooRecargo, if the entry is a percentage: of the net amount of its group before any entry.
    pub monto_descuentoo_recargo: Option<Monto>,
    /// The same in the other currency, when TipoCambio is given.
    pub monto_descuentoo_recargo_otra_moneda: Option<Monto>,
}

/// The combined effect of all entries.
#[derive(Debug, Clone, Default)]
pub(super) struct Adjustments {
    /// Surcharges less discounts of each group, as net amounts: tax-inclusive prices are divided first.
    pub(super) groups: [Decimal; GROUPS],
    /// Whether an entry affects the group.
    pub(super) named: [bool; GROUPS],
    /// The discounts under Norma 10-07, which reduce only the amount to pay.
    pub(super) norma_1007: Decimal,
}

impl Adjustments {
    /// Surcharges less discounts of all groups.
    pub(super) fn total(&self) -> Result<Decimal, TooLarge> {
        super::exact::sum(self.groups)
    }
}

/// Computes the amounts of the entries, and their combined effect.
pub(super) fn compute(
    document: &Document,
    sums: &Sums,
    setting: &Setting,
    problems: &mut Vec<Problem>,
) -> (Vec<EntryAmounts>, Adjustments) {
    let mut adjustments = Adjustments::default();
    let list = &document.descuentos_o_recargos.descuento_o_recargo;
    let mut entries = Vec::with_capacity(list.len());
    for (index, entry) in list.iter().enumerate() {
        let amounts = of_entry(entry, sums, setting).and_then(|amounts| {
            let stated = entry.monto_descuentoo_recargo.as_ref();
            adjustments.add(entry, value(stated.or(amounts.monto_descuentoo_recargo.as_ref())))?;
            Ok(amounts)
        });
        entries.push(amounts.unwrap_or_else(|TooLarge| {
            let place = index.to_string();
            let steps = [
                "DescuentosORecargos",
                "DescuentoORecargo",
                &place,
                "MontoDescuentooRecargo",
            ];
            problems.push(Problem::TooLarge { path: path(&steps) });
            EntryAmounts::default()
        }));
    }
    (entries, adjustments)
}

impl Adjustments {
    fn add(&mut self, entry: &DescuentoORecargo, amount: Decimal) -> Result<(), TooLarge> {
        if is_norma_1007(entry) {
            self.norma_1007 = self.norma_1007.plus(amount)?;
            return Ok(());
        }
        let Some(group) = entry.indicador_facturacion_descuentoo_recargo.map(group_of) else {
            return Ok(());
        };
        let sum = &mut self.groups[group];
        *sum = match entry.tipo_ajuste {
            Some(TipoAjuste::Descuento) => sum.minus(amount)?,
            Some(TipoAjuste::Recargo) => sum.plus(amount)?,
            None => *sum,
        };
        self.named[group] = true;
        Ok(())
    }
}

fn of_entry(entry: &DescuentoORecargo, sums: &Sums, setting: &Setting) -> Result<EntryAmounts, TooLarge> {
    let group = entry.indicador_facturacion_descuentoo_recargo.map(group_of);
    let computed = match (entry.tipo_valor, &entry.valor_descuentoo_recargo, group) {
        (Some(TipoValor::Porcentaje), Some(percentage), Some(group)) => {
            let base = sums.groups[group].exact()?;
            Some(monto(base.percent(percentage.value())?)?)
        }
        _ => None,
    };
    let amount = entry.monto_descuentoo_recargo.as_ref().or(computed.as_ref());
    let converted = amount
        .zip(setting.tipo_cambio)
        .map(|(amount, rate)| monto(amount.value().over(rate)?));
    Ok(EntryAmounts {
        monto_descuentoo_recargo_otra_moneda: converted.transpose()?,
        monto_descuentoo_recargo: computed,
    })
}

const fn group_of(indicador: IndicadorFacturacionDescuentooRecargo) -> usize {
    match indicador {
        IndicadorFacturacionDescuentooRecargo::Itbis1 => 1,
        IndicadorFacturacionDescuentooRecargo::Itbis2 => 2,
        IndicadorFacturacionDescuentooRecargo::Itbis3 => 3,
        IndicadorFacturacionDescuentooRecargo::Exento => 4,
    }
}
