//! Text that went through the wrong encoding on its way to us. It is told and never repaired: the signed receipt says
//! what the caller said.

use super::RuleInfo;
use crate::field::Problem;
use crate::violation::Grade;

/// Judged while the payload is read.
pub(super) const RULE: RuleInfo = RuleInfo {
    code: "AVISO-20",
    grade: Grade::Notice,
    source: "seen on printed receipts",
    summary: "text was not damaged by a wrong encoding",
};

/// What is to be told of a text that looks damaged.
pub(crate) fn complaint(text: &str) -> Option<Problem> {
    let (word, cause) = damage(text)?;
    let message = format!("the word {word:?} looks damaged: {cause}; it is kept as it came");
    Some(Problem::new(RULE.code, "text_damaged", message))
}

/// The first damaged word, and what happened to it.
fn damage(text: &str) -> Option<(&str, &'static str)> {
    if text.is_ascii() {
        return None;
    }
    text.split_whitespace()
        .find_map(|word| cause(word).map(|cause| (word, cause)))
}

fn cause(word: &str) -> Option<&'static str> {
    if word.contains('\u{FFFD}') {
        return Some("it holds U+FFFD, which stands for a character that was lost");
    }
    if is_doubly_encoded(word) {
        return Some("it looks like UTF-8 that was read as Latin-1");
    }
    let inner = |(index, character): (usize, char)| {
        let after = word[..index].chars().next_back().is_some_and(char::is_alphanumeric);
        character == '¿' && after
    };
    word.char_indices()
        .any(inner)
        .then_some("it holds ¿ after a letter, which often stands for a lost accent")
}

/// The UTF-8 bytes of á, ñ, ° and their like start with C2 or C3; read as Latin-1 or Windows-1252 these are Â and Ã,
/// followed by what the second byte, 80 to BF, is there.
fn is_doubly_encoded(word: &str) -> bool {
    let mut characters = word.chars().peekable();
    while let Some(character) = characters.next() {
        if matches!(character, 'Â' | 'Ã') && characters.peek().is_some_and(|next| is_continuation(*next)) {
            return true;
        }
    }
    false
}

fn is_continuation(character: char) -> bool {
    const WINDOWS_1252: &str = "€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ";
    ('\u{80}'..='\u{BF}').contains(&character) || WINDOWS_1252.contains(character)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_words_are_found() {
        for (text, word) in [
            ("Pan de piÃ±a fresco", "piÃ±a"),
            ("CAFÃ‰ MOLIDO", "CAFÃ‰"),
            ("25Â°C", "25Â°C"),
            ("Ca\u{FFFD}a", "Ca\u{FFFD}a"),
            ("CAF¿ SANTO DOMINGO", "CAF¿"),
            ("COMPA¿IA", "COMPA¿IA"),
        ] {
            assert_eq!(damage(text).map(|(word, _)| word), Some(word), "{text}");
        }
    }

    #[test]
    fn sound_text_is_left_alone() {
        for text in [
            "Piña colada",
            "¿Qué es?",
            "São Paulo",
            "ÂNGELO",
            "MAÇÃ",
            "Ñandú 25 °C",
            "plain",
            "e\u{301}",
        ] {
            assert_eq!(damage(text), None, "{text}");
        }
    }
}
