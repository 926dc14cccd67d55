//! The bytes that tools have made of one and the same password.

use zeroize::Zeroizing;

pub(super) type Secret = Zeroizing<Vec<u8>>;

/// The forms of a password, the right one first.
pub(super) struct Forms {
    /// For the key derivation of PKCS#12 itself: two bytes a character.
    pub(super) wide: Vec<Secret>,
    /// For PBKDF2: bytes.
    pub(super) narrow: Vec<Secret>,
}

impl Forms {
    pub(super) fn of(password: &str) -> Self {
        let mut forms = Self {
            wide: Vec::new(),
            narrow: Vec::new(),
        };
        // RFC 7292, appendix B.1: big-endian UTF-16 with a final zero.
        add(&mut forms.wide, wide(password.encode_utf16()));
        if password.is_empty() {
            // Some tools take an empty password for no password at all, and leave out the final zero.
            add(&mut forms.wide, Secret::default());
        }
        // OpenSSL before 1.1 widened each byte of its input, which was UTF-8 on most systems.
        add(&mut forms.wide, wide(password.bytes().map(u16::from)));
        add(&mut forms.narrow, Secret::new(password.as_bytes().to_vec()));
        let latin_1: Option<Vec<u8>> = password.chars().map(|c| u8::try_from(u32::from(c)).ok()).collect();
        if let Some(latin_1) = latin_1 {
            add(&mut forms.narrow, Secret::new(latin_1));
        }
        forms
    }
}

fn wide(units: impl Iterator<Item = u16>) -> Secret {
    let mut bytes = Secret::default();
    for unit in units.chain([0]) {
        bytes.extend_from_slice(&unit.to_be_bytes());
    }
    bytes
}

fn add(forms: &mut Vec<Secret>, form: Secret) {
    if !forms.contains(&form) {
        forms.push(form);
    }
}

#[cfg(test)]
mod tests {
    use super::Forms;

    #[test]
    fn plain_passwords_have_one_form_each() {
        let forms = Forms::of("prueba123");
        assert_eq!((forms.wide.len(), forms.narrow.len()), (1, 1));
        assert_eq!(*forms.wide[0], b"\0p\0r\0u\0e\0b\0a\x001\x002\x003\0\0");
    }

    #[test]
    fn other_passwords_have_the_forms_that_tools_wrote() {
        let forms = Forms::of("ñ");
        assert_eq!(
            forms.wide.iter().map(|form| form.to_vec()).collect::<Vec<_>>(),
            [vec![0, 0xF1, 0, 0], vec![0, 0xC3, 0, 0xB1, 0, 0]]
        );
        assert_eq!(
            forms.narrow.iter().map(|form| form.to_vec()).collect::<Vec<_>>(),
            [vec![0xC3, 0xB1], vec![0xF1]]
        );
        let forms = Forms::of("");
        assert_eq!(
            forms.wide.iter().map(|form| form.to_vec()).collect::<Vec<_>>(),
            [vec![0, 0], vec![]]
        );
        assert_eq!(Forms::of("\u{1F600}").wide[0][..4], [0xD8, 0x3D, 0xDE, 0x00]);
    }
}
