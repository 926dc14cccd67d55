//! The authority's file of all taxpayers: one per line, columns separated by `|`, in an encoding that varies by year.
//!
//! No document describes the format, and it has changed before. So lines that cannot be read are counted, not guessed,
//! and the positions of the columns are a parameter. The default is the format seen in 2026: number, name, trade name,
//! activity, four parts of an address (empty today), day, state, payment regime.

use std::io::{self, BufRead};

use ecf_store::register::Taxpayer;

/// A longer line is counted as unreadable.
const LONGEST_LINE_BYTES: u64 = 16 * 1024;

/// The column of each value, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Columns {
    /// The taxpayer's number.
    pub rnc: usize,
    /// Its name.
    pub razon_social: usize,
    /// The trade name.
    pub nombre_comercial: usize,
    /// The economic activity.
    pub actividad_economica: usize,
    /// Its state: active, suspended and so on.
    pub estado: usize,
    /// The payment regime.
    pub regimen_pagos: usize,
}

impl Default for Columns {
    fn default() -> Self {
        Self {
            rnc: 0,
            razon_social: 1,
            nombre_comercial: 2,
            actividad_economica: 3,
            estado: 9,
            regimen_pagos: 10,
        }
    }
}

/// An iterator over the taxpayers of a file; `None` stands for a line that cannot be read.
#[derive(Debug)]
pub struct BulkFile<R> {
    lines: R,
    columns: Columns,
}

impl<R: BufRead> BulkFile<R> {
    /// Reads from `lines`.
    pub fn new(lines: R, columns: Columns) -> Self {
        Self { lines, columns }
    }

    fn line(&mut self) -> io::Result<Option<String>> {
        let mut bytes = Vec::new();
        let read = io::Read::take(&mut self.lines, LONGEST_LINE_BYTES).read_until(b'\n', &mut bytes)?;
        if bytes.starts_with(b"\xFF\xFE") || bytes.starts_with(b"\xFE\xFF") {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "it is UTF-16: save it as UTF-8",
            ));
        }
        Ok((read > 0).then(|| decoded(bytes)))
    }
}

impl<R: BufRead> Iterator for BulkFile<R> {
    type Item = io::Result<Option<Taxpayer>>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.line() {
                Ok(Some(line)) if line.trim().is_empty() => {}
                Ok(Some(line)) => return Some(Ok(taxpayer(&line, self.columns))),
                Ok(None) => return None,
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

/// UTF-8, else Latin-1, which accepts every byte.
fn decoded(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| error.as_bytes().iter().copied().map(char::from).collect())
}

fn taxpayer(line: &str, columns: Columns) -> Option<Taxpayer> {
    let values: Vec<&str> = line.trim_start_matches('\u{feff}').split('|').map(str::trim).collect();
    let text = |column: usize| {
        values
            .get(column)
            .filter(|text| !text.is_empty())
            .map(|text| (*text).to_owned())
    };
    let digits: String = text(columns.rnc)?.chars().filter(|c| !matches!(c, '-' | ' ')).collect();
    Some(Taxpayer {
        rnc: digits.parse().ok()?,
        razon_social: text(columns.razon_social)?,
        nombre_comercial: text(columns.nombre_comercial),
        actividad_economica: text(columns.actividad_economica),
        estado: text(columns.estado),
        regimen_pagos: text(columns.regimen_pagos),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Vec<Option<Taxpayer>> {
        BulkFile::new(bytes, Columns::default())
            .map(|line| line.unwrap())
            .collect()
    }

    #[test]
    fn a_line_is_read_in_either_encoding() {
        let line =
            "101672919|COMPAÑÍA DE PRUEBA SRL |LA COMPAÑÍA|VENTA AL POR MAYOR| | | | |01/02/2003|ACTIVO|NORMAL\r\n";
        let latin: Vec<u8> = line.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect();
        let expected = Taxpayer {
            rnc: "101672919".parse().unwrap(),
            razon_social: "COMPAÑÍA DE PRUEBA SRL".into(),
            nombre_comercial: Some("LA COMPAÑÍA".into()),
            actividad_economica: Some("VENTA AL POR MAYOR".into()),
            estado: Some("ACTIVO".into()),
            regimen_pagos: Some("NORMAL".into()),
        };
        for bytes in [
            line.as_bytes(),
            &latin,
            &["\u{feff}".as_bytes(), line.as_bytes()].concat(),
        ] {
            assert_eq!(read(bytes), [Some(expected.clone())]);
        }
    }

    #[test]
    fn a5_a_file_in_utf_16_is_named() {
        for mark in [b"\xFF\xFE", b"\xFE\xFF"] {
            let file = [mark.as_slice(), b"1\x000\x00"].concat();
            let error = BulkFile::new(file.as_slice(), Columns::default())
                .next()
                .unwrap()
                .unwrap_err();
            assert!(error.to_string().contains("UTF-16"), "{error}");
        }
    }

    #[test]
    fn what_is_no_taxpayer_is_counted_and_the_next_line_is_read() {
        let file = "RNC|RAZON SOCIAL\n\n131-88068-1|UNA\n12|CORTO\n00100000001|UNA PERSONA\n101672919||\n";
        let names: Vec<_> = read(file.as_bytes())
            .into_iter()
            .map(|taxpayer| taxpayer.map(|taxpayer| taxpayer.razon_social))
            .collect();
        let expected = [None, Some("UNA".to_owned()), None, Some("UNA PERSONA".to_owned()), None];
        assert_eq!(names, expected);
    }

    #[test]
    fn columns_may_stand_elsewhere() {
        let columns = Columns {
            rnc: 1,
            razon_social: 0,
            ..Columns::default()
        };
        let read = BulkFile::new(&b"UNA|131880681"[..], columns).next().unwrap().unwrap();
        assert_eq!(read.unwrap().razon_social, "UNA");
    }
}
