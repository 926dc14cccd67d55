//! This process's file in the folder. Each line is written once.

use std::{
    collections::BTreeSet,
    fs::{File, OpenOptions},
    io::Write as _,
    path::Path,
    sync::{Mutex, OnceLock, PoisonError},
};

use ecf_runtime::env::Env;

use crate::demand::Demand;

const FOLDER: &str = "AWS_CALLS_FOLDER";

struct Log {
    file: File,
    lines: BTreeSet<String>,
}

/// # Panics
///
/// When the folder is not writable: an incomplete log would make correct policies look wrong.
fn log() -> Option<&'static Mutex<Log>> {
    static LOG: OnceLock<Option<Mutex<Log>>> = OnceLock::new();
    let log = LOG.get_or_init(|| {
        let folder = Env::process().optional(FOLDER).expect("the variable is text")?;
        let program = std::env::current_exe().expect("a process knows its program");
        let program = program.file_name().unwrap_or_default().to_string_lossy();
        let path = Path::new(&folder).join(format!("{program}-{}.log", std::process::id()));
        let file = OpenOptions::new().create(true).append(true).open(&path);
        let file = file.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Some(Mutex::new(Log {
            file,
            lines: BTreeSet::new(),
        }))
    });
    log.as_ref()
}

pub(crate) fn is_wanted() -> bool {
    log().is_some()
}

pub(crate) fn write(function: &str, demand: &Demand) {
    let Some(log) = log() else { return };
    let line = format!("{function}\t{}\t{}\t{}\n", demand.action, demand.resource, demand.key);
    let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
    if !log.lines.contains(&line) {
        // Written in one call, so that a killed process leaves no partial line.
        log.file
            .write_all(line.as_bytes())
            .expect("the file was opened for writing");
        log.lines.insert(line);
    }
}
