//! Registers the numbers that a workbook prescribes, so that nobody has to do it by hand.

use std::collections::BTreeMap;

use ecf::{Environment, Fecha, ReceiptType};
use ecf_language::{Bilingual, say};
use ecf_store::{
    Scope, StoreError, Table,
    numbers::{NewRange, Numbering, Range, RangeChanges, RangeOpened},
};
use ecf_workbook::Suite;
use jiff::Timestamp;

/// A number and the expiry that its row prescribes.
type Prescribed = (u64, Option<Fecha>);

/// Opens the prescribed numbers that no range of the company contains, as ranges of the caller. In CerteCF, where the
/// workbook is the only source of numbers, a range is activated, and its expiry becomes that of the rows. The inner
/// error is a sentence for the person.
///
/// # Errors
/// Fails when DynamoDB fails.
pub(crate) async fn register(
    table: &Table,
    scope: &Scope,
    suite: &Suite,
    now: Timestamp,
) -> Result<Result<(), Bilingual>, StoreError> {
    let mut prescribed: BTreeMap<ReceiptType, Vec<Prescribed>> = BTreeMap::new();
    for receipt in &suite.receipts {
        let (encf, id_doc) = (receipt.encf(), &receipt.numbered().document().encabezado.id_doc);
        let numbers = prescribed.entry(encf.receipt_type()).or_default();
        numbers.push((encf.sequence(), id_doc.fecha_vencimiento_secuencia));
    }
    for (ecf_type, mut numbers) in prescribed {
        numbers.sort();
        let ranges = table.ranges(scope, Some(ecf_type)).await?;
        for range in &ranges {
            let inside = numbers.iter().find(|(number, _)| range.contains(*number));
            let Some((number, expiry)) = inside else { continue };
            if range.numbering == Some(Numbering::Service) {
                return Ok(Err(say!(
                    "the range of type {ecf_type} from {} to {} is numbered by this service and contains the prescribed number {number}: deactivate it, or shorten it before the run",
                    "el rango del tipo {ecf_type} de {} a {} lo numera este servicio y contiene el número prescrito {number}: desactívelo, o acórtelo antes de la corrida",
                    range.start,
                    range.end
                )));
            }
            let differs = expiry.is_some() && *expiry != range.valid_until;
            if scope.environment == Environment::CerteCF && (differs || !range.active) {
                let changes = RangeChanges {
                    active: Some(true),
                    end: None,
                    valid_until: *expiry,
                };
                table.change_range(scope, range.id(), changes, now).await?;
            }
        }
        for (start, end, valid_until) in missing(&numbers, &ranges) {
            let new = NewRange {
                ecf_type,
                start,
                end,
                valid_until,
                numbering: Some(Numbering::Caller),
                created_at: now,
            };
            if let RangeOpened::TooMany = table.open_range(scope, new).await? {
                return Ok(Err(say!(
                    "the company has too many ranges of type {ecf_type}; the operator can remove some",
                    "la empresa tiene demasiados rangos del tipo {ecf_type}; el operador puede quitar algunos"
                )));
            }
        }
    }
    Ok(Ok(()))
}

/// The ranges that contain the numbers outside all ranges: numbers with the same expiry are in one range, unless an
/// existing range lies between them.
fn missing(numbers: &[Prescribed], ranges: &[Range]) -> Vec<(u64, u64, Option<Fecha>)> {
    let mut missing: Vec<(u64, u64, Option<Fecha>)> = Vec::new();
    let outside = |number: u64| !ranges.iter().any(|range| range.contains(number));
    for &(number, expiry) in numbers.iter().filter(|(number, _)| outside(*number)) {
        match missing.last_mut() {
            Some((start, end, known))
                if *known == expiry && !ranges.iter().any(|range| range.start > *start && range.start < number) =>
            {
                *end = number;
            }
            _ => missing.push((number, number, expiry)),
        }
    }
    missing
}
