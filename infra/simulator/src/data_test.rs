//! The data tests of the certification, steps 2 and 3 of the authority's portal, for a taxpayer whose workbooks a tester
//! set.
//!
//! In the certification environment such a taxpayer may send the prescribed numbers only, with the prescribed cells:
//! receipts, then summaries, then (by hand) the full invoices of the summaries, then approvals. The first rejection
//! resets the step: everything after it is rejected until other workbooks are set.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::{
    App,
    document::Document,
    environment::Environment,
    facts::Facts,
    signature,
    state::{Kind, State, StateError},
    verdict::{Codigo, Mensaje, Verdict},
};

/// Element path, such as `Encabezado/Totales/MontoTotal`, and the text that it must have.
type Cells = BTreeMap<String, String>;

/// The workbooks and the progress of one taxpayer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct DataTest {
    /// The rows that are sent as receipts, by number.
    pub(crate) ecf: BTreeMap<String, Cells>,
    /// The rows that are sent as summaries, by number.
    pub(crate) rfce: BTreeMap<String, Cells>,
    /// The approvals, by the number of the answered receipt.
    pub(crate) acecf: BTreeMap<String, Cells>,
    pub(crate) progress: Progress,
}

/// What the portal counts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Progress {
    /// Why the step was reset.
    pub(crate) reset: Option<String>,
    pub(crate) ecf: BTreeSet<String>,
    pub(crate) rfce: BTreeSet<String>,
    pub(crate) uploads: BTreeSet<String>,
    pub(crate) acecf: BTreeSet<String>,
}

/// The portal's page of a taxpayer.
#[derive(Debug, Serialize)]
pub(crate) struct Portal {
    /// `en proceso`, `reiniciado` or `completado`.
    estado: &'static str,
    motivo: Option<String>,
    aceptados: Counters,
    esperados: Counters,
}

#[derive(Debug, Serialize)]
struct Counters {
    ecf: usize,
    rfce: usize,
    cargas: usize,
    acecf: usize,
}

impl DataTest {
    pub(crate) fn portal(&self) -> Portal {
        let Progress {
            reset,
            ecf,
            rfce,
            uploads,
            acecf,
        } = &self.progress;
        let is_complete = ecf.len() == self.ecf.len()
            && rfce.len() == self.rfce.len()
            && uploads.len() == self.rfce.len()
            && acecf.len() == self.acecf.len();
        Portal {
            estado: match reset {
                Some(_) => "reiniciado",
                None if is_complete => "completado",
                None => "en proceso",
            },
            motivo: reset.clone(),
            aceptados: Counters {
                ecf: ecf.len(),
                rfce: rfce.len(),
                cargas: uploads.len(),
                acecf: acecf.len(),
            },
            esperados: Counters {
                ecf: self.ecf.len(),
                rfce: self.rfce.len(),
                cargas: self.rfce.len(),
                acecf: self.acecf.len(),
            },
        }
    }

    /// Why the portal does not take this document now.
    fn objection(&self, kind: Kind, document: &Document, facts: &Facts) -> Option<String> {
        if let Some(reset) = &self.progress.reset {
            return Some(format!("El paso fue reiniciado: {reset}"));
        }
        let encf = &facts.encf;
        let rows = match kind {
            Kind::Ecf => &self.ecf,
            Kind::Rfce => &self.rfce,
            Kind::Acecf => &self.acecf,
        };
        let Some(cells) = rows.get(encf) else {
            return Some(format!("El e-NCF {encf} no corresponde al set de pruebas asignado."));
        };
        let is_missing = |rows: &BTreeMap<String, Cells>, done: &BTreeSet<String>| done.len() < rows.len();
        let (progress, is_note) = (&self.progress, matches!(encf.get(1..3), Some("33" | "34")));
        let notes_first =
            |number: &String| !matches!(number.get(1..3), Some("33" | "34")) && !progress.ecf.contains(number);
        let out_of_order = match kind {
            Kind::Ecf => is_note && self.ecf.keys().any(notes_first),
            Kind::Rfce => is_missing(&self.ecf, &progress.ecf),
            Kind::Acecf => is_missing(&self.rfce, &progress.uploads),
        };
        if out_of_order {
            return Some(format!("El e-NCF {encf} fue enviado fuera del orden establecido."));
        }
        cells.iter().find_map(|(path, expected)| {
            let steps: Vec<&str> = path.split('/').collect();
            let found = document.root.text_at(&steps).unwrap_or_default();
            (found != expected).then(|| format!("El valor de {path} no coincide con el set de pruebas: {found:?}."))
        })
    }

    fn record(&mut self, kind: Kind, encf: &str, rejection: Option<String>) {
        if rejection.is_some() {
            self.progress.reset = self.progress.reset.take().or(rejection);
            return;
        }
        let done = match kind {
            Kind::Ecf => &mut self.progress.ecf,
            Kind::Rfce => &mut self.progress.rfce,
            Kind::Acecf => &mut self.progress.acecf,
        };
        done.insert(encf.to_owned());
    }

    /// A person uploads the full invoice of an accepted summary.
    fn upload(&mut self, app: &App, bytes: &[u8]) -> Result<(), String> {
        if let Some(reset) = &self.progress.reset {
            return Err(format!("El paso fue reiniciado: {reset}"));
        }
        let document = Document::read(bytes).map_err(|error| error.to_string())?;
        let facts = Facts::of_receipt(&document);
        let encf = facts.encf.clone();
        if !self.progress.rfce.contains(&encf) {
            return Err(format!("El resumen de {encf} no ha sido aceptado."));
        }
        signature::verify(&document).map_err(|error| format!("La firma no es válida ({error})."))?;
        let summaries = app
            .state
            .documents_by_number(Environment::Certecf, &facts.rnc_emisor, &encf);
        let summaries = summaries.map_err(|error| error.to_string())?;
        if !summaries
            .iter()
            .any(|record| record.facts.codigo_seguridad == document.security_code())
        {
            return Err(format!("El código de seguridad de {encf} no es el del resumen."));
        }
        self.progress.uploads.insert(encf);
        Ok(())
    }
}

/// The verdict of the portal on a document that the services judged already.
pub(crate) fn judge(
    state: &State,
    environment: Environment,
    kind: Kind,
    document: &Document,
    facts: &Facts,
    judged: Verdict,
) -> Result<Verdict, StateError> {
    let rnc = match kind {
        Kind::Acecf => facts.rnc_comprador.clone().unwrap_or_default(),
        Kind::Ecf | Kind::Rfce => facts.rnc_emisor.clone(),
    };
    let Some(test) = of(state, environment, &rnc) else {
        return Ok(judged);
    };
    let verdict = match test.objection(kind, document, facts) {
        Some(objection) => Verdict::rejected_free(vec![Mensaje::new("0", objection)]),
        None => judged,
    };
    let rejection = (verdict.codigo == Codigo::Rechazado).then(|| {
        let first = verdict.mensajes.first().map(|mensaje| mensaje.valor.clone());
        format!("{}: {}", facts.encf, first.unwrap_or_default())
    });
    state.change_settings(|settings| {
        if let Some(test) = settings.data_tests.get_mut(&rnc) {
            test.record(kind, &facts.encf, rejection);
        }
    })?;
    Ok(verdict)
}

/// The data test of a taxpayer in this environment.
pub(crate) fn of(state: &State, environment: Environment, rnc: &str) -> Option<DataTest> {
    let is_certification = environment == Environment::Certecf;
    is_certification
        .then(|| state.settings().data_tests.get(rnc).cloned())
        .flatten()
}

/// A full invoice that a person uploads; the inner error is the portal's.
pub(crate) fn upload(app: &App, rnc: &str, bytes: &[u8]) -> Result<Result<(), String>, StateError> {
    let mut outcome = Err("El contribuyente no tiene un set de pruebas.".to_owned());
    let Some(mut test) = app.state.settings().data_tests.get(rnc).cloned() else {
        return Ok(outcome);
    };
    outcome = test.upload(app, bytes);
    if let Err(why) = &outcome {
        test.progress.reset.get_or_insert_with(|| why.clone());
    }
    app.state.change_settings(|settings| {
        settings.data_tests.insert(rnc.to_owned(), test);
    })?;
    Ok(outcome)
}
