//! The meaning of the tax authority's messages: field, cause and fix.
//!
//! The authority publishes no list of its message codes. These occurred in real answers; other messages are passed on
//! without an explanation.

use ecf_language::Bilingual;

/// Our explanation of a message. The message itself is always kept beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// The field; `None` when the message is about the whole submission.
    pub field: Option<&'static str>,
    /// The line that the text names, counted from 1.
    pub line: Option<u32>,
    /// The code of the additional tax that the text names.
    pub tipo_impuesto: Option<String>,
    /// What is wrong.
    pub cause: Bilingual,
    /// What to do about it.
    pub fix: Bilingual,
    /// The rules of ours that detect it before sending.
    pub rules: &'static [&'static str],
}

struct Known {
    /// Without leading zeros, because the authority writes both `1` and `001`.
    codigo: &'static str,
    /// A part of the text, in lower case. Code 0 comes with any text.
    holding: &'static str,
    field: Option<&'static str>,
    /// The cause in English and Spanish.
    cause: (&'static str, &'static str),
    /// The fix in English and Spanish.
    fix: (&'static str, &'static str),
    rules: &'static [&'static str],
}

const KNOWN: &[Known] = &[
    Known {
        codigo: "1",
        holding: "archivo",
        field: None,
        cause: (
            "the file is not one that the authority can read, for example because of a byte order mark",
            "la DGII no puede leer el archivo, por ejemplo por una marca de orden de bytes",
        ),
        fix: (
            "send the signed bytes as they are, in UTF-8 and without a byte order mark",
            "envíe los bytes firmados tal como están, en UTF-8 y sin marca de orden de bytes",
        ),
        rules: &[],
    },
    Known {
        codigo: "0",
        holding: "otrosimpuestosadicionales",
        field: Some("Encabezado/Totales/ImpuestosAdicionales/ImpuestoAdicional/OtrosImpuestosAdicionales"),
        cause: (
            "the amount of a tax in the totals is not what the lines with this tax give",
            "el monto de un impuesto en los totales no es lo que dan las líneas con ese impuesto",
        ),
        fix: (
            "add up MontoItem of the lines with the tax and apply its rate, or leave the totals out to have them computed",
            "sume el MontoItem de las líneas con el impuesto y aplique su tasa, u omita los totales para que se calculen",
        ),
        rules: &["IMPUESTO-02", "IMPUESTO-03", "IMPUESTO-05", "IMPUESTO-06"],
    },
    Known {
        codigo: "0",
        holding: "impuestoselectivoconsumo",
        field: Some("Encabezado/Totales/ImpuestosAdicionales/ImpuestoAdicional"),
        cause: (
            "the amount of an excise tax in the totals is not what the lines with this tax give",
            "el monto de un impuesto selectivo en los totales no es lo que dan las líneas con ese impuesto",
        ),
        fix: (
            "check CantidadReferencia, Subcantidad, GradosAlcohol, PrecioUnitarioReferencia and the rate of the day",
            "revise CantidadReferencia, Subcantidad, GradosAlcohol, PrecioUnitarioReferencia y la tasa del día",
        ),
        rules: &["IMPUESTO-02", "IMPUESTO-05", "IMPUESTO-06", "ISC-01", "ISC-06"],
    },
    Known {
        codigo: "0",
        holding: "no coincide",
        field: None,
        cause: (
            "an amount is not what the lines of the receipt give",
            "un monto no es lo que dan las líneas del comprobante",
        ),
        fix: (
            "issue it with validate_only to see each amount that was expected, or leave the totals out to have them computed",
            "emítalo con validate_only para ver cada monto esperado, u omita los totales para que se calculen",
        ),
        rules: &["IDDOC-14", "TOTALES-01", "TOTALES-03", "TOTALES-05", "LINEA-02"],
    },
    Known {
        codigo: "614",
        holding: "",
        field: Some("InformacionReferencia/NCFModificado"),
        cause: (
            "the receipt that the note modifies is not known as accepted to the authority",
            "la DGII no tiene como aceptado el comprobante que la nota modifica",
        ),
        fix: (
            "send the note after the verdict on the modified receipt, and check the number and its issuer",
            "envíe la nota después del veredicto del comprobante modificado, y revise el número y su emisor",
        ),
        rules: &["REFERENCIA-03", "REFERENCIA-23"],
    },
    Known {
        codigo: "1209",
        holding: "",
        field: Some("Encabezado/IdDoc/eNCF"),
        cause: (
            "the number was used before; when the same bytes were sent before, that sending arrived",
            "el número ya se usó; si antes se enviaron los mismos bytes, ese envío llegó",
        ),
        fix: (
            "look the number up before anything is sent again; another receipt needs another number",
            "busque el número antes de volver a enviar algo; otro comprobante necesita otro número",
        ),
        rules: &[],
    },
    Known {
        codigo: "2020",
        holding: "",
        field: Some("DetallesItems/Item/TablaSubDescuento"),
        cause: (
            "the discounts of the line do not add up to its DescuentoMonto, or one of the two is not there",
            "los descuentos de la línea no suman su DescuentoMonto, o falta uno de los dos",
        ),
        fix: (
            "make DescuentoMonto the sum of the MontoSubDescuento of the line",
            "haga que DescuentoMonto sea la suma de los MontoSubDescuento de la línea",
        ),
        rules: &["LINEA-03", "LINEA-04", "LINEA-05", "LINEA-06"],
    },
    Known {
        codigo: "2030",
        holding: "",
        field: Some("DetallesItems/Item/TablaSubRecargo"),
        cause: (
            "the surcharges of the line do not add up to its RecargoMonto, or one of the two is not there",
            "los recargos de la línea no suman su RecargoMonto, o falta uno de los dos",
        ),
        fix: (
            "make RecargoMonto the sum of the MontoSubRecargo of the line",
            "haga que RecargoMonto sea la suma de los MontoSubRecargo de la línea",
        ),
        rules: &["LINEA-07", "LINEA-08", "LINEA-09", "LINEA-10"],
    },
    Known {
        codigo: "2150",
        holding: "",
        field: Some("DetallesItems/Item/TablaSubcantidad"),
        cause: (
            "the line carries an excise tax, and TablaSubcantidad is not there or not complete",
            "la línea lleva un impuesto selectivo, y TablaSubcantidad falta o está incompleta",
        ),
        fix: (
            "give Subcantidad and CodigoSubcantidad: the litres of one unit, or the cigarettes of one packet",
            "dé Subcantidad y CodigoSubcantidad: los litros de una unidad, o los cigarrillos de una cajetilla",
        ),
        rules: &["ISC-01", "ISC-02"],
    },
    Known {
        codigo: "3243",
        holding: "",
        field: None,
        cause: (
            "the name of the file is not the issuer's RNC, the e-NCF and .xml",
            "el nombre del archivo no es el RNC del emisor, el e-NCF y .xml",
        ),
        fix: (
            "change nothing in the receipt: the sender of the file gives the name",
            "no cambie nada en el comprobante: el nombre lo pone quien envía el archivo",
        ),
        rules: &[],
    },
];

/// Our explanation of a message of the authority; `None` when the message is not known.
pub fn explain(codigo: &str, mensaje: &str) -> Option<Explanation> {
    let codigo = match codigo.trim().trim_start_matches('0') {
        "" => "0",
        stripped => stripped,
    };
    let text = mensaje.to_lowercase();
    let known = KNOWN
        .iter()
        .find(|known| known.codigo == codigo && text.contains(known.holding))?;
    Some(Explanation {
        field: known.field,
        line: number_after(&text, &["línea", "linea"]).and_then(|digits| digits.parse().ok()),
        tipo_impuesto: number_after(&text, &["tipo de impuesto"]).map(|digits| format!("{digits:0>3}")),
        cause: both(known.cause),
        fix: both(known.fix),
        rules: known.rules,
    })
}

fn both((en, es): (&'static str, &'static str)) -> Bilingual {
    Bilingual {
        en: en.into(),
        es: es.into(),
    }
}

/// The digits after one of the words, with at most a few other characters between: `línea 3`, `línea No. 3`.
fn number_after<'t>(text: &'t str, words: &[&str]) -> Option<&'t str> {
    const MOST_BETWEEN: usize = 8;
    let digit = |character: char| character.is_ascii_digit();
    words.iter().find_map(|word| {
        text.match_indices(word).find_map(|(start, _)| {
            let rest = &text[start + word.len()..];
            let from = rest
                .char_indices()
                .take(MOST_BETWEEN)
                .find(|(_, character)| digit(*character))?
                .0;
            let digits = &rest[from..];
            Some(&digits[..digits.find(|character| !digit(character)).unwrap_or(digits.len())])
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recorded_message_is_told_with_its_field_and_line() {
        let told = explain("2020", "TablaSubDescuento / DescuentoMonto de la línea 3 no es válido.").unwrap();
        assert_eq!(told.field, Some("DetallesItems/Item/TablaSubDescuento"));
        assert_eq!((told.line, told.tipo_impuesto), (Some(3), None));
        let told = explain("2150", "TablaSubcantidad de la linea No. 12 no es valida").unwrap();
        assert_eq!(told.line, Some(12));
    }

    #[test]
    fn the_free_text_of_code_0_names_the_tax() {
        let message =
            "El campo OtrosImpuestosAdicionales para el Tipo de Impuesto 002 no coincide con el detalle de la factura";
        let told = explain("0", message).unwrap();
        assert_eq!(told.tipo_impuesto.as_deref(), Some("002"));
        assert!(told.rules.contains(&"IMPUESTO-06"));
        assert!(explain("0", "MontoTotal no coincide con el calculado").is_some());
    }

    #[test]
    fn codes_are_known_with_and_without_leading_zeros_and_others_are_not() {
        assert!(explain("001", "Archivo no válido").is_some());
        assert!(explain("1", "ARCHIVO NO VÁLIDO").is_some());
        for (codigo, text) in [("1", "Aceptado"), ("0", ""), ("99999", "línea 1"), ("", "x")] {
            assert_eq!(explain(codigo, text), None, "{codigo} {text}");
        }
    }

    #[test]
    fn every_rule_that_is_named_is_in_the_catalogue() {
        for rule in KNOWN.iter().flat_map(|known| known.rules) {
            assert!(super::super::CATALOGUE.iter().any(|info| info.code == *rule), "{rule}");
        }
    }
}
