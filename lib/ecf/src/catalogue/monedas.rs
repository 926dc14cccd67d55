//! Currencies.

use crate::field::Catalogue;

/// In the order of the format of October 2025.
pub(super) const MONEDAS: Catalogue = &[
    ("BRL", "REAL BRASILENO"),
    ("CAD", "DOLAR CANADIENSE"),
    ("CHF", "FRANCO SUIZO"),
    ("CHY", "YUAN CHINO"),
    ("XDR", "DERECHO ESPECIAL DE GIRO"),
    ("DKK", "CORONA DANESA"),
    ("EUR", "EURO"),
    ("GBP", "LIBRA ESTERLINA"),
    ("JPY", "YEN JAPONES"),
    ("NOK", "CORONA NORUEGA"),
    ("SCP", "LIBRA ESCOCESA"),
    ("SEK", "CORONA SUECA"),
    ("USD", "DOLAR ESTADOUNIDENSE"),
    ("VEF", "BOLIVAR FUERTE VENEZOLANO"),
    ("HTG", "GURDA HAITIANA"),
    ("MXN", "PESO MEXICANO"),
    ("COP", "PESO COLOMBIANO"),
];

/// Common texts that stand for a code.
pub(super) const ALSO: &[(&str, &str)] = &[
    ("US$", "USD"),
    ("$", "USD"),
    ("US", "USD"),
    ("dolar", "USD"),
    ("dolares", "USD"),
    ("dollar", "USD"),
    ("dollars", "USD"),
    ("€", "EUR"),
    ("euros", "EUR"),
    ("CNY", "CHY"),
    ("RMB", "CHY"),
    ("yuan", "CHY"),
    ("VES", "VEF"),
    ("VEB", "VEF"),
    ("MXP", "MXN"),
    ("CAN", "CAD"),
    ("libra", "GBP"),
    ("yen", "JPY"),
    ("gourde", "HTG"),
];

/// Whether the text names the Dominican peso, which does not count as another currency.
pub(crate) fn is_peso(text: &str) -> bool {
    matches!(
        crate::field::words(text).concat().as_str(),
        "dop" | "rd" | "rd$" | "do" | "drp" | "peso" | "pesos" | "pesodominicano" | "pesosdominicanos"
    )
}
