//! `IdDoc` and the date of issue: dates, terms and forms of payment.

use ecf_language::say;

use super::finding::{Path, at, emisor, id_doc};
use super::{Case, Findings, Rule};
use crate::catalogue::{CodigoModificacion, FormaPago, IndicadorFacturacion, TipoPago};
use crate::field::Presence;
use crate::{Environment, ReceiptType};

pub(super) const RULES: &[Rule] = &[
    Rule::rejected(
        "IDDOC-01",
        "format, IdDoc: FechaLimitePago",
        "a credit sale says until when it is to be paid, in types whose code for the day is 2",
        credit_has_a_last_day,
    ),
    Rule::rejected(
        "IDDOC-02",
        "format, IdDoc: FechaLimitePago",
        "the last day to pay is not before the day of issue",
        last_day_is_not_before_issue,
    ),
    Rule::rejected(
        "IDDOC-03",
        "format, IdDoc: IndicadorMontoGravado",
        "with lines at 18 % or 16 % the receipt says whether their amounts include the ITBIS",
        taxed_lines_say_whether_itbis_is_included,
    ),
    Rule::notice(
        "IDDOC-04",
        "format, IdDoc: IndicadorMontoGravado",
        "without lines at 18 % or 16 % the indicator is left out",
        untaxed_lines_need_no_indicator,
    ),
    Rule::rejected(
        "IDDOC-05",
        "format, table of FormaPago",
        "vouchers are a form of payment of consumer invoices only",
        vouchers_pay_consumer_invoices_only,
    ),
    Rule::rejected(
        "IDDOC-06",
        "format, IdDoc: FechaDesde, FechaHasta",
        "the billed period does not end before it starts",
        period_runs_forward,
    ),
    Rule::notice(
        "IDDOC-07",
        "format, IdDoc: FechaDesde, FechaHasta",
        "a billed period has a first and a last day",
        period_has_both_ends,
    ),
    Rule::notice(
        "IDDOC-08",
        "format, IdDoc: MontoPago",
        "the payments do not exceed what is to be paid",
        payments_do_not_exceed_the_total,
    ),
    Rule::notice(
        "IDDOC-09",
        "format, IdDoc: TipoPago",
        "a receipt that is free of charge gives no tax credit",
        free_gives_no_tax_credit,
    ),
    Rule::notice(
        "IDDOC-10",
        "format, IdDoc: TipoIngresos",
        "a note carries TipoIngresos exactly when what it modifies does",
        note_carries_income_as_the_original,
    ),
    Rule::notice(
        "IDDOC-11",
        "format, IdDoc: TipoCuentaPago, NumeroCuentaPago, BancoPago",
        "an account belongs to a payment by cheque, transfer or deposit",
        account_belongs_to_a_transfer,
    ),
    Rule::rejected(
        "IDDOC-12",
        "IT §7; format, IdDoc: FechaVencimientoSecuencia",
        "the number's range has not expired",
        range_has_not_expired,
    ),
    Rule::notice(
        "IDDOC-13",
        "format, IdDoc: IndicadorEnvioDiferido",
        "deferred sending needs the authority's permission",
        deferred_sending_needs_permission,
    ),
    Rule::rejected(
        "EMISOR-01",
        "format, Emisor: FechaEmision; FechaHoraFirma is not in the future",
        "the day of issue is not in the future",
        issue_is_not_in_the_future,
    ),
    Rule::notice(
        "EMISOR-02",
        "IT §18: 72 hours in contingency",
        "a receipt is sent within 72 hours of its issue",
        issue_is_not_long_ago,
    ),
];

fn credit_has_a_last_day(case: &Case<'_>, out: &mut Findings<'_>) {
    let id_doc = &case.document.encabezado.id_doc;
    if id_doc.tipo_pago != Some(TipoPago::Credito) || id_doc.fecha_limite_pago.is_some() {
        return;
    }
    // Type 43 does not have the field, and in type 47 it is optional.
    let path = self::id_doc("FechaLimitePago");
    if case.presence(&path) == Some(Presence::Conditional) {
        let message = say!(
            "TipoPago is 2 (credit), so FechaLimitePago must say until when it is to be paid",
            "TipoPago es 2 (crédito), así que FechaLimitePago debe decir hasta cuándo se paga"
        );
        out.missing(path, message).expected("a date written dd-MM-yyyy");
    }
}

fn last_day_is_not_before_issue(case: &Case<'_>, out: &mut Findings<'_>) {
    let header = &case.document.encabezado;
    let days = header.id_doc.fecha_limite_pago.zip(header.emisor.fecha_emision);
    if let Some((last, issue)) = days.filter(|(last, issue)| last < issue) {
        let message = say!(
            "FechaLimitePago {last} is before FechaEmision {issue}",
            "FechaLimitePago {last} es anterior a FechaEmision {issue}"
        );
        out.differs(id_doc("FechaLimitePago"), last, format!("{issue} or later"), message);
    }
}

fn has_taxed_lines(case: &Case<'_>) -> bool {
    let taxed = |indicator| matches!(indicator, IndicadorFacturacion::Itbis1 | IndicadorFacturacion::Itbis2);
    case.lines
        .iter()
        .any(|line| line.indicador_facturacion.is_some_and(taxed))
}

/// A type whose lines must all have the same indicator, neither 18 % nor 16 %, does not have the field.
fn taxed_lines_say_whether_itbis_is_included(case: &Case<'_>, out: &mut Findings<'_>) {
    use ReceiptType::{E31, E32, E33, E34, E41, E45};
    let indicator = case.document.encabezado.id_doc.indicador_monto_gravado;
    if case.is_one_of(&[E31, E32, E33, E34, E41, E45]) && indicator.is_none() && has_taxed_lines(case) {
        let message = say!(
            "lines carry ITBIS, so IndicadorMontoGravado must say whether their amounts include it",
            "hay líneas con ITBIS, así que IndicadorMontoGravado debe decir si sus montos lo incluyen"
        );
        out.missing(id_doc("IndicadorMontoGravado"), message)
            .expected("0 when amounts exclude ITBIS, 1 when they include it");
    }
}

fn untaxed_lines_need_no_indicator(case: &Case<'_>, out: &mut Findings<'_>) {
    let indicator = case.document.encabezado.id_doc.indicador_monto_gravado;
    if let Some(indicator) = indicator.filter(|_| !case.lines.is_empty() && !has_taxed_lines(case)) {
        let message = say!(
            "no line is taxed at 18 % or 16 %: IndicadorMontoGravado says nothing and can be left out",
            "ninguna línea está gravada al 18 % o al 16 %: IndicadorMontoGravado no dice nada y se puede omitir"
        );
        out.wrong(id_doc("IndicadorMontoGravado"), message).given(indicator);
    }
}

fn payment(index: usize, field: &str) -> Path {
    let index = index.to_string();
    at(&["Encabezado", "IdDoc", "TablaFormasPago", "FormaDePago", &index, field])
}

fn vouchers_pay_consumer_invoices_only(case: &Case<'_>, out: &mut Findings<'_>) {
    if case.receipt_type == ReceiptType::E32 {
        return;
    }
    let payments = &case.document.encabezado.id_doc.tabla_formas_pago.forma_de_pago;
    for (index, _) in payments
        .iter()
        .enumerate()
        .filter(|(_, payment)| payment.forma_pago == Some(FormaPago::Bonos))
    {
        let message = say!(
            "FormaPago 5 (vouchers) pays receipts of type 32 only, this one is of type {}",
            "FormaPago 5 (bonos) solo paga comprobantes del tipo 32, este es del tipo {}",
            case.receipt_type
        );
        out.differs(payment(index, "FormaPago"), 5, "1, 2, 3, 4, 6, 7 or 8", message);
    }
}

fn period_runs_forward(case: &Case<'_>, out: &mut Findings<'_>) {
    let id_doc = &case.document.encabezado.id_doc;
    let period = id_doc.fecha_desde.zip(id_doc.fecha_hasta);
    if let Some((first, last)) = period.filter(|(first, last)| last < first) {
        let message = say!(
            "FechaHasta {last} is before FechaDesde {first}",
            "FechaHasta {last} es anterior a FechaDesde {first}"
        );
        out.differs(self::id_doc("FechaHasta"), last, format!("{first} or later"), message);
    }
}

fn period_has_both_ends(case: &Case<'_>, out: &mut Findings<'_>) {
    let id_doc = &case.document.encabezado.id_doc;
    let absent = match (id_doc.fecha_desde, id_doc.fecha_hasta) {
        (None, Some(_)) => "FechaDesde",
        (Some(_), None) => "FechaHasta",
        _ => return,
    };
    out.missing(
        self::id_doc(absent),
        say!(
            "a billed period has two ends, and {absent} is missing",
            "un período facturado tiene dos extremos, y falta {absent}"
        ),
    );
}

/// Payments may be less than the total: retentions are not paid, and a part may be paid later.
fn payments_do_not_exceed_the_total(case: &Case<'_>, out: &mut Findings<'_>) {
    let totals = &case.document.encabezado.totales;
    let payments = &case.document.encabezado.id_doc.tabla_formas_pago.forma_de_pago;
    let paid = super::sum(payments.iter().map(|payment| payment.monto_pago.as_ref()));
    let due = [&totals.monto_total, &totals.monto_periodo, &totals.valor_pagar];
    let due = due.into_iter().flatten().map(crate::Monto::value).max();
    if let Some((paid, due)) = paid.zip(due).filter(|(paid, due)| paid > due) {
        let path = at(&["Encabezado", "IdDoc", "TablaFormasPago"]);
        out.amount(
            path,
            paid,
            due,
            say!(
                "the payments add up to more than the receipt asks for",
                "los pagos suman más de lo que el comprobante cobra"
            ),
        );
    }
}

fn free_gives_no_tax_credit(case: &Case<'_>, out: &mut Findings<'_>) {
    let free = case.document.encabezado.id_doc.tipo_pago == Some(TipoPago::Gratuito);
    if free && case.receipt_type == ReceiptType::E31 {
        let message = say!(
            "TipoPago is 3 (free of charge): the buyer cannot use this receipt for tax credit",
            "TipoPago es 3 (gratuito): el comprador no puede usar este comprobante como crédito fiscal"
        );
        out.wrong(id_doc("TipoPago"), message).given(3);
    }
}

/// Types 41, 43 and 47 do not have a class of income, and neither does a note on them.
fn note_carries_income_as_the_original(case: &Case<'_>, out: &mut Findings<'_>) {
    use ReceiptType::{E41, E43, E47};
    if !case.receipt_type.is_note() {
        return;
    }
    let Some(original) = super::references::modified_type(case) else {
        return;
    };
    let given = case.document.encabezado.id_doc.tipo_ingresos;
    let expected = !matches!(original, E41 | E43 | E47);
    match given {
        None if expected => {
            let message = say!(
                "the note modifies a receipt of type {original}, which carries TipoIngresos",
                "la nota modifica un comprobante del tipo {original}, que lleva TipoIngresos"
            );
            out.missing(id_doc("TipoIngresos"), message)
                .expected("the code of the modified receipt");
        }
        Some(given) if !expected => {
            let message = say!(
                "the note modifies a receipt of type {original}, which carries no TipoIngresos",
                "la nota modifica un comprobante del tipo {original}, que no lleva TipoIngresos"
            );
            out.forbidden(id_doc("TipoIngresos"), message).given(given);
        }
        _ => {}
    }
}

fn account_belongs_to_a_transfer(case: &Case<'_>, out: &mut Findings<'_>) {
    let id_doc = &case.document.encabezado.id_doc;
    let by_bank = Some(FormaPago::ChequeTransferenciaDeposito);
    let payments = &id_doc.tabla_formas_pago.forma_de_pago;
    if payments.iter().any(|payment| payment.forma_pago == by_bank) {
        return;
    }
    let given = [
        ("TipoCuentaPago", id_doc.tipo_cuenta_pago.is_some()),
        ("NumeroCuentaPago", id_doc.numero_cuenta_pago.is_some()),
        ("BancoPago", id_doc.banco_pago.is_some()),
    ];
    for (field, _) in given.into_iter().filter(|(_, given)| *given) {
        let message = say!(
            "{field} describes the account of a payment with FormaPago 2, and there is none",
            "{field} describe la cuenta de un pago con FormaPago 2, y no hay ninguno"
        );
        out.wrong(self::id_doc(field), message);
    }
}

fn range_has_not_expired(case: &Case<'_>, out: &mut Findings<'_>) {
    let expiry = case.document.encabezado.id_doc.fecha_vencimiento_secuencia;
    if let Some(expiry) = expiry.filter(|expiry| *expiry < case.today) {
        let today = case.today;
        let message = say!(
            "the number's range expired on {expiry}, today is {today}",
            "la secuencia del número venció el {expiry}, hoy es {today}"
        );
        let path = id_doc("FechaVencimientoSecuencia");
        out.differs(path, expiry, format!("{today} or later"), message);
    }
}

fn deferred_sending_needs_permission(case: &Case<'_>, out: &mut Findings<'_>) {
    if let Some(given) = case.document.encabezado.id_doc.indicador_envio_diferido {
        let message = say!(
            "IndicadorEnvioDiferido is for issuers whom the authority allowed to send later, others are refused",
            "IndicadorEnvioDiferido es para emisores a quienes la DGII autorizó a enviar después; a \
             los demás se les rechaza"
        );
        out.wrong(id_doc("IndicadorEnvioDiferido"), message).given(given);
    }
}

fn issue_is_not_in_the_future(case: &Case<'_>, out: &mut Findings<'_>) {
    let issue = case.document.encabezado.emisor.fecha_emision;
    if let Some(issue) = issue.filter(|issue| *issue > case.today) {
        let today = case.today;
        let message = say!(
            "FechaEmision {issue} is in the future, in Santo Domingo it is {today}",
            "FechaEmision {issue} está en el futuro, en Santo Domingo es {today}"
        );
        let path = emisor("FechaEmision");
        out.differs(path, issue, format!("{today} or earlier"), message);
    }
}

/// Test documents may have any age. A replacement of a contingency receipt is late by nature.
fn issue_is_not_long_ago(case: &Case<'_>, out: &mut Findings<'_>) {
    const DAYS: i32 = 3;
    let replaces = Some(CodigoModificacion::ReemplazaContingencia);
    let late_by_nature = case.document.informacion_referencia.codigo_modificacion == replaces;
    // Certification workbooks prescribe dates.
    if case.environment == Environment::CerteCF || late_by_nature {
        return;
    }
    let Some(issue) = case.document.encabezado.emisor.fecha_emision else {
        return;
    };
    let days = super::references::days_between(issue, case.today);
    if days > DAYS {
        let today = case.today;
        let message = say!(
            "FechaEmision {issue} is {days} days ago: a receipt is due within 72 hours of its issue",
            "FechaEmision {issue} fue hace {days} días: un comprobante se envía dentro de las 72 horas de su emisión"
        );
        out.wrong(emisor("FechaEmision"), message)
            .given(issue)
            .expected(format!("at most {DAYS} days before {today}"));
    }
}
