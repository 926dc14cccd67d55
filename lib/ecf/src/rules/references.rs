//! `InformacionReferencia`: notes (33, 34), replacements of contingency receipts (code 4), references to consumer
//! invoices (code 5). Rules that need the modified receipt itself are in [`modified`](super::modified).

use ecf_language::say;

use super::finding::{at, id_doc, referencia, totales};
use super::{Case, Findings, Rule, ZERO};
use crate::ReceiptType::{E31, E32, E33, E34};
use crate::catalogue::{CodigoModificacion, IndicadorNotaCredito};
use crate::document::{Document, InformacionReferencia};
use crate::totals::indicador_nota_credito;
use crate::violation::Violation;
use crate::{Environment, Fecha, Ncf, ReceiptType};

pub(super) const RULES: &[Rule] = &[
    Rule::rejected(
        "REFERENCIA-01",
        "format, table of CodigoModificacion",
        "codes 1 to 3 are for notes, code 5 is for type 31, code 4 is for all",
        code_is_allowed_in_the_type,
    ),
    Rule::rejected(
        "REFERENCIA-02",
        "notice of the authority, in force since 23-09-2025",
        "a debit note annuls nothing",
        debit_note_annuls_nothing,
    ),
    Rule::rejected(
        "REFERENCIA-03",
        "notice of the authority, in force since 23-09-2025",
        "a note modifies an original receipt, never another note",
        note_is_on_an_original,
    ),
    Rule::rejected(
        "REFERENCIA-04",
        "IT §18; format, NCFModificado, code 4",
        "code 4 replaces a paper receipt of the equivalent type",
        replacement_is_of_an_equivalent_paper_receipt,
    ),
    Rule::rejected(
        "REFERENCIA-05",
        "format, table of CodigoModificacion, code 5",
        "code 5 refers to a consumer invoice",
        reference_is_to_a_consumer_invoice,
    ),
    Rule::rejected(
        "REFERENCIA-06",
        "format, InformacionReferencia: FechaNCFModificado",
        "what is modified was issued before",
        modified_receipt_is_older,
    ),
    Rule::rejected(
        "REFERENCIA-07",
        "format, IdDoc: IndicadorNotaCredito; Reglamento 293-11 arts. 8 and 28",
        "IndicadorNotaCredito is 1 from the 31st day after the modified receipt on",
        indicator_follows_the_days,
    ),
    Rule::notice(
        "REFERENCIA-08",
        "Reglamento 293-11 arts. 8 and 28",
        "a credit note after 30 days gives no ITBIS back to its issuer",
        late_credit_gives_no_itbis_back,
    ),
    Rule::rejected(
        "REFERENCIA-09",
        "format, table of CodigoModificacion, code 2",
        "a correction of text has MontoTotal 0.00",
        correction_of_text_has_no_amount,
    ),
    Rule::notice(
        "REFERENCIA-10",
        "format, table of CodigoModificacion, codes 1 and 3",
        "a note that corrects or annuls an amount has one",
        correction_of_amounts_has_one,
    ),
    Rule::notice(
        "REFERENCIA-11",
        "format, InformacionReferencia: RNCOtroContribuyente",
        "RNCOtroContribuyente is a taxpayer that was dissolved, merged or split, so another than the issuer",
        other_taxpayer_is_another,
    ),
    Rule::rejected(
        "REFERENCIA-12",
        "format, InformacionReferencia",
        "a reference says number, date and code",
        reference_is_complete,
    ),
    Rule::notice(
        "REFERENCIA-13",
        "format, table of CodigoModificacion, code 2",
        "a correction of text is a credit note",
        correction_of_text_is_a_credit_note,
    ),
    Rule::notice(
        "REFERENCIA-14",
        "table of paper receipts of series B",
        "a paper number of series B has a code that exists",
        paper_code_exists,
    ),
    Rule::notice(
        "REFERENCIA-15",
        "IT of March 2026 §19; Instructivo de Contingencia of February 2026",
        "a contingency receipt is replaced within 30 calendar days after a contingency of at most 15",
        replacement_is_in_time,
    ),
];

/// How many calendar days paper receipts may be issued in a contingency.
const DAYS_ON_PAPER: i32 = 15;

/// How many calendar days after the end of the contingency they may be replaced.
const DAYS_TO_REPLACE: i32 = 30;

/// Calendar days from one day to another.
pub(super) fn days_between(earlier: Fecha, later: Fecha) -> i32 {
    (later.date() - earlier.date()).get_days()
}

/// The type of the referenced receipt, electronic or the equivalent of a paper one. Numbers of series A and P do not
/// state it.
pub(super) fn modified_type(case: &Case<'_>) -> Option<ReceiptType> {
    reference(case).ncf_modificado.as_ref().and_then(type_of)
}

fn type_of(number: &Ncf) -> Option<ReceiptType> {
    number
        .encf()
        .map(|encf| encf.receipt_type())
        .or_else(|| paper_equivalent(number))
}

/// The code in the number of a paper receipt of series B.
fn paper_code(number: &Ncf) -> Option<&str> {
    number.as_str().strip_prefix('B')?.get(..2)
}

/// The type that replaces a paper receipt of series B.
fn paper_equivalent(number: &Ncf) -> Option<ReceiptType> {
    paper_code(number).and_then(ReceiptType::of_paper)
}

fn reference<'a>(case: &Case<'a>) -> &'a InformacionReferencia {
    &case.document.informacion_referencia
}

fn code_is_allowed_in_the_type(case: &Case<'_>, out: &mut Findings<'_>) {
    let Some(code) = reference(case).codigo_modificacion else {
        return;
    };
    let (allowed, expected) = match case.receipt_type {
        E33 | E34 => (code != CodigoModificacion::ReferenciaConsumo, "1, 2, 3 or 4"),
        E31 => (
            matches!(
                code,
                CodigoModificacion::ReemplazaContingencia | CodigoModificacion::ReferenciaConsumo
            ),
            "4 or 5",
        ),
        _ => (code == CodigoModificacion::ReemplazaContingencia, "4"),
    };
    if !allowed {
        let message = say!(
            "CodigoModificacion {code} ({}) is not allowed in type {}",
            "CodigoModificacion {code} ({}) no se permite en el tipo {}",
            code.words(),
            case.receipt_type
        );
        out.differs(referencia("CodigoModificacion"), code, expected, message);
    }
}

fn debit_note_annuls_nothing(case: &Case<'_>, out: &mut Findings<'_>) {
    let annuls = reference(case).codigo_modificacion == Some(CodigoModificacion::Anula);
    if case.receipt_type == E33 && annuls {
        let message = say!(
            "a debit note cannot annul a receipt: that is a credit note, type 34, with code 1",
            "una nota de débito no puede anular un comprobante: eso lo hace una nota de crédito, tipo 34, \
         con código 1"
        );
        out.differs(referencia("CodigoModificacion"), 1, "3", message);
    }
}

/// Code 4 is exempt: a paper note that was issued in a contingency is replaced by an electronic one.
fn note_is_on_an_original(case: &Case<'_>, out: &mut Findings<'_>) {
    let replaces = reference(case).codigo_modificacion == Some(CodigoModificacion::ReemplazaContingencia);
    if !case.receipt_type.is_note() || replaces {
        return;
    }
    let number = reference(case).ncf_modificado.as_ref();
    if let Some(number) = number.filter(|number| type_of(number).is_some_and(ReceiptType::is_note)) {
        let message = say!(
            "{number} is a note itself: a note names the original receipt",
            "{number} es una nota: una nota nombra el comprobante original"
        );
        out.differs(
            referencia("NCFModificado"),
            number,
            "the number of the original receipt",
            message,
        );
    }
}

fn replacement_is_of_an_equivalent_paper_receipt(case: &Case<'_>, out: &mut Findings<'_>) {
    if reference(case).codigo_modificacion != Some(CodigoModificacion::ReemplazaContingencia) {
        return;
    }
    let Some(number) = &reference(case).ncf_modificado else {
        return;
    };
    let path = referencia("NCFModificado");
    if number.encf().is_some() {
        let message = say!(
            "code 4 replaces a paper receipt, {number} is electronic",
            "el código 4 reemplaza un comprobante de papel, {number} es electrónico"
        );
        out.differs(path, number, "a paper number of series B", message);
    } else if number.as_str().starts_with('B') && paper_equivalent(number) != Some(case.receipt_type) {
        let replaced = match paper_equivalent(number) {
            Some(other) => say!("type {other}", "el tipo {other}"),
            None => say!("no type", "ningún tipo"),
        };
        let message = say!(
            [replaced],
            "{} is replaced by {replaced}, this receipt is of type {}",
            "{} se reemplaza por {replaced}, este comprobante es del tipo {}",
            &number.as_str()[..3],
            case.receipt_type
        );
        out.wrong(path, message).given(number);
    }
}

/// Code 4 with such a number is already refused. Paper code 12 exists without an electronic equivalent.
fn paper_code_exists(case: &Case<'_>, out: &mut Findings<'_>) {
    let replaces = reference(case).codigo_modificacion == Some(CodigoModificacion::ReemplazaContingencia);
    let Some(number) = reference(case).ncf_modificado.as_ref().filter(|_| !replaces) else {
        return;
    };
    let exists = |code: &str| code == "12" || ReceiptType::of_paper(code).is_some();
    if let Some(code) = paper_code(number).filter(|code| !exists(code)) {
        let message = say!(
            "{number} is a paper number of type B{code}, which does not exist: is it typed wrong?",
            "{number} es un número de papel del tipo B{code}, que no existe: ¿está mal escrito?"
        );
        out.differs(
            referencia("NCFModificado"),
            number,
            "B01, B02, B03, B04, B11, B12, B13, B14, B15, B16 or B17 and eight digits",
            message,
        );
    }
}

/// Only the issuer knows the end of the contingency, so the day of the paper receipt is used instead.
fn replacement_is_in_time(case: &Case<'_>, out: &mut Findings<'_>) {
    if reference(case).codigo_modificacion != Some(CodigoModificacion::ReemplazaContingencia) {
        return;
    }
    let Some((paper, issue)) = days(case) else { return };
    // Test documents have dates in the past.
    let replaced = if case.environment == Environment::Ecf {
        issue.max(case.today)
    } else {
        issue
    };
    let days = days_between(paper, replaced);
    if days <= DAYS_TO_REPLACE {
        return;
    }
    let terms = say!(
        "paper may be issued for 15 calendar days after the contingency was declared in the authority's portal, \
                 and each receipt is replaced within 30 calendar days after its end",
        "se puede emitir en papel durante 15 días calendario desde que la contingencia se declaró en la \
     Oficina Virtual de la DGII, y cada comprobante se reemplaza dentro de los 30 días calendario \
     después de su fin"
    );
    let message = if days > DAYS_ON_PAPER + DAYS_TO_REPLACE {
        say!(
            [terms],
            "the paper receipt of {paper} is {days} days old, more than the 45 that the terms allow: {terms}",
            "el comprobante de papel del {paper} tiene {days} días, más de los 45 que permiten los plazos: {terms}"
        )
    } else {
        say!(
            [terms],
            "the paper receipt of {paper} is {days} days old: it is replaced in time only if the contingency ended \
             at most 30 days ago; {terms}",
            "el comprobante de papel del {paper} tiene {days} días: se reemplaza a tiempo solo si la contingencia \
             terminó hace 30 días o menos; {terms}"
        )
    };
    out.wrong(referencia("FechaNCFModificado"), message).given(paper);
}

/// Adds the indicator that the two dates imply to the finding that a credit note lacks it.
pub(crate) fn advise_indicator(document: &Document, violations: &mut [Violation]) {
    let path = id_doc("IndicadorNotaCredito");
    let dates = document.informacion_referencia.fecha_ncf_modificado;
    let Some((modified, issue)) = dates.zip(document.encabezado.emisor.fecha_emision) else {
        return;
    };
    let missing = violations
        .iter_mut()
        .filter(|violation| violation.kind == "missing" && violation.path == path);
    for violation in missing {
        let expected = indicador_nota_credito(issue, modified);
        violation.message = say!(
            "IndicadorNotaCredito is mandatory in type 34: the note of {issue} comes {} calendar days after the \
             receipt of {modified}, so it is {expected} ({})",
            "IndicadorNotaCredito es obligatorio en el tipo 34: la nota del {issue} viene {} días calendario después \
             del comprobante del {modified}, así que es {expected} ({})",
            days_between(modified, issue),
            expected.words()
        );
        violation.expected = Some(expected.to_string());
    }
}

fn reference_is_to_a_consumer_invoice(case: &Case<'_>, out: &mut Findings<'_>) {
    if reference(case).codigo_modificacion != Some(CodigoModificacion::ReferenciaConsumo) {
        return;
    }
    let number = reference(case).ncf_modificado.as_ref();
    let other = |number: &&Ncf| type_of(number).is_some_and(|other| other != E32);
    if let Some(number) = number.filter(other) {
        let message = say!(
            "code 5 refers to a consumer invoice, {number} is none",
            "el código 5 se refiere a una Factura de Consumo, {number} no lo es"
        );
        out.differs(
            referencia("NCFModificado"),
            number,
            "a number that starts with E32 or B02",
            message,
        );
    }
}

fn days<'a>(case: &Case<'a>) -> Option<(Fecha, Fecha)> {
    let issue = case.document.encabezado.emisor.fecha_emision;
    reference(case).fecha_ncf_modificado.zip(issue)
}

fn modified_receipt_is_older(case: &Case<'_>, out: &mut Findings<'_>) {
    if let Some((modified, issue)) = days(case).filter(|(modified, issue)| modified > issue) {
        let message = say!(
            "FechaNCFModificado {modified} is after FechaEmision {issue}",
            "FechaNCFModificado {modified} es posterior a FechaEmision {issue}"
        );
        let path = referencia("FechaNCFModificado");
        out.differs(path, modified, format!("{issue} or earlier"), message);
    }
}

fn indicator_follows_the_days(case: &Case<'_>, out: &mut Findings<'_>) {
    let given = case.document.encabezado.id_doc.indicador_nota_credito;
    let Some((given, (modified, issue))) = given.zip(days(case)).filter(|_| case.receipt_type == E34) else {
        return;
    };
    let expected = indicador_nota_credito(issue, modified);
    if given != expected {
        let days = days_between(modified, issue);
        let message = say!(
            "the note of {issue} comes {days} calendar days after the receipt of {modified}, so IndicadorNotaCredito \
             is {expected} ({})",
            "la nota del {issue} viene {days} días calendario después del comprobante del {modified}, así que \
             IndicadorNotaCredito es {expected} ({})",
            expected.words()
        );
        out.differs(id_doc("IndicadorNotaCredito"), given, expected, message);
    }
}

fn late_credit_gives_no_itbis_back(case: &Case<'_>, out: &mut Findings<'_>) {
    let header = &case.document.encabezado;
    let late = header.id_doc.indicador_nota_credito == Some(IndicadorNotaCredito::MasDeTreintaDias);
    let itbis = header.totales.total_itbis.as_ref();
    if let Some(itbis) = itbis.filter(|itbis| late && !itbis.value().is_zero()) {
        let message = say!(
            "the note comes more than 30 days after what it modifies: its ITBIS of {itbis} does not reduce what the \
             issuer owes, the price can be refunded without it",
            "la nota viene más de 30 días después de lo que modifica: su ITBIS de {itbis} no reduce \
             lo que el emisor debe, el precio se puede devolver sin él"
        );
        out.wrong(totales("TotalITBIS"), message).given(itbis);
    }
}

fn has_code(case: &Case<'_>, codes: &[CodigoModificacion]) -> bool {
    case.receipt_type.is_note()
        && reference(case)
            .codigo_modificacion
            .is_some_and(|code| codes.contains(&code))
}

/// The format requires MontoItem 0, the authority's data have one non-billable line of 1.00. Both give MontoTotal 0.00.
fn correction_of_text_has_no_amount(case: &Case<'_>, out: &mut Findings<'_>) {
    if let Some(total) = case
        .monto_total()
        .filter(|total| has_code(case, &[CodigoModificacion::CorrigeTexto]) && !total.is_zero())
    {
        let message = say!(
            "CodigoModificacion is 2 (text), which changes no amount",
            "CodigoModificacion es 2 (texto), que no cambia ningún monto"
        );
        out.amount(totales("MontoTotal"), total, ZERO, message);
    }
}

fn correction_of_amounts_has_one(case: &Case<'_>, out: &mut Findings<'_>) {
    let codes = [CodigoModificacion::Anula, CodigoModificacion::CorrigeMontos];
    if let Some(total) = case
        .monto_total()
        .filter(|total| has_code(case, &codes) && total.is_zero())
    {
        let message = say!(
            "the note corrects or annuls an amount, and MontoTotal is 0.00",
            "la nota corrige o anula un monto, y MontoTotal es 0.00"
        );
        out.wrong(totales("MontoTotal"), message)
            .given(total)
            .expected("more than zero, or code 2 for a correction of text");
    }
}

fn other_taxpayer_is_another(case: &Case<'_>, out: &mut Findings<'_>) {
    let issuer = case.document.encabezado.emisor.rnc_emisor.as_ref();
    let other = reference(case).rnc_otro_contribuyente.as_ref();
    if let Some(other) = other.filter(|other| issuer == Some(*other)) {
        let message = say!(
            "RNCOtroContribuyente names the issuer itself: it is for taxpayers that were dissolved, merged or split",
            "RNCOtroContribuyente nombra al propio emisor: es para contribuyentes disueltos, \
             fusionados o escindidos"
        );
        out.wrong(referencia("RNCOtroContribuyente"), message).given(other);
    }
}

/// In notes, the structure already requires all three.
fn reference_is_complete(case: &Case<'_>, out: &mut Findings<'_>) {
    let given = reference(case);
    if case.receipt_type.is_note() || *given == InformacionReferencia::default() {
        return;
    }
    let fields = [
        ("NCFModificado", given.ncf_modificado.is_some()),
        ("FechaNCFModificado", given.fecha_ncf_modificado.is_some()),
        ("CodigoModificacion", given.codigo_modificacion.is_some()),
    ];
    for (field, _) in fields.into_iter().filter(|(_, there)| !there) {
        out.missing(
            at(&["InformacionReferencia", field]),
            say!(
                "a reference to another receipt comes with {field}",
                "una referencia a otro comprobante lleva {field}"
            ),
        );
    }
}

fn correction_of_text_is_a_credit_note(case: &Case<'_>, out: &mut Findings<'_>) {
    if case.receipt_type == E33 && has_code(case, &[CodigoModificacion::CorrigeTexto]) {
        let message = say!(
            "a correction of text changes no amount: it is usually a credit note, type 34",
            "una corrección de texto no cambia ningún monto: suele ser una nota de crédito, tipo 34"
        );
        out.wrong(referencia("CodigoModificacion"), message).given(2);
    }
}
