//! The amounts of one line.

use rust_decimal::Decimal;

use super::exact::{Exact as _, ITBIS1, ITBIS2, TooLarge, sum};
use super::problem::{Problem, line_path};
use super::setting::Setting;
use super::taxes::{self, LineTax};
use crate::catalogue::{IndicadorFacturacion, TipoImpuesto, TipoValor};
use crate::document::{Document, Item, OtraMonedaDetalle};
use crate::{DecimalError, Monto, Porcentaje, Precio};

/// The computed amounts of a line, and its effective amount.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LineAmounts {
    /// MontoSubDescuento of each discount that is a percentage of price times quantity.
    pub sub_descuentos: Vec<Option<Monto>>,
    /// The sum of the discounts, when the line lists any.
    pub descuento_monto: Option<Monto>,
    /// MontoSubRecargo of each surcharge that is a percentage of price times quantity.
    pub sub_recargos: Vec<Option<Monto>>,
    /// The sum of the surcharges, when the line lists any.
    pub recargo_monto: Option<Monto>,
    /// The price in pesos, if the line states only a price in the other currency.
    pub precio_unitario_item: Option<Precio>,
    /// Price times quantity, less discounts, plus surcharges.
    pub monto_item: Option<Monto>,
    /// The line in the other currency, when TipoCambio is given.
    pub otra_moneda_detalle: OtraMonedaDetalle,
    pub(super) indicador: Option<IndicadorFacturacion>,
    /// MontoItem as stated, otherwise as computed.
    pub(super) amount: Decimal,
    pub(super) divisor: Decimal,
    pub(super) divisor_of_taxes: Decimal,
    pub(super) taxes: Vec<LineTax>,
}

impl LineAmounts {
    /// The effective amount of the line: MontoItem as stated, otherwise as computed.
    pub fn amount(&self) -> Decimal {
        self.amount
    }

    /// The amount without the taxes that the price includes, before global discounts; not rounded.
    pub fn net(&self) -> Decimal {
        self.amount.over(self.divisor).unwrap_or(self.amount)
    }

    /// The excise taxes of the line (codes 006 to 039), not rounded.
    pub fn isc(&self) -> Decimal {
        let taxes = self.taxes.iter().filter_map(|tax| tax.isc().ok());
        sum(taxes).unwrap_or_default()
    }

    /// Each excise tax of the line, not rounded.
    pub fn isc_by_tax(&self) -> impl Iterator<Item = (TipoImpuesto, Decimal)> {
        let excise = self.taxes.iter().filter(|tax| tax.tipo.in_itbis_base());
        excise.filter_map(|tax| Some((tax.tipo, tax.isc().ok()?)))
    }

    /// The ITBIS of the line, not rounded. The receipt's ITBIS is computed from its bases: the sum of the lines, each
    /// rounded, may differ by some cents.
    pub fn itbis(&self) -> Decimal {
        let itbis = match self.indicador {
            Some(IndicadorFacturacion::Itbis1) => self.net().plus(self.isc()).and_then(|base| base.percent(ITBIS1)),
            Some(IndicadorFacturacion::Itbis2) => self.net().percent(ITBIS2),
            _ => Ok(Decimal::ZERO),
        };
        itbis.unwrap_or_default()
    }

    /// MontoITBISRetenido for this percentage of the line's ITBIS.
    ///
    /// # Errors
    ///
    /// When the result has more digits than an amount allows.
    pub fn monto_itbis_retenido(&self, percentage: &Porcentaje) -> Result<Monto, DecimalError> {
        Monto::rounded(self.itbis().percent(percentage.value()).unwrap_or(Decimal::MAX))
    }

    /// MontoISRRetenido for this percentage of the line's net amount.
    ///
    /// # Errors
    ///
    /// When the result has more digits than an amount allows.
    pub fn monto_isr_retenido(&self, percentage: &Porcentaje) -> Result<Monto, DecimalError> {
        Monto::rounded(self.net().percent(percentage.value()).unwrap_or(Decimal::MAX))
    }
}

/// Computes the amounts of all lines.
pub(super) fn compute(document: &Document, setting: &Setting, problems: &mut Vec<Problem>) -> Vec<LineAmounts> {
    let items = document.detalles_items.item.iter().enumerate();
    items
        .map(|(index, item)| {
            of_line(index, item, setting, problems).unwrap_or_else(|TooLarge| {
                let path = line_path(index, "MontoItem");
                problems.push(Problem::TooLarge { path });
                LineAmounts::default()
            })
        })
        .collect()
}

fn of_line(index: usize, item: &Item, setting: &Setting, problems: &mut Vec<Problem>) -> Result<LineAmounts, TooLarge> {
    let mut line = LineAmounts {
        indicador: item.indicador_facturacion,
        divisor: setting.divisor(item.indicador_facturacion, item),
        precio_unitario_item: price_in_pesos(item, setting)?,
        ..LineAmounts::default()
    };
    line.divisor_of_taxes = setting.divisor_of_taxes(line.indicador, line.divisor);
    let price = item
        .precio_unitario_item
        .as_ref()
        .or(line.precio_unitario_item.as_ref());
    let quantity = item.cantidad_item.as_ref();
    let gross = price
        .zip(quantity)
        .map(|(price, quantity)| price.value().times(quantity.value()))
        .transpose()?;

    let discounts = item.tabla_sub_descuento.sub_descuento.iter().map(|sub| Adjustment {
        tipo: sub.tipo_sub_descuento,
        percentage: sub.sub_descuento_porcentaje.as_ref(),
        stated: sub.monto_sub_descuento.as_ref(),
    });
    (line.sub_descuentos, line.descuento_monto) = adjustments(discounts, gross)?;
    let surcharges = item.tabla_sub_recargo.sub_recargo.iter().map(|sub| Adjustment {
        tipo: sub.tipo_sub_recargo,
        percentage: sub.sub_recargo_porcentaje.as_ref(),
        stated: sub.monto_sub_recargo.as_ref(),
    });
    (line.sub_recargos, line.recargo_monto) = adjustments(surcharges, gross)?;

    if let Some(gross) = gross {
        let discount = value(item.descuento_monto.as_ref().or(line.descuento_monto.as_ref()));
        let surcharge = value(item.recargo_monto.as_ref().or(line.recargo_monto.as_ref()));
        let exact = gross.minus(discount)?.plus(surcharge)?;
        if exact.is_sign_negative() && !exact.is_zero() {
            let path = line_path(index, "MontoItem");
            problems.push(Problem::Negative { path, exact });
        } else {
            line.monto_item = Some(monto(exact)?);
        }
        line.taxes = taxes::of_line(index, item, gross, setting, problems)?;
    }
    line.amount = value(item.monto_item.as_ref().or(line.monto_item.as_ref()));
    if let Some(rate) = setting.tipo_cambio {
        line.otra_moneda_detalle = in_other_currency(item, &line, price, rate)?;
    }
    Ok(line)
}

/// A discount or surcharge of a line.
struct Adjustment<'a> {
    tipo: Option<TipoValor>,
    percentage: Option<&'a Porcentaje>,
    stated: Option<&'a Monto>,
}

/// The amounts of percentages, and the sum of all amounts. Every percentage applies to price times quantity, never to
/// the remainder after an earlier discount.
fn adjustments<'a>(
    list: impl ExactSizeIterator<Item = Adjustment<'a>>,
    gross: Option<Decimal>,
) -> Result<(Vec<Option<Monto>>, Option<Monto>), TooLarge> {
    if list.len() == 0 {
        return Ok((Vec::new(), None));
    }
    let mut amounts = Vec::with_capacity(list.len());
    let mut total = Decimal::ZERO;
    for adjustment in list {
        let amount = match (adjustment.tipo, adjustment.percentage, gross) {
            (Some(TipoValor::Porcentaje), Some(percentage), Some(gross)) => {
                Some(monto(gross.percent(percentage.value())?)?)
            }
            _ => None,
        };
        total = total.plus(value(adjustment.stated.or(amount.as_ref())))?;
        amounts.push(amount);
    }
    Ok((amounts, Some(monto(total)?)))
}

/// The price in pesos of a line that states only a price in the other currency.
fn price_in_pesos(item: &Item, setting: &Setting) -> Result<Option<Precio>, TooLarge> {
    let (None, Some(rate), Some(price)) = (
        &item.precio_unitario_item,
        setting.tipo_cambio,
        &item.otra_moneda_detalle.precio_otra_moneda,
    ) else {
        return Ok(None);
    };
    Ok(Some(precio(price.value().times(rate)?)?))
}

/// The line in the other currency. A line priced in pesos is divided by the rate. A line priced in the other currency
/// is multiplied in that currency, since its price in pesos is already rounded.
fn in_other_currency(
    item: &Item,
    line: &LineAmounts,
    price: Option<&Precio>,
    rate: Decimal,
) -> Result<OtraMonedaDetalle, TooLarge> {
    let stated = &item.otra_moneda_detalle;
    let converted = |amount: Option<&Monto>| amount.map(|amount| monto(amount.value().over(rate)?)).transpose();
    let descuento = converted(item.descuento_monto.as_ref().or(line.descuento_monto.as_ref()))?;
    let recargo = converted(item.recargo_monto.as_ref().or(line.recargo_monto.as_ref()))?;
    let precio_otra_moneda = price.map(|price| precio(price.value().over(rate)?)).transpose()?;
    let priced_there = match (&stated.precio_otra_moneda, price) {
        (Some(there), Some(here)) => precio(there.value().times(rate)?)? == *here,
        _ => false,
    };
    let monto_item = match (priced_there, &stated.precio_otra_moneda, &item.cantidad_item) {
        (true, Some(price), Some(quantity)) => {
            let discount = value(stated.descuento_otra_moneda.as_ref().or(descuento.as_ref()));
            let surcharge = value(stated.recargo_otra_moneda.as_ref().or(recargo.as_ref()));
            let exact = price
                .value()
                .times(quantity.value())?
                .minus(discount)?
                .plus(surcharge)?;
            monto(exact.max(Decimal::ZERO))?
        }
        _ => monto(line.amount.over(rate)?)?,
    };
    Ok(OtraMonedaDetalle {
        precio_otra_moneda,
        descuento_otra_moneda: descuento,
        recargo_otra_moneda: recargo,
        monto_item_otra_moneda: Some(monto_item),
    })
}

/// The value of an amount; zero if it is absent.
pub(super) fn value(amount: Option<&Monto>) -> Decimal {
    amount.map(Monto::value).unwrap_or_default()
}

/// The rounded amount.
pub(super) fn monto(exact: Decimal) -> Result<Monto, TooLarge> {
    Monto::rounded(exact).map_err(|_| TooLarge)
}

fn precio(exact: Decimal) -> Result<Precio, TooLarge> {
    Precio::rounded(exact).map_err(|_| TooLarge)
}
