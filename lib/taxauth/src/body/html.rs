//! HTML pages, with which gateways and application servers answer when they fail.

/// Upper bound of the text of a page, in characters.
const MAX_WORDS: usize = 300;

pub(super) fn is_page(text: &str) -> bool {
    let start: String = text.chars().take(200).flat_map(char::to_lowercase).collect();
    start.starts_with("<!doctype html")
        || ["<html", "<head", "<body", "<h1", "<p>", "<div"]
            .iter()
            .any(|tag| start.starts_with(tag))
        || (start.starts_with("<?xml") && start.contains("<!doctype html"))
}

/// The title of a page, or its first words without a title.
pub(super) fn words(page: &str) -> String {
    let title = element(page, "title").map(visible).filter(|title| !title.is_empty());
    let words = title.unwrap_or_else(|| visible(page));
    words.chars().take(MAX_WORDS).collect()
}

fn element<'a>(page: &'a str, name: &str) -> Option<&'a str> {
    // Lower-casing ASCII keeps every byte offset.
    let folded = page.to_ascii_lowercase();
    let open = folded.find(&format!("<{name}"))?;
    let start = open + folded[open..].find('>')? + 1;
    let end = start + folded[start..].find(&format!("</{name}"))?;
    Some(&page[start..end])
}

/// Text without tags, scripts and styles, blanks collapsed.
fn visible(markup: &str) -> String {
    let folded = markup.to_ascii_lowercase();
    let mut text = String::new();
    let mut at = 0;
    while let Some(open) = markup[at..].find('<').map(|found| at + found) {
        text.push_str(&markup[at..open]);
        text.push(' ');
        let hidden = ["script", "style"]
            .into_iter()
            .find(|name| folded[open + 1..].starts_with(name));
        let end = match hidden {
            Some(name) => folded[open..].find(&format!("</{name}")).map(|found| open + found + 1),
            None => Some(open + 1),
        };
        at = end
            .and_then(|from| markup[from..].find('>').map(|found| from + found + 1))
            .unwrap_or(markup.len());
    }
    text.push_str(&markup[at..]);
    let text = quick_xml::escape::unescape(&text).map_or_else(|_| text.clone(), |plain| plain.into_owned());
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_title_is_what_a_page_says() {
        let page =
            "<!DOCTYPE html><html><head><TITLE>503 Service\n Unavailable</TITLE></head><body><h1>x</h1></body></html>";
        assert!(is_page(page));
        assert_eq!(words(page), "503 Service Unavailable");
    }

    #[test]
    fn without_title_the_visible_words_speak() {
        let page = "<html><style>b{}</style><body><script>if (a < b) {}</script><h1>Firma &amp; más</h1> no </body>";
        assert_eq!(words(page), "Firma & más no");
    }

    #[test]
    fn broken_markup_never_panics() {
        for page in [
            "<",
            "<html",
            "<title",
            "<title>ñ",
            "<script>",
            "<style><",
            "<html><title></title",
            "&bad; <b",
        ] {
            let _ = words(page);
        }
        assert_eq!(words("<html><body></body></html>"), "");
    }

    #[test]
    fn xml_is_no_page() {
        assert!(!is_page("<Respuesta><codigo>1</codigo></Respuesta>"));
    }
}
