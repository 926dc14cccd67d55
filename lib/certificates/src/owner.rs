//! Whose certificate it is.

use ecf::Rnc;
use xmldsig::Certificate;

/// The owner of a certificate, as seen by a taxpayer.
///
/// The authority accepts the signature of a natural person with a delegation for the taxpayer, so another owner is not a fault in
/// itself. A taxpayer that did not expect it has the wrong file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Owner {
    /// The certificate names the taxpayer, as its holder or as the institution that the holder belongs to.
    Taxpayer,
    /// The certificate names a delegate that the taxpayer named.
    Delegate(Rnc),
    /// The certificate names another owner; the text is the certificate's.
    Other(String),
    /// The certificate names no owner.
    Unstated,
}

impl Owner {
    /// Compares what the certificate says (`serialNumber` of the subject, and its `organizationIdentifier`) with the
    /// taxpayer and its delegates.
    pub fn of(certificate: &Certificate, taxpayer: &Rnc, delegates: &[Rnc]) -> Self {
        let numbers = || stated(certificate).filter_map(taxpayer_number);
        if numbers().any(|number| number == taxpayer.as_str()) {
            return Self::Taxpayer;
        }
        if let Some(delegate) = delegates
            .iter()
            .find(|delegate| numbers().any(|number| number == delegate.as_str()))
        {
            return Self::Delegate(delegate.clone());
        }
        match stated(certificate).next() {
            Some(other) => Self::Other(other.to_owned()),
            None => Self::Unstated,
        }
    }
}

/// The two attributes that name an owner.
pub(crate) fn stated(certificate: &Certificate) -> impl Iterator<Item = &str> {
    let attributes = [
        certificate.subject_serial.as_deref(),
        certificate.subject_organization_identifier.as_deref(),
    ];
    attributes.into_iter().flatten()
}

/// The digits of an RNC (9) or a cédula (11): `IDCDO-00100000001`, `RNC 1-31-88068-1`, `131880681`. Before the digits stands
/// nothing, `RNC`, or a scheme that ends in `DO`; numbers of other countries and of passports are none, however they look.
pub(crate) fn taxpayer_number(stated: &str) -> Option<String> {
    let is_separator = |character: char| matches!(character, '-' | ' ' | '.' | ':');
    let stated = stated.trim();
    let at = stated.find(|character: char| character.is_ascii_digit())?;
    let (scheme, number) = stated.split_at(at);
    let scheme = scheme.trim_end_matches(is_separator).to_ascii_uppercase();
    let is_dominican = scheme.is_empty() || scheme == "RNC" || (scheme.ends_with("DO") && !scheme.starts_with("PAS"));
    let is_number = number
        .chars()
        .all(|character| character.is_ascii_digit() || is_separator(character));
    let digits: String = number.chars().filter(char::is_ascii_digit).collect();
    (is_dominican && is_number && matches!(digits.len(), 9 | 11)).then_some(digits)
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
            ("RNC: 131880681", "131880681"),
            ("VATDO-131880681", "131880681"),
            ("1-31-88068-1", "131880681"),
        ] {
            assert_eq!(taxpayer_number(stated).as_deref(), Some(number), "{stated}");
        }
    }

    #[test]
    fn k8_digits_of_another_country_or_kind_are_no_taxpayer_number() {
        for stated in [
            "PASDO-131880681",
            "IDCUS-131880681",
            "TIN131880681",
            "131880681-US",
            "X131880681",
            "VATES-B131880681",
            "13188068",
            "1318806811",
            "RNC",
            "",
        ] {
            assert_eq!(taxpayer_number(stated), None, "{stated}");
        }
    }
}
