//! What must hold for any bytes that a stranger sends as a receipt. The fuzzer calls it with bytes of its own making, and the ordinary
//! tests with the corpus (`tests/corpus.rs`, which takes this file in).

use ecf::{Document, Heading, ReceiptType, structure};
use xmldsig::Limits;

/// What the smallest document may cost, and each further byte: allocations, and bytes allocated over the whole time.
const ALLOCATIONS: (u64, u64) = (200, 2);
const ALLOCATED: (u64, u64) = (100_000, 100);

/// Verifying and reading costs in proportion to the size, and nothing panics.
pub fn receive(xml: &[u8]) {
    let work = allocation_counter::measure(|| read(xml));
    let within = |spent: u64, (least, per_byte): (u64, u64)| spent <= least + per_byte * xml.len() as u64;
    assert!(
        within(work.count_total, ALLOCATIONS) && within(work.bytes_total, ALLOCATED),
        "{} bytes cost {work:?}",
        xml.len()
    );
}

/// As `reception` does it, and the form of every type besides.
fn read(xml: &[u8]) {
    let verified = xmldsig::verify(xml, &Limits::default());
    let bytes = verified.as_ref().map_or(xml, |verified| &verified.document);
    let encf = Heading::from_xml(bytes).ok().and_then(|heading| heading.encf);
    let receipt_type = encf.map_or(ReceiptType::E31, |encf| encf.receipt_type());
    let is_formed = structure::check(xml, Some(receipt_type)).is_ok_and(|faults| faults.is_empty());
    if is_formed && let Ok(received) = Document::from_xml(bytes) {
        assert!(received.violations.len() <= 1_100, "{}", received.violations.len());
    }
}
