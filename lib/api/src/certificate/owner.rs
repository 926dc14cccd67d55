//! Whose certificate it is.

use ecf::Rnc;
use xmldsig::Certificate;

/// The owner of a certificate, as seen by a taxpayer.
///
/// The authority accepts the signature of whoever holds a delegation for the taxpayer, so another owner is no fault in
/// itself; a taxpayer who did not expect it has the wrong file in hand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Owner {
    /// The certificate names the taxpayer, as its holder or as the institution that the holder belongs to.
    Taxpayer,
    /// Somebody whom the taxpayer named.
    Delegate(Rnc),
    /// Somebody else: what the certificate says.
    Other(String),
    /// The certificate says nothing.
    Unstated,
}

impl Owner {
    /// Compares what the certificate says (`serialNumber` of the subject, and its `organizationIdentifier`) with the
    /// taxpayer and its delegates.
    pub fn of(certificate: &Certificate, taxpayer: &Rnc, delegates: &[Rnc]) -> Self {
        let stated = [
            certificate.subject_serial.as_deref(),
            certificate.subject_organization_identifier.as_deref(),
        ];
        let numbers = || stated.into_iter().flatten().filter_map(taxpayer_number);
        if numbers().any(|number| number == taxpayer.as_str()) {
            return Self::Taxpayer;
        }
        if let Some(delegate) = delegates
            .iter()
            .find(|delegate| numbers().any(|number| number == delegate.as_str()))
        {
            return Self::Delegate(delegate.clone());
        }
        match stated.into_iter().flatten().next() {
            Some(other) => Self::Other(other.to_owned()),
            None => Self::Unstated,
        }
    }
}

/// The digits of an RNC or a cédula, whatever stands around them: `IDCDO-00100000001`, `RNC 1-31-88068-1`. A passport is
/// neither, and its number may look like one.
fn taxpayer_number(stated: &str) -> Option<String> {
    let is_passport = stated
        .trim_start()
        .get(..3)
        .is_some_and(|kind| kind.eq_ignore_ascii_case("PAS"));
    (!is_passport).then(|| stated.chars().filter(char::is_ascii_digit).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_taxpayer_number_is_read_in_each_of_its_forms() {
        for (stated, number) in [
            ("IDCDO-00100000001", "00100000001"),
            ("001-0000000-1", "00100000001"),
            ("RNC131880681", "131880681"),
            ("VATDO-131880681", "131880681"),
            ("1-31-88068-1", "131880681"),
        ] {
            assert_eq!(taxpayer_number(stated).as_deref(), Some(number), "{stated}");
        }
        assert_eq!(taxpayer_number("PASDO-131880681"), None);
    }
}
