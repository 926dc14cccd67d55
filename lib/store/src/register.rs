//! The authority's register of taxpayers: some hundred thousand names that change once a day, in S3.
//!
//! Each taxpayer belongs to the shard of its number, an object of some hundred lines. So a load is a thousand writes
//! instead of one per taxpayer, and a look-up one read. A load overwrites the shards in place. Each shard contains its
//! own date, so a look-up during a load, or after an aborted one, still reports the right age.

use std::fmt::Write as _;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use aws_sdk_s3::{Client, operation::get_object::GetObjectError, primitives::ByteStream};
use bytes::Bytes;
use ecf::Rnc;
use jiff::civil::Date;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use tokio::task::JoinSet;

use crate::{Recent, StoreError};

/// Upper bound of the shards. Their number is a power of two, so that the lines of many shards can be merged into fewer
/// without parsing.
const MOST_SHARDS: usize = 1_024;
/// Approximate number of taxpayers per object.
const SHARD_TAXPAYERS: usize = 700;
/// Objects that are written concurrently.
const WRITES_AT_ONCE: usize = 16;
/// How long an instance caches a shard.
const KEPT: SignedDuration = SignedDuration::from_mins(10);
/// Upper bound of the cached shards of an instance.
const CAPACITY: NonZeroUsize = NonZeroUsize::new(16).unwrap();

const EDITION: &str = "register/edition.json";
/// Uploaded files of the authority, before they are loaded.
const INCOMING: &str = "register/incoming/";

/// A taxpayer, as the tax authority describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taxpayer {
    pub rnc: Rnc,
    pub razon_social: String,
    pub nombre_comercial: Option<String>,
    pub actividad_economica: Option<String>,
    pub estado: Option<String>,
    pub regimen_pagos: Option<String>,
}

/// The loaded edition of the register.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegisterEdition {
    /// The day of the authority's file.
    pub as_of: Date,
    pub loaded_at: Timestamp,
    pub taxpayers: u64,
    shards: u32,
}

/// A taxpayer, and the date of its data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Registered {
    pub taxpayer: Taxpayer,
    pub as_of: Date,
    pub loaded_at: Timestamp,
}

/// The result of a look-up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RegisterAnswer {
    Found(Box<Registered>),
    Unknown,
    /// No register was loaded yet.
    Empty,
}

/// Taxpayers to load, in any order.
#[derive(Debug)]
pub struct NewRegister {
    shards: Vec<String>,
    taxpayers: u64,
}

impl Default for NewRegister {
    fn default() -> Self {
        Self {
            shards: vec![String::new(); MOST_SHARDS],
            taxpayers: 0,
        }
    }
}

impl NewRegister {
    pub fn add(&mut self, taxpayer: &Taxpayer) {
        self.taxpayers += 1;
        let shard = &mut self.shards[shard_of(&taxpayer.rnc, MOST_SHARDS)];
        let optional = |text: &Option<String>| text.as_deref().map(plain).unwrap_or_default();
        let _ = writeln!(
            shard,
            "{}\t{}\t{}\t{}\t{}\t{}",
            taxpayer.rnc,
            plain(&taxpayer.razon_social),
            optional(&taxpayer.nombre_comercial),
            optional(&taxpayer.actividad_economica),
            optional(&taxpayer.estado),
            optional(&taxpayer.regimen_pagos),
        );
    }

    pub fn taxpayers(&self) -> u64 {
        self.taxpayers
    }

    /// Merges the lines into as few shards as the number of taxpayers needs.
    fn fitted(self) -> Vec<String> {
        let taxpayers = usize::try_from(self.taxpayers).unwrap_or(usize::MAX);
        let wanted = taxpayers.div_ceil(SHARD_TAXPAYERS).clamp(1, MOST_SHARDS);
        let mut fitted = self.shards;
        let rest = fitted.split_off(wanted.next_power_of_two());
        let count = fitted.len();
        for (place, lines) in rest.iter().enumerate() {
            fitted[place % count].push_str(lines);
        }
        fitted
    }
}

/// The first line of a shard.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Heading {
    as_of: Date,
    loaded_at: Timestamp,
}

/// The register. Clones share its cache.
#[derive(Debug, Clone)]
pub struct Register {
    client: Client,
    bucket: String,
    /// The loaded edition, and when it was read.
    edition: Arc<Mutex<Option<(RegisterEdition, Timestamp)>>>,
    shards: Recent<usize, Arc<str>>,
}

impl Register {
    /// The register in that bucket.
    pub fn new(client: Client, bucket: impl Into<String>) -> Self {
        Self {
            client,
            bucket: bucket.into(),
            edition: Arc::default(),
            shards: Recent::new(CAPACITY, KEPT),
        }
    }

    /// Looks up a taxpayer by its number.
    ///
    /// # Errors
    /// Fails when S3 fails or a shard is corrupt.
    pub async fn taxpayer(&self, rnc: &Rnc, now: Timestamp) -> Result<RegisterAnswer, StoreError> {
        let Some(edition) = self.edition(now).await? else {
            return Ok(RegisterAnswer::Empty);
        };
        let shard = shard_of(rnc, edition.shards as usize);
        let name = shard_name(edition.shards as usize, shard);
        let lines = self.shard(shard, &name, now).await?;
        find(rnc, &lines).map_err(|why| StoreError::corrupt(name, "lines", why))
    }

    /// The loaded edition.
    ///
    /// # Errors
    /// Fails when S3 fails or the object is corrupt.
    pub async fn edition(&self, now: Timestamp) -> Result<Option<RegisterEdition>, StoreError> {
        let known = *self.known_edition();
        if let Some((edition, since)) = known
            && now.duration_since(since) < KEPT
        {
            return Ok(Some(edition));
        }
        let Some(bytes) = self.read(EDITION).await? else {
            return Ok(None);
        };
        let edition: RegisterEdition =
            serde_json::from_slice(&bytes).map_err(|error| StoreError::corrupt(EDITION, "edition", error))?;
        // Another number of shards distributes the taxpayers differently.
        if known.is_none_or(|(known, _)| known != edition) {
            self.shards.clear();
        }
        *self.known_edition() = Some((edition, now));
        Ok(Some(edition))
    }

    /// Replaces the register. After a failure, a repeated call completes the load.
    ///
    /// # Errors
    /// Fails when S3 fails.
    pub async fn replace(&self, new: NewRegister, as_of: Date, now: Timestamp) -> Result<RegisterEdition, StoreError> {
        let taxpayers = new.taxpayers();
        let shards = new.fitted();
        let count = shards.len();
        let edition = RegisterEdition {
            as_of,
            loaded_at: now,
            taxpayers,
            shards: u32::try_from(count).unwrap_or(u32::MAX),
        };
        let heading = Heading { as_of, loaded_at: now };
        let heading = serde_json::to_string(&heading).expect("a day and an instant are JSON");
        let mut writes = JoinSet::new();
        for (place, lines) in shards.into_iter().enumerate() {
            if writes.len() >= WRITES_AT_ONCE
                && let Some(written) = writes.join_next().await
            {
                written.map_err(|error| StoreError::unexpected("load register", error))??;
            }
            let (register, name) = (self.clone(), shard_name(count, place));
            let body = format!("{heading}\n{lines}");
            writes.spawn(async move { register.write(&name, body).await });
        }
        while let Some(written) = writes.join_next().await {
            written.map_err(|error| StoreError::unexpected("load register", error))??;
        }
        // Written last: from here on look-ups use the new shards.
        let body = serde_json::to_string(&edition).expect("numbers, a day and an instant are JSON");
        self.write(EDITION, body).await?;
        *self.known_edition() = None;
        self.shards.clear();
        Ok(edition)
    }

    /// A file of the authority that an operator uploaded under `register/incoming/`.
    ///
    /// # Errors
    /// Fails when S3 fails.
    pub async fn incoming(&self, name: &str) -> Result<Option<Bytes>, StoreError> {
        self.read(&format!("{INCOMING}{name}")).await
    }

    async fn shard(&self, shard: usize, name: &str, now: Timestamp) -> Result<Arc<str>, StoreError> {
        if let Some(lines) = self.shards.get(&shard, now) {
            return Ok(lines);
        }
        let bytes = self.read(name).await?;
        let bytes = bytes.ok_or_else(|| StoreError::corrupt(name, "object", "is missing"))?;
        let lines = String::from_utf8(bytes.to_vec()).map_err(|error| StoreError::corrupt(name, "lines", error))?;
        let lines: Arc<str> = lines.into();
        self.shards.insert(shard, lines.clone(), now);
        Ok(lines)
    }

    fn known_edition(&self) -> MutexGuard<'_, Option<(RegisterEdition, Timestamp)>> {
        self.edition.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn read(&self, name: &str) -> Result<Option<Bytes>, StoreError> {
        let operation = "read register";
        let answer = match self.client.get_object().bucket(&self.bucket).key(name).send().await {
            Ok(answer) => answer,
            Err(error) if matches!(error.as_service_error(), Some(GetObjectError::NoSuchKey(_))) => return Ok(None),
            Err(error) => return Err(StoreError::from_sdk(operation, error)),
        };
        let body = answer.body.collect().await;
        Ok(Some(
            body.map_err(|error| StoreError::retry(operation, error))?.into_bytes(),
        ))
    }

    async fn write(&self, name: &str, body: String) -> Result<(), StoreError> {
        let request = self.client.put_object().bucket(&self.bucket).key(name);
        request
            .content_type("text/plain; charset=utf-8")
            .body(ByteStream::from(body.into_bytes()))
            .send()
            .await
            .map_err(|error| StoreError::from_sdk("load register", error))?;
        Ok(())
    }
}

fn shard_name(count: usize, shard: usize) -> String {
    format!("register/{count:04}/{shard:04}.tsv")
}

fn shard_of(rnc: &Rnc, count: usize) -> usize {
    let digits = rnc.as_str().bytes().fold(0_usize, |number, digit| {
        number
            .wrapping_mul(10)
            .wrapping_add(usize::from(digit.wrapping_sub(b'0')))
    });
    digits % count.max(1)
}

/// A text on one line, without column separators.
fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn find(rnc: &Rnc, lines: &str) -> Result<RegisterAnswer, String> {
    let (heading, lines) = lines.split_once('\n').ok_or("there is no heading")?;
    let heading: Heading = serde_json::from_str(heading).map_err(|error| format!("the heading: {error}"))?;
    let own = |line: &&str| line.split('\t').next() == Some(rnc.as_str());
    let Some(line) = lines.lines().find(own) else {
        return Ok(RegisterAnswer::Unknown);
    };
    let columns: Vec<&str> = line.split('\t').collect();
    let [
        _,
        razon_social,
        nombre_comercial,
        actividad_economica,
        estado,
        regimen_pagos,
    ] = columns[..]
    else {
        return Err(format!("{} columns of {rnc} instead of 6", columns.len()));
    };
    let optional = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    Ok(RegisterAnswer::Found(Box::new(Registered {
        taxpayer: Taxpayer {
            rnc: rnc.clone(),
            razon_social: razon_social.to_owned(),
            nombre_comercial: optional(nombre_comercial),
            actividad_economica: optional(actividad_economica),
            estado: optional(estado),
            regimen_pagos: optional(regimen_pagos),
        },
        as_of: heading.as_of,
        loaded_at: heading.loaded_at,
    })))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(rnc: &str) -> Taxpayer {
        Taxpayer {
            rnc: rnc.parse().unwrap(),
            razon_social: format!("RAZON\t{rnc}\n"),
            nombre_comercial: None,
            actividad_economica: Some("VENTA".into()),
            estado: Some("ACTIVO".into()),
            regimen_pagos: Some("NORMAL".into()),
        }
    }

    #[test]
    fn every_taxpayer_is_found_in_the_shard_of_its_number_whatever_their_count() {
        let heading = r#"{"as_of":"2026-11-27","loaded_at":"2026-11-27T16:00:00Z"}"#;
        for count in [1_usize, 701, 3_000] {
            let mut new = NewRegister::default();
            for number in 0..count {
                new.add(&named(&format!("{:09}", 101_000_000 + number * 7)));
            }
            let shards = new.fitted();
            assert!(
                shards.len().is_power_of_two() && shards.len() >= count.div_ceil(700),
                "{}",
                shards.len()
            );
            for number in 0..count {
                let taxpayer = named(&format!("{:09}", 101_000_000 + number * 7));
                let lines = format!("{heading}\n{}", shards[shard_of(&taxpayer.rnc, shards.len())]);
                let RegisterAnswer::Found(found) = find(&taxpayer.rnc, &lines).unwrap() else {
                    panic!("{} is not there", taxpayer.rnc)
                };
                // Line breaks and column separators become blanks.
                let razon_social = plain(&taxpayer.razon_social);
                assert_eq!(
                    found.taxpayer,
                    Taxpayer {
                        razon_social,
                        ..taxpayer
                    }
                );
            }
        }
    }

    #[test]
    fn a_damaged_shard_is_told_from_an_unknown_taxpayer() {
        let rnc = "101672919".parse().unwrap();
        let heading = r#"{"as_of":"2026-11-27","loaded_at":"2026-11-27T16:00:00Z"}"#;
        assert_eq!(find(&rnc, &format!("{heading}\n")), Ok(RegisterAnswer::Unknown));
        for lines in ["", "no heading\n", &format!("{heading}\n101672919\tA\n")] {
            assert!(find(&rnc, lines).is_err(), "{lines}");
        }
    }
}
