//! A signed document on its way, under the file name that the authority prescribes.

use ecf::{Encf, Rnc};

/// A signed document and its file name.
///
/// The bytes travel as they are: no byte-order mark, no declaration, nothing is added ("001 Archivo no válido").
#[derive(Debug, Clone)]
pub struct Upload {
    pub(crate) file_name: String,
    pub(crate) xml: Vec<u8>,
}

impl Upload {
    /// A receipt or a summary: `{RNCEmisor}{eNCF}.xml`; any other length of the name is refused with code 3243.
    #[must_use]
    pub fn receipt(rnc_emisor: &Rnc, encf: &Encf, xml: Vec<u8>) -> Self {
        Self {
            file_name: format!("{rnc_emisor}{encf}.xml"),
            xml,
        }
    }

    /// What a buyer says of a receipt: `{RNCComprador}{eNCF}.xml`.
    #[must_use]
    pub fn approval(rnc_comprador: &Rnc, encf: &Encf, xml: Vec<u8>) -> Self {
        Self {
            file_name: format!("{rnc_comprador}{encf}.xml"),
            xml,
        }
    }

    /// An annulment; no rule names its file.
    #[must_use]
    pub fn annulment(rnc_emisor: &Rnc, xml: Vec<u8>) -> Self {
        Self {
            file_name: format!("{rnc_emisor}ANECF.xml"),
            xml,
        }
    }

    /// A signed seed; its name is free.
    pub(crate) fn seed(xml: Vec<u8>) -> Self {
        Self {
            file_name: "semilla.xml".to_owned(),
            xml,
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
