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
