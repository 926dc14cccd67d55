//! The stages of a receipt before its signature: read, complete, numbered.

mod given;
mod numbered;

pub(crate) use given::Given;
pub use numbered::Numbered;

use crate::codes;
use ecf_language::say;
use rust_decimal::Decimal;

use crate::catalogue::Version;
use crate::document::{Document, ROOT};
use crate::field::{Checker, Problem, Reader, Source, Stage};
use crate::rules::advise_indicator;
use crate::totals::{self, Computed, IscRates};
use crate::violation::{Violation, sort_in_document_order};
use crate::{Amounts, Encf, Fecha, Monto, Node, ReceiptType, Texto};

/// A consumer invoice below this amount, in pesos, is sent as a summary.
pub const SUMMARY_THRESHOLD: Decimal = Decimal::from_parts(250_000, 0, 0, false, 0);

/// The maximum number of lines of a receipt that is sent in full.
const LINES_SENT_IN_FULL: usize = 1_000;

/// A payload whose fields are valid by themselves.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    receipt_type: ReceiptType,
    amounts: Amounts,
    document: Document,
    given: Option<Given>,
    computed: Option<Computed>,
}

/// A receipt that is complete except for its number and the fields that signing adds.
#[derive(Debug, Clone, PartialEq)]
pub struct Ecf {
    receipt_type: ReceiptType,
    document: Document,
    computed: Option<Computed>,
}

impl Draft {
    /// Reads a payload, with notices about tolerated deviations.
    ///
    /// The version, the type and the numbers of lines are filled in when absent. So is the anonymous buyer of a
    /// consumer invoice, unless amounts are verbatim, since certification documents must not be extended. Amounts that
    /// can be computed may be missing: [`Draft::complete`] fills them in.
    ///
    /// # Errors
    ///
    /// Every fault of the payload, in document order.
    pub fn read(
        receipt_type: ReceiptType,
        payload: &Node,
        amounts: Amounts,
    ) -> Result<(Self, Vec<Violation>), Vec<Violation>> {
        let mut reader = Reader::new(receipt_type, amounts, Source::Caller);
        let payload = match payload.get(ROOT) {
            Some(inner) => {
                let message = say!(
                    "the payload is the content of ECF; the wrapping was taken off",
                    "el payload es el contenido de ECF; se quitó la envoltura"
                );
                reader.notice(Problem::new(codes::WRAPPED, "wrapped", message), None);
                inner
            }
            None => payload,
        };
        let document = reader.block(payload);
        let mut draft = Self {
            receipt_type,
            amounts,
            document,
            given: None,
            computed: None,
        };
        draft.judge_type(&mut reader.violations);
        draft.fill_in(&mut reader);
        let (mut violations, mut notices) = (reader.violations, reader.notices);
        if violations.is_empty() {
            sort_in_document_order(&mut notices);
            return Ok((draft, notices));
        }
        Checker::check_beside(&draft.document, receipt_type, Stage::Draft, &mut violations);
        advise_indicator(&draft.document, &mut violations);
        if amounts == Amounts::Scaled {
            violations.retain(|violation| !draft.will_be_computed(violation));
        }
        sort_in_document_order(&mut violations);
        Err(violations)
    }

    /// The type it was read as.
    pub fn receipt_type(&self) -> ReceiptType {
        self.receipt_type
    }

    /// How its amounts are written.
    pub fn amounts(&self) -> Amounts {
        self.amounts
    }

    /// The number that the payload brought.
    pub fn encf(&self) -> Option<&Encf> {
        self.document.encabezado.id_doc.encf.as_ref()
    }

    /// The content.
    pub fn document(&self) -> &Document {
        &self.document
    }

    /// Computes the amounts and fills in the missing ones, unless amounts are verbatim. Returns notices about the
    /// filled-in fields; [`Draft::check`] reports amounts that cannot be computed.
    pub fn complete(&mut self, rates: &IscRates) -> Vec<Violation> {
        let mut computed = totals::compute(&self.document, self.receipt_type, rates);
        let mut notices = match self.amounts {
            Amounts::Scaled => {
                self.given.get_or_insert_with(|| Given::of(&self.document));
                totals::complete(&mut self.document, &mut computed)
            }
            Amounts::Verbatim => Vec::new(),
        };
        self.computed = Some(computed);
        sort_in_document_order(&mut notices);
        notices
    }

    /// The computed amounts, after [`Draft::complete`].
    pub fn computed(&self) -> Option<&Computed> {
        self.computed.as_ref()
    }

    /// The caller's amounts, if [`Draft::complete`] filled in others.
    pub(crate) fn given(&self) -> Option<&Given> {
        self.given.as_ref()
    }

    /// Checks that no field is missing, forbidden or repeated too often, and that all amounts could be computed. Number
    /// and expiry may still be absent.
    ///
    /// # Errors
    ///
    /// Every violation, in document order.
    pub fn check(self) -> Result<Ecf, Vec<Violation>> {
        let mut violations = Checker::check(&self.document, self.receipt_type, Stage::Draft);
        advise_indicator(&self.document, &mut violations);
        if let (Amounts::Scaled, Some(computed)) = (self.amounts, &self.computed) {
            // An amount is still missing only because of another fault, or because of a problem that gives the reason.
            let told = |field: &str| !computed.problems.is_empty() || totals::ALWAYS_COMPUTED.contains(&field);
            violations.retain(|violation| !is_computed(violation, told));
        }
        let problems = self.computed.iter().flat_map(|computed| &computed.problems);
        violations.extend(problems.map(totals::Problem::violation));
        violations.extend(too_many_lines(&self.document, self.receipt_type));
        if violations.is_empty() {
            return Ok(Ecf {
                receipt_type: self.receipt_type,
                document: self.document,
                computed: self.computed,
            });
        }
        sort_in_document_order(&mut violations);
        Err(violations)
    }

    /// The type in the payload and the one in its number must be the one it is read as.
    fn judge_type(&self, violations: &mut Vec<Violation>) {
        let id_doc = &self.document.encabezado.id_doc;
        let expected = self.receipt_type.as_str();
        if let Some(given) = id_doc.tipo_ecf.filter(|given| *given != self.receipt_type) {
            let message = say!(
                "TipoeCF is {given}, but the receipt is issued as type {expected}",
                "TipoeCF es {given}, pero el comprobante se emite como tipo {expected}"
            );
            let violation = Violation::rejected(id_doc_path("TipoeCF"), codes::OTHER_TYPE, "value_error", message);
            violations.push(violation.with_given(given.as_str()).with_expected(expected));
        }
        if let Some(given) = id_doc.encf.filter(|given| given.receipt_type() != self.receipt_type) {
            violations.push(wrong_type_of_number(given, self.receipt_type));
        }
    }

    /// Whether [`Draft::complete`] fills in the missing field. It fills in a price if the line has one in another
    /// currency.
    fn will_be_computed(&self, violation: &Violation) -> bool {
        let priced_elsewhere = self.document.encabezado.otra_moneda.tipo_cambio.is_some();
        let is_price = violation.path.last().is_some_and(|field| field == "PrecioUnitarioItem");
        is_computed(violation, |_| true) || (violation.code == codes::MISSING && is_price && priced_elsewhere)
    }

    fn fill_in(&mut self, reader: &mut Reader) {
        let header = &mut self.document.encabezado;
        header.version.get_or_insert(Version::V1);
        header.id_doc.tipo_ecf.get_or_insert(self.receipt_type);
        for (number, line) in (1..).zip(&mut self.document.detalles_items.item) {
            line.numero_linea.get_or_insert(number);
        }
        for (number, entry) in (1..).zip(&mut self.document.descuentos_o_recargos.descuento_o_recargo) {
            entry.numero_linea.get_or_insert(number);
        }
        let anonymous = self.receipt_type == ReceiptType::E32
            && self.amounts == Amounts::Scaled
            && header.comprador == crate::document::Comprador::default()
            && !reader
                .violations
                .iter()
                .any(|violation| violation.path.starts_with(&buyer_path()));
        if anonymous {
            header.comprador.razon_social_comprador = Some(anonymous_buyer());
            let message = say!(
                "a consumer invoice names a buyer: CONSUMIDOR FINAL was filled in",
                "una Factura de Consumo nombra un comprador: se puso CONSUMIDOR FINAL"
            );
            let notice = Violation::rejected(buyer_path(), codes::ANONYMOUS_BUYER, "value_added", message);
            reader.notices.push(notice.with_grade(crate::Grade::Notice));
        }
    }
}

impl Ecf {
    /// The type of the receipt.
    pub fn receipt_type(&self) -> ReceiptType {
        self.receipt_type
    }

    /// The number that the payload brought.
    pub fn encf(&self) -> Option<&Encf> {
        self.document.encabezado.id_doc.encf.as_ref()
    }

    /// The content.
    pub fn document(&self) -> &Document {
        &self.document
    }

    /// The computed amounts, if the draft was completed.
    pub fn computed(&self) -> Option<&Computed> {
        self.computed.as_ref()
    }

    /// Whether a summary is sent instead.
    pub fn goes_as_summary(&self) -> bool {
        self.receipt_type == ReceiptType::E32 && is_below_threshold(&self.document)
    }

    /// Assigns the number and, if the type has one, the expiry of the number's range.
    ///
    /// # Errors
    ///
    /// When the number is of another type, when the payload contains another number or expiry, or when the type
    /// requires an expiry and none is known.
    pub fn numbered(mut self, encf: Encf, expiry: Option<Fecha>) -> Result<Numbered, Box<Violation>> {
        if encf.receipt_type() != self.receipt_type {
            return Err(Box::new(wrong_type_of_number(encf, self.receipt_type)));
        }
        let id_doc = &mut self.document.encabezado.id_doc;
        if let Some(given) = id_doc.encf.filter(|given| *given != encf) {
            let message = say!(
                "the payload brings the number {given}, another one was assigned",
                "el payload trae el número {given}, se asignó otro"
            );
            let violation = Violation::rejected(id_doc_path("eNCF"), codes::OTHER_NUMBER, "value_error", message);
            return Err(Box::new(
                violation.with_given(&given.to_string()).with_expected(encf.to_string()),
            ));
        }
        id_doc.encf = Some(encf);
        if self.receipt_type.carries_expiry() {
            let path = id_doc_path("FechaVencimientoSecuencia");
            match (id_doc.fecha_vencimiento_secuencia, expiry) {
                (Some(given), Some(known)) if given != known => {
                    let message = say!(
                        "the range of {encf} expires on {known}, the payload says {given}",
                        "la secuencia de {encf} vence el {known}, el payload dice {given}"
                    );
                    let violation = Violation::rejected(path, codes::OTHER_EXPIRY, "value_error", message);
                    return Err(Box::new(
                        violation
                            .with_given(&given.to_string())
                            .with_expected(known.to_string()),
                    ));
                }
                (None, None) => {
                    let message = say!(
                        "the expiry of the range of {encf} is not known",
                        "no se conoce el vencimiento de la secuencia de {encf}"
                    );
                    return Err(Box::new(Violation::rejected(path, codes::MISSING, "missing", message)));
                }
                (given, known) => id_doc.fecha_vencimiento_secuencia = given.or(known),
            }
        }
        Ok(Numbered::new(encf, self.document))
    }
}

/// Whether the violation is about a missing field that can be computed.
fn is_computed(violation: &Violation, which: impl Fn(&str) -> bool) -> bool {
    let Some(field) = violation.path.last().filter(|_| violation.code == codes::MISSING) else {
        return false;
    };
    let mut computed = totals::ALWAYS_COMPUTED.iter().chain(&totals::COMPUTED_FOR_LINES);
    computed.any(|name| name == field) && which(field)
}

/// A violation if a consumer invoice that is sent in full has more lines than the schema allows.
/// [`Limit`](crate::field::Limit) cannot check it, because the limit depends on the total.
pub(crate) fn too_many_lines(document: &Document, receipt_type: ReceiptType) -> Option<Violation> {
    let lines = document.detalles_items.item.len();
    if receipt_type != ReceiptType::E32 || is_below_threshold(document) || lines <= LINES_SENT_IN_FULL {
        return None;
    }
    let path = vec!["DetallesItems".to_owned(), "Item".to_owned()];
    let message = say!(
        "a consumer invoice of RD$250,000.00 or more has {LINES_SENT_IN_FULL} lines at most",
        "una Factura de Consumo de RD$250,000.00 o más tiene {LINES_SENT_IN_FULL} líneas como máximo"
    );
    let fault = Violation::rejected(path, codes::TOO_MANY, "too_long", message);
    Some(
        fault
            .with_given(&lines.to_string())
            .with_expected(format!("at most {LINES_SENT_IN_FULL}")),
    )
}

pub(crate) fn is_below_threshold(document: &Document) -> bool {
    let total: Option<&Monto> = document.encabezado.totales.monto_total.as_ref();
    total.is_some_and(|total| total.value() < SUMMARY_THRESHOLD)
}

/// The name of an anonymous buyer, as in the authority's own examples.
pub(crate) fn anonymous_buyer() -> Texto {
    "CONSUMIDOR FINAL"
        .parse()
        .expect("the words have no blanks at the ends")
}

fn buyer_path() -> Vec<String> {
    vec!["Encabezado".to_owned(), "Comprador".to_owned()]
}

fn id_doc_path(field: &str) -> Vec<String> {
    vec!["Encabezado".to_owned(), "IdDoc".to_owned(), field.to_owned()]
}

fn wrong_type_of_number(encf: Encf, expected: ReceiptType) -> Violation {
    let message = say!(
        "{encf} is a number of type {}, the receipt is of type {expected}",
        "{encf} es un número del tipo {}, el comprobante es del tipo {expected}",
        encf.receipt_type()
    );
    Violation::rejected(id_doc_path("eNCF"), codes::NUMBER_OF_OTHER_TYPE, "value_error", message)
        .with_given(&encf.to_string())
        .with_expected(format!("E{expected} and ten digits"))
}
