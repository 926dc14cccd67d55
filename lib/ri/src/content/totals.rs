//! The totals of the receipt and the subtotals of a page.

use ecf::Monto;
use ecf::catalogue::{IndicadorNorma1007, TipoAjuste, TipoImpuesto, TipoValor};
use ecf::document::{DescuentoORecargo, Document, ImpuestoAdicional, ImpuestoAdicionalOtraMoneda, Pagina};
use rust_decimal::Decimal;

use crate::amount::{amount, quantity};
use crate::text::printable;

/// A label with its amount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Total {
    pub(crate) label: String,
    pub(crate) amount: String,
    /// The same in the other currency.
    pub(crate) other: Option<String>,
    /// Whether it is the grand total.
    pub(crate) is_main: bool,
    /// Whether the row is the sum of the rows above it: a rule is drawn between them.
    pub(crate) is_sum: bool,
}

struct Rows(Vec<Total>);

impl Rows {
    fn add(&mut self, label: &str, value: &Option<Monto>, other: Option<&Monto>) {
        if let Some(value) = value {
            self.push(label, amount(value), other.map(|other| amount(other)));
        }
    }

    fn push(&mut self, label: &str, amount: String, other: Option<String>) {
        self.0.push(Total {
            label: label.to_owned(),
            amount,
            other,
            is_main: false,
            is_sum: false,
        });
    }

    /// Adds a sum, with a rule above it.
    fn add_sum(&mut self, label: &str, value: &Option<Monto>) {
        let start = self.0.len();
        self.add(label, value, None);
        self.mark_sum(start);
    }

    fn mark_sum(&mut self, place: usize) {
        if let Some(row) = self.0.get_mut(place) {
            row.is_sum = true;
        }
    }

    /// Makes the last row the total, with its currency.
    fn end_with_total(&mut self) {
        if let Some(total) = self.0.last_mut() {
            total.is_main = true;
            total.amount = format!("RD$ {}", total.amount);
        }
    }
}

/// The sums, in an order that a reader can add up: the lines less global discounts plus surcharges give the subtotals,
/// subtotals and taxes give the total. The rows below lead from the total to the amount to pay.
pub(super) fn of(document: &Document) -> Vec<Total> {
    let (totales, moneda) = (&document.encabezado.totales, &document.encabezado.otra_moneda);
    let mut rows = Rows(Vec::new());
    // Discounts of Norma 10-07 leave the total as it is and reduce what is to be paid.
    let entries = document.descuentos_o_recargos.descuento_o_recargo.iter();
    let (from_payment, in_base): (Vec<_>, Vec<_>) =
        entries.partition(|entry| entry.indicador_norma1007 == Some(IndicadorNorma1007::Si));
    let net = [&totales.monto_gravado_total, &totales.monto_exento];
    if let Some(gross) = gross(net, &in_base, |entry| entry.monto_descuentoo_recargo.as_ref()) {
        let net = [
            &moneda.monto_gravado_total_otra_moneda,
            &moneda.monto_exento_otra_moneda,
        ];
        let other = self::gross(net, &in_base, |entry| {
            entry.monto_descuentoo_recargo_otra_moneda.as_ref()
        });
        rows.push("Subtotal Bruto", gross, other);
    }
    rows.0.extend(in_base.into_iter().filter_map(adjustment));
    let subtotals = rows.0.len();
    rows.add(
        "Subtotal Gravado",
        &totales.monto_gravado_total,
        moneda.monto_gravado_total_otra_moneda.as_ref(),
    );
    rows.add(
        "Subtotal Exento",
        &totales.monto_exento,
        moneda.monto_exento_otra_moneda.as_ref(),
    );
    if subtotals > 0 {
        rows.mark_sum(subtotals);
    }
    rows.0.extend(taxes(document));
    rows.add(
        "Total ITBIS",
        &totales.total_itbis,
        moneda.total_itbis_otra_moneda.as_ref(),
    );
    rows.add("Total", &totales.monto_total, moneda.monto_total_otra_moneda.as_ref());
    rows.end_with_total();
    rows.add("Monto No Facturable", &totales.monto_no_facturable, None);
    rows.add_sum("Monto Período", &totales.monto_periodo);
    rows.0.extend(from_payment.into_iter().filter_map(adjustment));
    if let Some(advance) = &totales.monto_avance_pago {
        let sign = if *advance == Monto::zero() { "" } else { "-" };
        rows.push("Monto Avance Pago", format!("{sign}{}", amount(advance)), None);
    }
    rows.add("Saldo Anterior", &totales.saldo_anterior, None);
    rows.add_sum("Valor a Pagar", &totales.valor_pagar);
    for (label, value) in [
        ("ITBIS Retenido", &totales.total_itbis_retenido),
        ("ISR Retenido", &totales.total_isr_retencion),
        ("ITBIS Percibido", &totales.total_itbis_percepcion),
        ("ISR Percibido", &totales.total_isr_percepcion),
    ] {
        rows.add(label, value, None);
    }
    rows.0
}

/// The sum of the lines before global discounts and surcharges, without taxes. The document does not state it, so it is
/// computed; `None` if one of its amounts is missing.
fn gross<'a>(
    net: [&Option<Monto>; 2],
    entries: &[&'a DescuentoORecargo],
    amount_of: impl Fn(&'a DescuentoORecargo) -> Option<&'a Monto>,
) -> Option<String> {
    let mut net = net.into_iter().flatten().peekable();
    if entries.is_empty() || net.peek().is_none() {
        return None;
    }
    let mut gross: Decimal = net.map(|amount| amount.value()).sum();
    for entry in entries {
        let value = amount_of(entry)?.value();
        gross = match entry.tipo_ajuste? {
            TipoAjuste::Descuento => gross.checked_add(value)?,
            TipoAjuste::Recargo => gross.checked_sub(value)?,
        };
    }
    Some(amount(&gross))
}

/// A global discount, which is printed as a negative amount, or a surcharge.
fn adjustment(entry: &DescuentoORecargo) -> Option<Total> {
    let (word, sign) = match entry.tipo_ajuste? {
        TipoAjuste::Descuento => ("Descuento", "-"),
        TipoAjuste::Recargo => ("Recargo", ""),
    };
    let mut label = word.to_owned();
    if let Some(description) = &entry.descripcion_descuentoo_recargo {
        label = format!("{label}: {}", printable(description));
    }
    if let (Some(TipoValor::Porcentaje), Some(percentage)) = (entry.tipo_valor, &entry.valor_descuentoo_recargo) {
        label = format!("{label} ({} %)", quantity(percentage));
    }
    let other = entry.monto_descuentoo_recargo_otra_moneda.as_ref();
    Some(Total {
        label,
        amount: format!("{sign}{}", amount(entry.monto_descuentoo_recargo.as_ref()?)),
        other: other.map(|other| format!("{sign}{}", amount(other))),
        is_main: false,
        is_sum: false,
    })
}

/// The excise taxes as one sum, then each other tax with its name.
fn taxes(document: &Document) -> Vec<Total> {
    let header = &document.encabezado;
    let entries = &header.totales.impuestos_adicionales.impuesto_adicional;
    let others = &header
        .otra_moneda
        .impuestos_adicionales_otra_moneda
        .impuesto_adicional_otra_moneda;
    let mut rows = Vec::new();
    let isc: Vec<&Monto> = entries.iter().flat_map(excise).collect();
    if !isc.is_empty() {
        let other: Vec<&Monto> = others.iter().flat_map(excise_in_other_currency).collect();
        rows.push(Total {
            label: "Total ISC".to_owned(),
            amount: sum(&isc),
            other: (!other.is_empty()).then(|| sum(&other)),
            is_main: false,
            is_sum: false,
        });
    }
    for entry in entries {
        let (Some(tipo), Some(value)) = (entry.tipo_impuesto, &entry.otros_impuestos_adicionales) else {
            continue;
        };
        let other = others
            .iter()
            .find(|other| other.tipo_impuesto_otra_moneda == Some(tipo));
        let other = other.and_then(|other| other.otros_impuestos_adicionales_otra_moneda.as_ref());
        rows.push(Total {
            label: name(tipo).to_owned(),
            amount: amount(value),
            other: other.map(|other| amount(other)),
            is_main: false,
            is_sum: false,
        });
    }
    rows
}

/// The name of a tax other than excise, abbreviated as in the authority's models.
fn name(tipo: TipoImpuesto) -> &'static str {
    match tipo.code() {
        "001" => "Propina Legal",
        "002" => "CDT",
        _ => tipo.words(),
    }
}

fn excise(entry: &ImpuestoAdicional) -> impl Iterator<Item = &Monto> {
    let specific = &entry.monto_impuesto_selectivo_consumo_especifico;
    specific.iter().chain(&entry.monto_impuesto_selectivo_consumo_advalorem)
}

fn excise_in_other_currency(entry: &ImpuestoAdicionalOtraMoneda) -> impl Iterator<Item = &Monto> {
    let specific = &entry.monto_impuesto_selectivo_consumo_especifico_otra_moneda;
    specific
        .iter()
        .chain(&entry.monto_impuesto_selectivo_consumo_advalorem_otra_moneda)
}

fn sum(amounts: &[&Monto]) -> String {
    let sum: Decimal = amounts.iter().map(|amount| amount.value()).sum();
    amount(&sum)
}

/// The subtotals of a page, on all pages but the last.
pub(crate) fn page_subtotals(page: &Pagina) -> Vec<Total> {
    let additional = &page.subtotal_impuesto_adicional;
    let mut rows = Rows(Vec::new());
    for (label, value) in [
        ("Subtotal Gravado Página", &page.subtotal_monto_gravado_pagina),
        ("Subtotal Exento Página", &page.subtotal_exento_pagina),
        ("Subtotal ITBIS Página", &page.subtotal_itbis_pagina),
        (
            "Subtotal Impuesto Adicional Página",
            &page.subtotal_impuesto_adicional_pagina,
        ),
        (
            "Selectivo al Consumo",
            &additional.subtotal_impuesto_selectivo_consumo_especifico_pagina,
        ),
        ("Otros", &additional.subtotal_otros_impuesto),
        ("Monto No Facturable Página", &page.subtotal_monto_no_facturable_pagina),
        ("Monto Total Página", &page.monto_subtotal_pagina),
    ] {
        rows.add(label, value, None);
    }
    rows.end_with_total();
    rows.0
}
