//! The input of a print: the content of the signed bytes.

use ecf::totals::{Computed, IscRates, compute};
use ecf::{Document, Environment, ReceiptType, Stamp, StampHosts};
use xmldsig::Limits;

use crate::RiError;

/// A receipt whose signature was verified.
pub(crate) struct Receipt {
    pub(crate) document: Document,
    pub(crate) receipt_type: ReceiptType,
    /// The first six characters of the signature value.
    pub(crate) codigo_seguridad: String,
    /// The URL in the QR code.
    pub(crate) stamp: String,
    /// The taxes of each line, which the document does not state.
    pub(crate) computed: Computed,
    rates: IscRates,
}

impl Receipt {
    pub(crate) fn read(signed: &[u8], environment: Environment, hosts: &StampHosts) -> Result<Self, RiError> {
        let verified = xmldsig::verify(signed, &Limits::default()).map_err(Box::new)?;
        let received = Document::from_xml(&verified.document)?;
        let codigo_seguridad: String = verified.signature_value.chars().take(6).collect();
        let Some(stamp) = Stamp::of(&received.document, environment, &codigo_seguridad) else {
            let missing = received.violations.iter().map(|violation| violation.path.join("/"));
            return Err(RiError::Incomplete {
                paths: missing.collect(),
            });
        };
        let stamp = stamp.url(hosts);
        let rates = IscRates::of(environment);
        let computed = compute(&received.document, received.receipt_type, &rates);
        Ok(Self {
            stamp,
            codigo_seguridad,
            receipt_type: received.receipt_type,
            document: received.document,
            computed,
            rates,
        })
    }

    /// The amounts if the lines were on the pages that `paged` states.
    pub(crate) fn computed_for(&self, paged: &Document) -> Computed {
        compute(paged, self.receipt_type, &self.rates)
    }
}
