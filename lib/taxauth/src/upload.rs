//! A signed document to submit, with the file name that the authority prescribes.

use ecf::{Encf, Rnc};

use crate::about::Asked;

/// A signed document and its file name.
///
/// The bytes are sent unchanged: without byte-order mark, without added declaration ("001 Archivo no válido").
#[derive(Debug, Clone)]
pub struct Upload {
    pub(crate) file_name: String,
    pub(crate) xml: Vec<u8>,
    /// The identifiers that the answer may repeat.
    issuer: Option<Rnc>,
    encf: Option<Encf>,
}

impl Upload {
    /// A receipt or a summary: `{RNCEmisor}{eNCF}.xml`. A name of another length is refused with code 3243.
    #[must_use]
    pub fn receipt(rnc_emisor: &Rnc, encf: &Encf, xml: Vec<u8>) -> Self {
        Self {
            file_name: format!("{rnc_emisor}{encf}.xml"),
            xml,
            issuer: Some(rnc_emisor.clone()),
            encf: Some(*encf),
        }
    }

    /// A buyer's approval or rejection: `{RNCComprador}{eNCF}.xml`.
    #[must_use]
    pub fn approval(rnc_comprador: &Rnc, encf: &Encf, xml: Vec<u8>) -> Self {
        Self {
            file_name: format!("{rnc_comprador}{encf}.xml"),
            xml,
            issuer: None,
            encf: Some(*encf),
        }
    }

    /// An annulment; its file name is not prescribed.
    #[must_use]
    pub fn annulment(rnc_emisor: &Rnc, xml: Vec<u8>) -> Self {
        Self {
            file_name: format!("{rnc_emisor}ANECF.xml"),
            xml,
            issuer: Some(rnc_emisor.clone()),
            encf: None,
        }
    }

    pub(crate) fn asked(&self) -> Asked<'_> {
        Asked {
            rnc_emisor: self.issuer.as_ref(),
            encf: self.encf.as_ref(),
            track_id: None,
        }
    }

    /// A signed seed; its file name is not prescribed.
    pub(crate) fn seed(xml: Vec<u8>) -> Self {
        Self {
            file_name: "semilla.xml".to_owned(),
            xml,
            issuer: None,
            encf: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_name_is_the_issuer_and_the_number() {
        let rnc: Rnc = "101672919".parse().unwrap();
        let encf: Encf = "E310000000001".parse().unwrap();
        assert_eq!(
            Upload::receipt(&rnc, &encf, Vec::new()).file_name,
            "101672919E310000000001.xml"
        );
    }
}
