//! ANECF: annuls numbers that were never sent.

use ecf_language::{Bilingual, Say};
use thiserror::Error;

use super::{MessageError, read, write};
use crate::catalogue::Version;
use crate::field::{Limit, integer};
use crate::{Encf, FechaHora, ReceiptType, Rnc};

pub(crate) const ROOT: &str = "ANECF";

block! {
    /// An annulment of numbers.
    pub struct Anecf {
        encabezado: EncabezadoAnulacion, "Encabezado", "1", "Who annuls how many numbers";
        detalle_anulacion: DetalleAnulacion, "DetalleAnulacion", "1", "Which numbers";
    }
}

block! {
    /// The issuer, and how many numbers are annulled.
    pub struct EncabezadoAnulacion {
        version: Option<Version>, "Version", "1", "Version of the format";
        rnc_emisor: Option<Rnc>, "RncEmisor", "1", "Whose numbers they are";
        cantidad_encf_anulados: Option<u64>, "CantidadeNCFAnulados", "1", "How many numbers in all";
        fecha_hora_anulacion_encf: Option<FechaHora>, "FechaHoraAnulacioneNCF", "1", "When";
    }
}

block! {
    /// The annulled numbers.
    pub struct DetalleAnulacion {
        anulacion: Vec<Anulacion> [Limit::all(10)], "Anulacion", "1", "One entry per type";
    }
}

block! {
    /// The numbers of one type.
    pub struct Anulacion {
        no_linea: Option<u32> = integer(1, 99), "NoLinea", "1", "1, 2, 3 and so on";
        tipo_ecf: Option<ReceiptType>, "TipoeCF", "1", "The type";
        tabla_rango_secuencias_anuladas_encf: TablaRangoSecuenciasAnuladas, "TablaRangoSecuenciasAnuladaseNCF", "1", "Its ranges";
        cantidad_encf_anulados: Option<u64>, "CantidadeNCFAnulados", "1", "How many numbers of the type";
    }
}

block! {
    /// The ranges of one type.
    pub struct TablaRangoSecuenciasAnuladas {
        secuencias: Vec<Secuencias> [Limit::all(10_000)], "Secuencias", "1", "One range";
    }
}

block! {
    /// A range of numbers.
    pub struct Secuencias {
        secuencia_encf_desde: Option<Encf>, "SecuenciaeNCFDesde", "1", "First number";
        secuencia_encf_hasta: Option<Encf>, "SecuenciaeNCFHasta", "1", "Last number";
    }
}

/// Why ranges cannot be annulled together.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum AnecfError {
    /// No ranges are given.
    #[error("no range is given")]
    Empty,
    /// A range ends before it starts, or in another type.
    #[error("{from} to {to} is not a range of one type, from the first number to the last")]
    Range {
        /// The first number.
        from: Encf,
        /// The last number.
        to: Encf,
    },
    /// A number is in two ranges.
    #[error("{encf} is in two of the ranges")]
    Overlap {
        /// The number.
        encf: Encf,
    },
    /// More ranges of one type than the format allows.
    #[error("type {receipt_type} has {count} ranges, at most 10000 are allowed")]
    TooMany {
        /// The type.
        receipt_type: ReceiptType,
        /// The number of ranges.
        count: usize,
    },
}

impl Say for AnecfError {
    fn say(&self) -> Bilingual {
        let spanish = match self {
            Self::Empty => "no se dio ninguna secuencia".to_owned(),
            Self::Range { from, to } => {
                format!("{from} a {to} no es una secuencia de un solo tipo, del primer número al último")
            }
            Self::Overlap { encf } => format!("{encf} está en dos de las secuencias"),
            Self::TooMany { receipt_type, count } => {
                format!("el tipo {receipt_type} tiene {count} secuencias, se permiten 10000 como máximo")
            }
        };
        Bilingual::of(self, spanish)
    }
}

impl Anecf {
    /// Annuls ranges, each from its first to its last number, in any order. The entries per type are built here.
    ///
    /// # Errors
    ///
    /// When no range is given, a range is invalid, or a number is in two ranges.
    pub fn new(
        rnc_emisor: Rnc,
        ranges: impl IntoIterator<Item = (Encf, Encf)>,
        at: FechaHora,
    ) -> Result<Self, AnecfError> {
        const MOST_RANGES: usize = 10_000;
        let mut ranges: Vec<(Encf, Encf)> = ranges.into_iter().collect();
        ranges.sort_unstable();
        if ranges.is_empty() {
            return Err(AnecfError::Empty);
        }
        if let Some(&(from, to)) = ranges
            .iter()
            .find(|(from, to)| from.receipt_type() != to.receipt_type() || from > to)
        {
            return Err(AnecfError::Range { from, to });
        }
        if let Some(pair) = ranges.windows(2).find(|pair| pair[1].0 <= pair[0].1) {
            return Err(AnecfError::Overlap { encf: pair[1].0 });
        }
        let mut entries = Vec::new();
        let mut total = 0;
        for (group, line) in ranges
            .chunk_by(|(left, _), (right, _)| left.receipt_type() == right.receipt_type())
            .zip(1..)
        {
            let receipt_type = group[0].0.receipt_type();
            if group.len() > MOST_RANGES {
                return Err(AnecfError::TooMany {
                    receipt_type,
                    count: group.len(),
                });
            }
            let count = group.iter().map(|(from, to)| to.sequence() - from.sequence() + 1).sum();
            total += count;
            let secuencias = group
                .iter()
                .map(|&(from, to)| Secuencias {
                    secuencia_encf_desde: Some(from),
                    secuencia_encf_hasta: Some(to),
                })
                .collect();
            entries.push(Anulacion {
                no_linea: Some(line),
                tipo_ecf: Some(receipt_type),
                tabla_rango_secuencias_anuladas_encf: TablaRangoSecuenciasAnuladas { secuencias },
                cantidad_encf_anulados: Some(count),
            });
        }
        Ok(Self {
            encabezado: EncabezadoAnulacion {
                version: Some(Version::V1),
                rnc_emisor: Some(rnc_emisor),
                cantidad_encf_anulados: Some(total),
                fecha_hora_anulacion_encf: Some(at),
            },
            detalle_anulacion: DetalleAnulacion { anulacion: entries },
        })
    }

    /// The canonical bytes without a signature.
    pub fn to_xml(&self) -> Vec<u8> {
        write(ROOT, self)
    }

    /// Reads an annulment, signed or not.
    ///
    /// # Errors
    ///
    /// When the bytes are not XML or another document, or when fields are invalid or missing.
    pub fn from_xml(bytes: &[u8]) -> Result<Self, MessageError> {
        read(bytes, ROOT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(receipt_type: ReceiptType, from: u64, to: u64) -> (Encf, Encf) {
        (
            Encf::new(receipt_type, from).unwrap(),
            Encf::new(receipt_type, to).unwrap(),
        )
    }

    fn annul(ranges: &[(Encf, Encf)]) -> Result<Anecf, AnecfError> {
        let at = "27-11-2026 10:00:00".parse().unwrap();
        Anecf::new("130000001".parse().unwrap(), ranges.iter().copied(), at)
    }

    #[test]
    fn ranges_are_grouped_by_type_and_counted() {
        let ranges = [
            range(ReceiptType::E44, 10, 46),
            range(ReceiptType::E31, 5, 50),
            range(ReceiptType::E31, 1, 1),
        ];
        let annulment = annul(&ranges).unwrap();
        assert_eq!(annulment.encabezado.cantidad_encf_anulados, Some(84));
        let counts: Vec<_> = annulment
            .detalle_anulacion
            .anulacion
            .iter()
            .map(|entry| (entry.no_linea, entry.tipo_ecf, entry.cantidad_encf_anulados))
            .collect();
        let expected = [
            (Some(1), Some(ReceiptType::E31), Some(47)),
            (Some(2), Some(ReceiptType::E44), Some(37)),
        ];
        assert_eq!(counts, expected);
    }

    #[test]
    fn what_is_no_set_of_ranges_is_refused() {
        assert_eq!(annul(&[]), Err(AnecfError::Empty));
        assert!(matches!(
            annul(&[range(ReceiptType::E31, 2, 1)]),
            Err(AnecfError::Range { .. })
        ));
        let mixed = (
            Encf::new(ReceiptType::E31, 1).unwrap(),
            Encf::new(ReceiptType::E32, 2).unwrap(),
        );
        assert!(matches!(annul(&[mixed]), Err(AnecfError::Range { .. })));
        let overlapping = [range(ReceiptType::E31, 1, 5), range(ReceiptType::E31, 5, 9)];
        assert!(matches!(annul(&overlapping), Err(AnecfError::Overlap { encf }) if encf.sequence() == 5));
    }
}
