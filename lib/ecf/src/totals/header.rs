//! The sums of the receipt: bases, ITBIS, totals (format, section Totales; Informe Técnico §13 to §15).

use rust_decimal::Decimal;

use super::entries::{self, Adjustments};
use super::exact::{Exact as _, ITBIS1, ITBIS2, TooLarge, sum};
use super::lines::{self, monto, value};
use super::problem::{Problem, path};
use super::setting::Setting;
use super::sums::{GROUPS, Sums};
use super::taxes::Shares;
use super::{Computed, IscRates, currency, pages};
use crate::catalogue::ImpuestoClass;
use crate::document::{Document, ImpuestoAdicional, ImpuestosAdicionales, Item, Retencion, Totales};
use crate::{Monto, Porcentaje, ReceiptType};

/// The rates as the fields ITBIS1 to ITBIS3 state them.
const RATES: [u32; 3] = [18, 16, 0];

/// Computes the whole receipt.
pub(super) fn compute(document: &Document, ecf_type: ReceiptType, rates: &IscRates) -> Computed {
    let mut problems = Vec::new();
    let setting = Setting::of(document, ecf_type, rates, &mut problems);
    let lines = lines::compute(document, &setting, &mut problems);
    let mut computed = Computed {
        lines,
        ..Computed::default()
    };
    if let Err(TooLarge) = of_header(document, &setting, &mut computed, &mut problems) {
        let path = path(&["Encabezado", "Totales", "MontoTotal"]);
        problems.push(Problem::TooLarge { path });
    }
    computed.problems = problems;
    computed
}

fn of_header(
    document: &Document,
    setting: &Setting,
    computed: &mut Computed,
    problems: &mut Vec<Problem>,
) -> Result<(), TooLarge> {
    let sums = Sums::of(&computed.lines)?;
    let adjustments;
    (computed.entries, adjustments) = entries::compute(document, &sums, setting, problems);
    let shares = Shares {
        adjustment: adjustments.total()?,
        billable: sums.billable()?,
    };

    let bases = Bases::of(&sums, &adjustments, problems)?;
    let taxes = of_taxes(&sums, shares, problems)?;
    let isc = sum(taxes.iter().map(|tax| value(isc_amount(tax))))?;
    let exact = Itbis {
        first: bases.exact[1],
        second: bases.exact[2],
        isc,
    };
    // The format multiplies the rounded field instead of the exact base.
    let literal = Itbis {
        first: monto(bases.exact[1])?.value(),
        second: monto(bases.exact[2])?.value(),
        isc,
    };

    let mut totales = bases.totales(setting)?;
    totales.monto_no_facturable = bases.amount(0, setting, "MontoNoFacturable")?;
    let retained = |amount: fn(&Retencion) -> Option<&Monto>, field: &str| {
        retained(&document.detalles_items.item, amount).map(|sum| sum.filter(|_| setting.allows(field)))
    };
    totales.total_itbis_retenido = retained(|line| line.monto_itbis_retenido.as_ref(), "TotalITBISRetenido")?;
    totales.total_isr_retencion = retained(|line| line.monto_isr_retenido.as_ref(), "TotalISRRetencion")?;
    if !taxes.is_empty() && setting.allows("MontoImpuestoAdicional") {
        let amounts = taxes.iter().map(|tax| value(amount_of(tax)));
        totales.monto_impuesto_adicional = Some(monto(sum(amounts)?)?);
        totales.impuestos_adicionales = ImpuestosAdicionales {
            impuesto_adicional: taxes,
        };
    }
    let stated = &document.encabezado.totales;
    computed.literal = with_itbis(&totales, &bases, &literal, &adjustments, stated, setting)?;
    computed.totales = with_itbis(&totales, &bases, &exact, &adjustments, stated, setting)?;
    if let Some(rate) = setting.tipo_cambio {
        computed.otra_moneda = currency::compute(&computed.totales, rate)?;
    }
    computed.pages = pages::compute(document, computed, &sums, &adjustments, shares)?;
    Ok(())
}

/// The exact base of each group.
struct Bases {
    exact: [Decimal; GROUPS],
    present: [bool; GROUPS],
}

impl Bases {
    fn of(sums: &Sums, adjustments: &Adjustments, problems: &mut Vec<Problem>) -> Result<Self, TooLarge> {
        let mut bases = Self {
            exact: [Decimal::ZERO; GROUPS],
            present: [false; GROUPS],
        };
        for (group, gross) in sums.groups.iter().enumerate() {
            let exact = gross.exact()?.plus(adjustments.groups[group])?;
            bases.present[group] = !gross.is_empty() || adjustments.named[group];
            if exact.is_sign_negative() && !exact.is_zero() {
                const FIELDS: [&str; GROUPS] = [
                    "MontoNoFacturable",
                    "MontoGravadoI1",
                    "MontoGravadoI2",
                    "MontoGravadoI3",
                    "MontoExento",
                ];
                let path = path(&["Encabezado", "Totales", FIELDS[group]]);
                problems.push(Problem::Negative {
                    path,
                    exact: monto(exact)?.value(),
                });
                bases.present[group] = false;
            } else {
                bases.exact[group] = exact;
            }
        }
        Ok(bases)
    }

    /// The rounded amount of a group, if the receipt has the group and its type may state it.
    fn amount(&self, group: usize, setting: &Setting, field: &str) -> Result<Option<Monto>, TooLarge> {
        (self.present[group] && setting.allows(field))
            .then(|| monto(self.exact[group]))
            .transpose()
    }

    fn totales(&self, setting: &Setting) -> Result<Totales, TooLarge> {
        let mut totales = Totales {
            monto_gravado_i1: self.amount(1, setting, "MontoGravadoI1")?,
            monto_gravado_i2: self.amount(2, setting, "MontoGravadoI2")?,
            monto_gravado_i3: self.amount(3, setting, "MontoGravadoI3")?,
            monto_exento: self.amount(4, setting, "MontoExento")?,
            ..Totales::default()
        };
        totales.itbis1 = totales.monto_gravado_i1.as_ref().map(|_| RATES[0]);
        totales.itbis2 = totales.monto_gravado_i2.as_ref().map(|_| RATES[1]);
        totales.itbis3 = totales.monto_gravado_i3.as_ref().map(|_| RATES[2]);
        totales.monto_gravado_total = sum_of([
            &totales.monto_gravado_i1,
            &totales.monto_gravado_i2,
            &totales.monto_gravado_i3,
        ])?;
        Ok(totales)
    }
}

/// The bases of the ITBIS.
struct Itbis {
    first: Decimal,
    second: Decimal,
    /// The excise taxes, which belong to the 18 % base.
    isc: Decimal,
}

/// Adds the ITBIS and the totals that depend on it.
fn with_itbis(
    totales: &Totales,
    bases: &Bases,
    itbis: &Itbis,
    adjustments: &Adjustments,
    stated: &Totales,
    setting: &Setting,
) -> Result<Totales, TooLarge> {
    let mut totales = totales.clone();
    if bases.present[1] && setting.allows("TotalITBIS1") {
        totales.total_itbis1 = Some(monto(itbis.first.plus(itbis.isc)?.percent(ITBIS1)?)?);
    }
    if bases.present[2] && setting.allows("TotalITBIS2") {
        totales.total_itbis2 = Some(monto(itbis.second.percent(ITBIS2)?)?);
    }
    if bases.present[3] && setting.allows("TotalITBIS3") {
        totales.total_itbis3 = Some(Monto::zero());
    }
    totales.total_itbis = sum_of([&totales.total_itbis1, &totales.total_itbis2, &totales.total_itbis3])?;
    totales.monto_total = Some(monto_total(&totales)?);
    totales.monto_periodo = Some(monto_periodo(&totales)?);
    totales.saldo_anterior = stated.saldo_anterior.clone();
    totales.monto_avance_pago = stated.monto_avance_pago.clone();
    totales.valor_pagar = Some(valor_pagar(&totales, adjustments.norma_1007)?);
    Ok(totales)
}

/// The sum of the amounts that are present; `None` when all are absent.
pub(super) fn sum_of<const N: usize>(amounts: [&Option<Monto>; N]) -> Result<Option<Monto>, TooLarge> {
    let total = sum(amounts.iter().map(|amount| value(amount.as_ref())))?;
    let any = amounts.iter().any(|amount| amount.is_some());
    any.then(|| monto(total)).transpose()
}

/// The sum of taxed and exempt amounts, ITBIS and additional taxes.
pub(super) fn monto_total(totales: &Totales) -> Result<Monto, TooLarge> {
    let parts = [
        &totales.monto_gravado_total,
        &totales.monto_exento,
        &totales.total_itbis,
        &totales.monto_impuesto_adicional,
    ];
    Ok(sum_of(parts)?.unwrap_or_else(Monto::zero))
}

/// The sum of MontoTotal and MontoNoFacturable.
pub(super) fn monto_periodo(totales: &Totales) -> Result<Monto, TooLarge> {
    Ok(sum_of([&totales.monto_total, &totales.monto_no_facturable])?.unwrap_or_else(Monto::zero))
}

/// The amount to pay: less the advance and the discounts under Norma 10-07, plus the previous balance. Retentions are
/// not subtracted, as in the authority's own receipts.
pub(super) fn valor_pagar(totales: &Totales, norma_1007: Decimal) -> Result<Monto, TooLarge> {
    let total = value(totales.monto_total.as_ref());
    let advance = value(totales.monto_avance_pago.as_ref());
    let balance = value(totales.saldo_anterior.as_ref());
    monto(total.minus(norma_1007)?.minus(advance)?.plus(balance)?)
}

fn of_taxes(sums: &Sums, shares: Shares, problems: &mut Vec<Problem>) -> Result<Vec<ImpuestoAdicional>, TooLarge> {
    let mut taxes = Vec::with_capacity(sums.taxes.len());
    for tax in &sums.taxes {
        let exact = tax.exact(shares)?;
        let amount = monto(exact)?;
        if amount < Monto::zero() {
            let path = path(&["Encabezado", "Totales", "ImpuestosAdicionales"]);
            problems.push(Problem::Negative {
                path,
                exact: amount.value(),
            });
            continue;
        }
        // A zero tax is left out: the schema requires more than zero.
        if amount == Monto::zero() {
            continue;
        }
        let mut entry = ImpuestoAdicional {
            tipo_impuesto: Some(tax.tipo),
            tasa_impuesto_adicional: Some(Porcentaje::rounded(tax.rate).map_err(|_| TooLarge)?),
            ..ImpuestoAdicional::default()
        };
        *amount_field(&mut entry, tax.tipo.class()) = Some(amount);
        taxes.push(entry);
    }
    Ok(taxes)
}

/// The element with the amount of a tax of this class.
pub(super) fn amount_field(entry: &mut ImpuestoAdicional, class: ImpuestoClass) -> &mut Option<Monto> {
    match class {
        ImpuestoClass::Otros => &mut entry.otros_impuestos_adicionales,
        ImpuestoClass::EspecificoAlcohol | ImpuestoClass::EspecificoTabaco => {
            &mut entry.monto_impuesto_selectivo_consumo_especifico
        }
        ImpuestoClass::AdValoremAlcohol | ImpuestoClass::AdValoremTabaco => {
            &mut entry.monto_impuesto_selectivo_consumo_advalorem
        }
    }
}

/// The amount of an excise tax.
fn isc_amount(tax: &ImpuestoAdicional) -> Option<&Monto> {
    let specific = tax.monto_impuesto_selectivo_consumo_especifico.as_ref();
    specific.or(tax.monto_impuesto_selectivo_consumo_advalorem.as_ref())
}

fn amount_of(tax: &ImpuestoAdicional) -> Option<&Monto> {
    isc_amount(tax).or(tax.otros_impuestos_adicionales.as_ref())
}

/// The sum of the retentions on the lines; `None` when no line states any.
fn retained(items: &[Item], amount: fn(&Retencion) -> Option<&Monto>) -> Result<Option<Monto>, TooLarge> {
    let mut stated = items.iter().filter_map(|item| amount(&item.retencion)).peekable();
    if stated.peek().is_none() {
        return Ok(None);
    }
    monto(sum(stated.map(Monto::value))?).map(Some)
}
