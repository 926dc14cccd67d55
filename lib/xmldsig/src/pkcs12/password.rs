//! The byte forms that tools derive from one password.

use zeroize::Zeroizing;

pub(super) type Secret = Zeroizing<Vec<u8>>;

/// The forms of a password, the standard one first.
#[derive(Default)]
pub(super) struct Forms {
    /// For the key derivation of PKCS#12: two bytes per character.
    pub(super) wide: Vec<WideForm>,
    /// For PBKDF2: one byte per character, if that differs from UTF-8.
    pub(super) latin_1: Option<Secret>,
}

#[derive(PartialEq, Eq)]
pub(super) struct WideForm {
    pub(super) bytes: Secret,
    /// The text that OpenSSL converts to these bytes.
    pub(super) text: Zeroizing<String>,
}

impl Forms {
    pub(super) fn of(password: &str) -> Self {
        let mut forms = Self::default();
        // OpenSSL reads a password up to a NUL. No tool accepts one as input.
        if password.contains('\0') {
            return forms;
        }
        // RFC 7292, appendix B.1: big-endian UTF-16 with a final zero.
        forms.add(wide(password), password);
        if password.is_empty() {
            // Some tools treat an empty password as no password, and omit the final zero.
            forms.add(Secret::default(), password);
        }
        // OpenSSL before 1.1 widened each byte of its input, which was UTF-8 on most systems.
        let widened: Zeroizing<String> = Zeroizing::new(password.bytes().map(char::from).collect());
        forms.add(wide(&widened), &widened);
        if !password.is_ascii() {
            let latin_1: Option<Vec<u8>> = password.chars().map(|c| u8::try_from(u32::from(c)).ok()).collect();
            forms.latin_1 = latin_1.map(Zeroizing::new);
        }
        forms
    }

    /// The forms for PBKDF2.
    pub(super) fn narrow(&self) -> impl Iterator<Item = &[u8]> {
        let utf_8 = self.wide.first().map(|form| form.text.as_bytes());
        utf_8
            .into_iter()
            .chain(self.latin_1.as_ref().map(|form| form.as_slice()))
    }

    fn add(&mut self, bytes: Secret, text: &str) {
        let form = WideForm {
            bytes,
            text: Zeroizing::new(text.to_owned()),
        };
        if !self.wide.contains(&form) {
            self.wide.push(form);
        }
    }
}

/// UTF-16 with a final zero.
pub(super) fn wide(text: &str) -> Secret {
    let mut bytes = Secret::default();
    for unit in text.encode_utf16().chain([0]) {
        bytes.extend_from_slice(&unit.to_be_bytes());
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::Forms;

    fn wide(forms: &Forms) -> Vec<&[u8]> {
        forms.wide.iter().map(|form| form.bytes.as_slice()).collect()
    }

    #[test]
    fn plain_passwords_have_one_form_each() {
        let forms = Forms::of("prueba123");
        assert_eq!(wide(&forms), [b"\0p\0r\0u\0e\0b\0a\x001\x002\x003\0\0"]);
        assert_eq!(forms.narrow().collect::<Vec<_>>(), [b"prueba123"]);
    }

    #[test]
    fn other_passwords_have_the_forms_that_tools_wrote() {
        let forms = Forms::of("ñ");
        assert_eq!(wide(&forms), [&[0, 0xF1, 0, 0][..], &[0, 0xC3, 0, 0xB1, 0, 0]]);
        assert_eq!(forms.narrow().collect::<Vec<_>>(), [&[0xC3, 0xB1][..], &[0xF1]]);
        assert_eq!(wide(&Forms::of("")), [&[0, 0][..], &[]]);
        assert_eq!(wide(&Forms::of("\u{1F600}"))[0][..4], [0xD8, 0x3D, 0xDE, 0x00]);
        assert_eq!(wide(&Forms::of("a\0b")), [] as [&[u8]; 0]);
    }
}
