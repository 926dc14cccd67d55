//! The authority's register of taxpayers, loaded from its bulk file.

use std::fs;
use std::io::{self, BufReader, Cursor, Read as _};

use bytes::Bytes;
use ecf_store::register::NewRegister;
use ecf_taxauth::{BulkFile, Columns};
use jiff::civil::Date;
use serde::Deserialize;
use serde_json::{Value, json};
use zip::ZipArchive;

use crate::{App, OperatorError};

/// Upper bound of an unpacked file: ten times the size of the authority's file.
const LARGEST_BYTES: u64 = 1024 * 1024 * 1024;

/// A register to load.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LoadRegister {
    source: Source,
    /// The day of the file; today by default.
    as_of: Option<Date>,
    #[serde(default)]
    columns: Columns,
    /// The file is rejected when a higher percentage of its lines are not taxpayers.
    #[serde(default = "most_unreadable")]
    most_unreadable_percent: u64,
}

/// The location of the file: the authority's ZIP, or the text file in it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Source {
    /// The name of an object under `register/incoming/` in the bucket.
    Object(String),
    /// A file of this machine, for the local system.
    Path(String),
}

fn most_unreadable() -> u64 {
    5
}

/// Loads the taxpayers of a file and replaces the loaded ones.
pub(crate) async fn load(app: &App, command: LoadRegister) -> Result<Value, OperatorError> {
    let bytes = file(app, &command.source).await?;
    let (new, unreadable) = read(bytes, command.columns).map_err(|error| bad_file(error.to_string()))?;
    let taxpayers = new.taxpayers();
    if taxpayers == 0 || unreadable * 100 > command.most_unreadable_percent * (taxpayers + unreadable) {
        return Err(bad_file(format!(
            "{unreadable} of its {} lines are no taxpayers; at most {} in a hundred may be: are the columns others?",
            taxpayers + unreadable,
            command.most_unreadable_percent
        )));
    }
    let now = app.clock.now();
    let as_of = command.as_of.unwrap_or_else(|| ecf_store::fiscal_day(now));
    let edition = app.register.replace(new, as_of, now).await?;
    Ok(json!({ "register": edition, "unreadable_lines": unreadable }))
}

/// Shows the loaded edition.
pub(crate) async fn show(app: &App) -> Result<Value, OperatorError> {
    let edition = app.register.edition(app.clock.now()).await?;
    Ok(json!({ "register": edition }))
}

async fn file(app: &App, source: &Source) -> Result<Bytes, OperatorError> {
    match source {
        Source::Object(name) => {
            let found = app.register.incoming(name).await?;
            found.ok_or_else(|| {
                OperatorError::refused("not_found", format!("there is no object register/incoming/{name}"))
            })
        }
        Source::Path(path) => match fs::read(path) {
            Ok(bytes) => Ok(bytes.into()),
            Err(error) => Err(OperatorError::refused("not_found", format!("{path}: {error}"))),
        },
    }
}

/// Reads the taxpayers of a file, and counts the lines that are not taxpayers.
fn read(bytes: Bytes, columns: Columns) -> io::Result<(NewRegister, u64)> {
    if !bytes.starts_with(b"PK") {
        return taxpayers(BulkFile::new(bytes.as_ref(), columns));
    }
    let mut archive = ZipArchive::new(Cursor::new(bytes))?;
    let is_text = |name: &str| {
        [".txt", ".csv"]
            .iter()
            .any(|end| name.to_ascii_lowercase().ends_with(end))
    };
    let names: Vec<String> = archive.file_names().flatten().map(Into::into).collect();
    let name = names.iter().find(|name| is_text(name));
    let Some(name) = name else {
        return Err(io::Error::other("the archive has no file that ends in .txt or .csv"));
    };
    let text = archive.by_name(name)?.take(LARGEST_BYTES);
    taxpayers(BulkFile::new(BufReader::new(text), columns))
}

fn taxpayers<R: io::BufRead>(file: BulkFile<R>) -> io::Result<(NewRegister, u64)> {
    let (mut new, mut unreadable) = (NewRegister::default(), 0);
    for line in file {
        match line? {
            Some(taxpayer) => new.add(&taxpayer),
            None => unreadable += 1,
        }
    }
    Ok((new, unreadable))
}

fn bad_file(why: String) -> OperatorError {
    OperatorError::refused("bad_file", format!("the file is no register: {why}"))
}
