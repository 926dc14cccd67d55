//! What is wrong with a document: one entry per finding, with the path of the field.
//!
//! The codes are in [`codes`] and, for the fiscal rules, in [`rules::CATALOGUE`](crate::rules::CATALOGUE).

use ecf_language::Bilingual;

use crate::Node;
use crate::codes;
use crate::document::Document;
use crate::field::{Block, Field};

/// What a violation means for the receipt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Grade {
    /// Worth knowing, and no obstacle.
    Notice,
    /// The tax authority would accept the receipt only conditionally.
    Conditional,
    /// The tax authority would reject the receipt.
    Rejected,
}

/// One finding about one field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The JSON keys down to the field, from the document's root, with the 0-based position of repeated elements as
    /// text: `["DetallesItems", "Item", "3", "DescuentoMonto"]` is the fourth line. The path is always the canonical
    /// one, also when the payload used a tolerated other shape.
    pub path: Vec<String>,
    /// A permanent code such as `ESTRUCTURA-01`; the words may improve, the code stays.
    pub code: &'static str,
    /// The kind of error in the vocabulary of FastAPI, such as `missing`.
    pub kind: &'static str,
    /// One sentence for the programmer that says how to correct it.
    pub message: Bilingual,
    /// The given value, shortened when long.
    pub given: Option<String>,
    /// The received value, if `given` does not show it: the value of an unknown name, a list, an object.
    pub input: Option<Node>,
    /// What was expected.
    pub expected: Option<String>,
    /// Expected minus given, for amounts.
    pub difference: Option<String>,
    /// What it means for the receipt.
    pub grade: Grade,
}

impl Violation {
    /// A finding of grade *rejected* without further details.
    pub fn rejected(path: Vec<String>, code: &'static str, kind: &'static str, message: Bilingual) -> Self {
        Self {
            path,
            code,
            kind,
            message,
            given: None,
            input: None,
            expected: None,
            difference: None,
            grade: Grade::Rejected,
        }
    }

    /// Adds what was given, cut to a length that fits an answer.
    #[must_use]
    pub fn with_given(mut self, given: &str) -> Self {
        const LONGEST: usize = 120;
        self.given = Some(match given.char_indices().nth(LONGEST) {
            Some((end, _)) => format!("{}…", &given[..end]),
            None => given.to_owned(),
        });
        self
    }

    /// Adds what was expected.
    #[must_use]
    pub fn with_expected(mut self, expected: impl Into<String>) -> Self {
        self.expected = Some(expected.into());
        self
    }

    /// Changes the grade.
    #[must_use]
    pub fn with_grade(mut self, grade: Grade) -> Self {
        self.grade = grade;
        self
    }
}

/// Sorts findings by the position of their fields in the document. An unknown field is placed at the field with the
/// nearest name, before the finding that this field is missing, or else last in its block.
pub fn sort_in_document_order(violations: &mut [Violation]) {
    violations.sort_by_cached_key(|violation| match &violation.expected {
        Some(meant) if violation.code == codes::UNKNOWN_FIELD => {
            let mut path = violation.path.clone();
            path.pop();
            path.push(meant.clone());
            rank(&path)
        }
        _ => rank(&violation.path),
    });
}

/// Amounts that follow from other fields of their block, each after its inputs. The schemas put a sum before its parts.
const DERIVED: &[&str] = &[
    "TablaSubDescuento",
    "DescuentoMonto",
    "TablaSubRecargo",
    "RecargoMonto",
    "MontoItem",
    "Retencion",
    "OtraMonedaDetalle",
    "MontoDescuentooRecargo",
    "MontoDescuentooRecargoOtraMoneda",
    "MontoGravadoI1",
    "MontoGravadoI2",
    "MontoGravadoI3",
    "MontoExento",
    "MontoNoFacturable",
    "MontoGravadoTotal",
    "ITBIS1",
    "ITBIS2",
    "ITBIS3",
    "ImpuestosAdicionales",
    "MontoImpuestoAdicional",
    "TotalITBIS1",
    "TotalITBIS2",
    "TotalITBIS3",
    "TotalITBIS",
    "MontoTotal",
    "MontoPeriodo",
    "SaldoAnterior",
    "MontoAvancePago",
    "ValorPagar",
    "TotalITBISRetenido",
    "TotalISRRetencion",
    "MontoGravado1OtraMoneda",
    "MontoGravado2OtraMoneda",
    "MontoGravado3OtraMoneda",
    "MontoExentoOtraMoneda",
    "MontoGravadoTotalOtraMoneda",
    "ImpuestosAdicionalesOtraMoneda",
    "MontoImpuestoAdicionalOtraMoneda",
    "TotalITBIS1OtraMoneda",
    "TotalITBIS2OtraMoneda",
    "TotalITBIS3OtraMoneda",
    "TotalITBISOtraMoneda",
    "MontoTotalOtraMoneda",
    "SubtotalMontoGravado1Pagina",
    "SubtotalMontoGravado2Pagina",
    "SubtotalMontoGravado3Pagina",
    "SubtotalMontoGravadoPagina",
    "SubtotalExentoPagina",
    "SubtotalImpuestoAdicionalPagina",
    "SubtotalItbis1Pagina",
    "SubtotalItbis2Pagina",
    "SubtotalItbis3Pagina",
    "SubtotalItbisPagina",
    "MontoSubtotalPagina",
];

/// More than the number of fields in a block, less than the position of an unknown field.
const AFTER_ALL_FIELDS: usize = 1_000;

/// Sorts findings so that a cause comes before its effects: header and references, the lines, the discounts of the
/// whole receipt, then the sums; each part in document order.
pub fn sort_causes_first(violations: &mut [Violation]) {
    violations.sort_by_cached_key(|violation| {
        let mut place = derivation(&violation.path);
        // The finding about the sum of all pages is at their list, and comes after theirs.
        if violation.difference.is_some() && violation.path == ["Paginacion"] {
            place.push(usize::MAX);
        }
        (stage(&violation.path), place)
    });
}

/// How far a field is from the caller's own inputs. From 2 on it is a sum over lines.
pub(crate) fn stage(path: &[String]) -> u8 {
    match [0, 1, 2].map(|step| path.get(step).map_or("", String::as_str)) {
        ["DetallesItems", ..] => 1,
        ["DescuentosORecargos", ..] => 2,
        ["Encabezado", "Totales", _] => 3,
        ["Encabezado", "OtraMoneda", field] if !matches!(field, "" | "TipoMoneda" | "TipoCambio") => 4,
        ["Subtotales" | "Paginacion", ..] => 5,
        _ => 0,
    }
}

fn derivation(path: &[String]) -> Vec<usize> {
    let derived = |step: &String| DERIVED.iter().position(|name| name == step);
    let mut keys = rank(path);
    for (key, step) in keys.iter_mut().zip(path) {
        if let Some(place) = derived(step) {
            *key = AFTER_ALL_FIELDS + place;
        }
    }
    keys
}

fn rank(path: &[String]) -> Vec<usize> {
    let mut fields: Option<&[Field]> = Some(Document::FIELDS);
    path.iter()
        .map(|step| {
            if let Ok(position) = step.parse::<usize>() {
                return position;
            }
            let place = fields.and_then(|fields| fields.iter().position(|field| field.name == step));
            let rank = place.unwrap_or(usize::MAX);
            fields = fields.zip(place).and_then(|(fields, place)| fields[place].children);
            rank
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(path: &[&str]) -> Violation {
        Violation::rejected(
            path.iter().map(|&step| step.to_owned()).collect(),
            "ESTRUCTURA-01",
            "missing",
            Bilingual::default(),
        )
    }

    #[test]
    fn findings_are_sorted_by_schema_order_and_line() {
        let mut found = [
            at(&["DetallesItems", "Item", "10", "NombreItem"]),
            at(&["DetallesItems", "Item", "2", "MontoItem"]),
            at(&["DetallesItems", "Item", "2", "Descripcion"]),
            at(&["DetallesItems", "Item", "2", "NombreItem"]),
            at(&["Encabezado", "Totales"]),
            at(&["Encabezado", "Emisor", "RNCEmisor"]),
        ];
        sort_in_document_order(&mut found);
        let order: Vec<String> = found.iter().map(|violation| violation.path.join("/")).collect();
        assert_eq!(
            order,
            [
                "Encabezado/Emisor/RNCEmisor",
                "Encabezado/Totales",
                "DetallesItems/Item/2/NombreItem",
                "DetallesItems/Item/2/MontoItem",
                "DetallesItems/Item/2/Descripcion",
                "DetallesItems/Item/10/NombreItem",
            ]
        );
    }

    #[test]
    fn c5_a_misspelt_name_stands_before_the_finding_that_the_right_one_is_missing() {
        let line = |field| at(&["DetallesItems", "Item", "0", field]);
        let misspelt = Violation {
            code: codes::UNKNOWN_FIELD,
            ..line("Nombre").with_expected("NombreItem")
        };
        let unknown = Violation {
            code: codes::UNKNOWN_FIELD,
            ..line("Zzz")
        };
        let mut found = [unknown, misspelt, line("NombreItem"), line("CantidadItem")];
        sort_in_document_order(&mut found);
        let order: Vec<&str> = found.iter().map(|violation| violation.path[3].as_str()).collect();
        assert_eq!(order, ["Nombre", "NombreItem", "CantidadItem", "Zzz"]);
    }

    #[test]
    fn c5_lines_stand_before_sums_and_parts_before_their_sum() {
        let mut found = [
            at(&["Encabezado", "Totales", "MontoTotal"]),
            at(&["Encabezado", "Totales", "TotalITBIS"]),
            at(&["Encabezado", "Totales", "TotalITBIS1"]),
            at(&["Encabezado", "Totales", "MontoGravadoTotal"]),
            at(&["Encabezado", "Totales", "MontoGravadoI1"]),
            at(&["Encabezado", "OtraMoneda", "MontoTotalOtraMoneda"]),
            at(&["Encabezado", "OtraMoneda", "TipoCambio"]),
            at(&["DetallesItems", "Item", "1", "MontoItem"]),
            at(&["DetallesItems", "Item", "1", "DescuentoMonto"]),
            at(&["DetallesItems", "Item", "1", "TablaSubDescuento"]),
            at(&["DetallesItems", "Item", "0", "MontoItem"]),
            at(&["Paginacion"]),
            at(&["InformacionReferencia", "NCFModificado"]),
        ];
        sort_causes_first(&mut found);
        let order: Vec<&str> = found.iter().map(|found| found.path.last().unwrap().as_str()).collect();
        assert_eq!(
            order,
            [
                "TipoCambio",
                "NCFModificado",
                "MontoItem",
                "TablaSubDescuento",
                "DescuentoMonto",
                "MontoItem",
                "MontoGravadoI1",
                "MontoGravadoTotal",
                "TotalITBIS1",
                "TotalITBIS",
                "MontoTotal",
                "MontoTotalOtraMoneda",
                "Paginacion",
            ]
        );
    }

    #[test]
    fn a_long_text_is_shown_shortened() {
        let violation = at(&[]).with_given(&"ñ".repeat(500));
        assert_eq!(violation.given.unwrap().chars().count(), 121);
    }
}
