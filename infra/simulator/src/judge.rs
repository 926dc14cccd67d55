//! The verdict on receipts and summaries. The checks run in the authority's order: signature and certificate,
//! structure, issuer and delegation, sequence, then content.
//!
//! A rejection by an early check leaves the number free. No code here is shared with the service under test.

mod amounts;
mod header;

mod identity;
mod lines;
mod references;
mod sequence;
mod taxes;
mod totals;

use jiff::Timestamp;

use crate::{
    dates,
    document::Document,
    environment::Environment,
    facts::Facts,
    signature::{SignatureError, Signer},
    state::{State, StateError},
    structure,
    verdict::{Mensaje, Verdict},
    xml::Element,
};

/// Consumer invoices below this total are sent as a summary; from this total on they are sent in full.
const SUMMARY_BELOW: i64 = 250_000;
const OUT_OF_RANGE: &str = "Los montos exceden el rango permitido.";

/// A document with everything that its checks need.
pub(crate) struct Case<'a> {
    pub(crate) state: &'a State,
    pub(crate) environment: Environment,
    pub(crate) document: &'a Document,
    pub(crate) facts: &'a Facts,
    /// Verified before the lock is taken, because verification needs no other document.
    pub(crate) signature: &'a Result<Signer, SignatureError>,
    pub(crate) now: Timestamp,
}

/// Ends the checks early.
enum Stop {
    Verdict(Verdict),
    State(StateError),
}

impl From<StateError> for Stop {
    fn from(error: StateError) -> Self {
        Self::State(error)
    }
}

impl Stop {
    /// Rejects the document; the number may be used again.
    fn free(valor: impl Into<String>) -> Self {
        Self::Verdict(Verdict::rejected_free(vec![Mensaje::new("0", valor)]))
    }

    /// Rejects the document; the number is burned.
    fn burned(codigo: &str, valor: impl Into<String>) -> Self {
        Self::Verdict(Verdict::rejected_burned(vec![Mensaje::new(codigo, valor)]))
    }
}

/// Findings of the content checks.
#[derive(Debug, Default)]
struct Findings {
    /// Each error rejects the document.
    errors: Vec<Mensaje>,
    /// Remarks make an acceptance conditional.
    remarks: Vec<Mensaje>,
}

impl Findings {
    fn error(&mut self, codigo: &str, valor: impl Into<String>) {
        self.errors.push(Mensaje::new(codigo, valor));
    }

    fn remark(&mut self, valor: impl Into<String>) {
        self.remarks.push(Mensaje::new("0", valor));
    }

    fn verdict(self) -> Verdict {
        if self.errors.is_empty() {
            Verdict::accepted(self.remarks)
        } else {
            Verdict::rejected_burned(self.errors)
        }
    }
}

/// Decides the verdict on a full receipt.
pub(crate) fn receipt(case: &Case<'_>) -> Result<Verdict, StateError> {
    ended(judge_receipt(case))
}

/// Decides the verdict on the summary of a consumer invoice.
pub(crate) fn summary(case: &Case<'_>) -> Result<Verdict, StateError> {
    ended(judge_summary(case))
}

fn ended(judgement: Result<Verdict, Stop>) -> Result<Verdict, StateError> {
    match judgement {
        Ok(verdict) | Err(Stop::Verdict(verdict)) => Ok(verdict),
        Err(Stop::State(error)) => Err(error),
    }
}

fn judge_receipt(case: &Case<'_>) -> Result<Verdict, Stop> {
    let signer = signed(case)?;
    let root = &case.document.root;
    let tipo = root
        .text_at(&["Encabezado", "IdDoc", "TipoeCF"])
        .and_then(|text| text.parse().ok())
        .unwrap_or_default();
    well_structured(structure::faults_of_receipt(root, tipo))?;
    identity::check(case, signer)?;
    sequence::check(case, tipo)?;
    let mut findings = Findings::default();
    signing_time(case, &mut findings);
    header::check(root, tipo, &mut findings);
    references::check(case, tipo, &mut findings)?;
    if arithmetic(root, tipo, &mut findings).is_none() {
        findings.error("0", OUT_OF_RANGE);
    }
    Ok(findings.verdict())
}

/// `None` when a result has more digits than `Decimal` holds.
fn arithmetic(root: &Element, tipo: u8, findings: &mut Findings) -> Option<()> {
    let receipt = amounts::Receipt::read(root)?;
    lines::check(&receipt, tipo, findings)?;
    totals::check(&receipt, tipo, findings)
}

fn judge_summary(case: &Case<'_>) -> Result<Verdict, Stop> {
    let signer = signed(case)?;
    let root = &case.document.root;
    well_structured(structure::faults_of_message(root, "RFCE"))?;
    identity::check(case, signer)?;
    sequence::check(case, 32)?;
    let mut findings = Findings::default();
    header::check_summary(root, &mut findings);
    if totals::check_summary(root, &mut findings).is_none() {
        findings.error("0", OUT_OF_RANGE);
    }
    Ok(findings.verdict())
}

fn signed<'a>(case: &Case<'a>) -> Result<&'a Signer, Stop> {
    let signer = case.signature.as_ref().map_err(|error| {
        tracing::info!(encf = case.facts.encf, error = %error, "a signature was refused");
        Stop::free(format!("La firma del documento no es válida ({error})."))
    })?;
    if !signer.is_in_force(case.now) {
        return Err(Stop::free("El certificado digital no está vigente."));
    }
    Ok(signer)
}

fn well_structured(faults: Vec<String>) -> Result<(), Stop> {
    if faults.is_empty() {
        return Ok(());
    }
    let mensajes = faults.into_iter().map(|fault| Mensaje::new("0", fault)).collect();
    Err(Stop::Verdict(Verdict::rejected_free(mensajes)))
}

fn signing_time(case: &Case<'_>, findings: &mut Findings) {
    let stated = case.facts.fecha_firma.as_deref().and_then(dates::parse_date_time);
    if stated.is_none_or(|stated| stated > dates::local(case.now)) {
        findings.error("0", "FechaHoraFirma es posterior a la fecha y hora actual.");
    }
}

#[cfg(test)]
mod tests;
