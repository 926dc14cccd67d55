//! A company's additions to its prints: colour, closing line, logo. The logo's bytes are in the bucket.

use jiff::Timestamp;

use super::{
    Table,
    change::{Change, FieldEdit},
    item::{Stored, bytes, instant, text},
    keys,
    write::Applied,
};
use crate::{ContentHash, StoreError, ids::CompanyId};

const COLOR: &str = "color";
const FOOTER: &str = "footer";
const LOGO: &str = "logo";
const LOGO_TYPE: &str = "logo_type";
const UPDATED_AT: &str = "updated_at";

/// A company's design, in its original texts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CompanyDesign {
    /// `#rrggbb`.
    pub color: Option<String>,
    pub footer: Option<String>,
    pub logo: Option<StoredLogo>,
    pub updated_at: Option<Timestamp>,
}

/// A logo in the bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredLogo {
    pub hash: ContentHash,
    pub kind: LogoKind,
}

/// The accepted image formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogoKind {
    Png,
    Jpeg,
}

impl LogoKind {
    pub const ALL: [Self; 2] = [Self::Png, Self::Jpeg];

    pub const fn content_type(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
        }
    }

    /// The file name for a download.
    pub const fn file_name(self) -> &'static str {
        match self {
            Self::Png => "logo.png",
            Self::Jpeg => "logo.jpg",
        }
    }
}

/// The changes of a design.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DesignChanges {
    pub color: FieldEdit<String>,
    pub footer: FieldEdit<String>,
    pub logo: FieldEdit<StoredLogo>,
}

impl Table {
    /// The company's design; the default is empty.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn design(&self, company: &CompanyId) -> Result<CompanyDesign, StoreError> {
        let stored = self.read("read design", &keys::design(company)).await?;
        stored.map_or_else(|| Ok(CompanyDesign::default()), |stored| read(&stored))
    }

    /// Changes the design, part by part.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn change_design(
        &self,
        company: &CompanyId,
        changes: DesignChanges,
        now: Timestamp,
    ) -> Result<CompanyDesign, StoreError> {
        let (hash, kind) = match changes.logo {
            FieldEdit::Keep => (FieldEdit::Keep, FieldEdit::Keep),
            FieldEdit::Clear => (FieldEdit::Clear, FieldEdit::Clear),
            FieldEdit::Set(logo) => (
                FieldEdit::Set(bytes(logo.hash)),
                FieldEdit::Set(text(logo.kind.content_type())),
            ),
        };
        let change = Change::of(keys::design(company))
            .set(UPDATED_AT, instant(now))
            .edit(COLOR, changes.color.map(text))
            .edit(FOOTER, changes.footer.map(text))
            .edit(LOGO, hash)
            .edit(LOGO_TYPE, kind);
        match self.apply("change design", change).await? {
            Applied::Done(stored) => read(&stored),
            Applied::Refused(_) => Err(StoreError::unexpected("change design", "it has no condition")),
        }
    }
}

fn read(stored: &Stored) -> Result<CompanyDesign, StoreError> {
    let owned = |name| stored.opt_str(name).map(|text| text.map(str::to_owned));
    let logo = match stored.opt_hash(LOGO)? {
        None => None,
        Some(hash) => {
            let given = stored.str(LOGO_TYPE)?;
            let kind = LogoKind::ALL.into_iter().find(|kind| kind.content_type() == given);
            Some(StoredLogo {
                hash: ContentHash::from_bytes(hash),
                kind: kind.ok_or_else(|| stored.corrupt(LOGO_TYPE, format!("is {given}")))?,
            })
        }
    };
    Ok(CompanyDesign {
        color: owned(COLOR)?,
        footer: owned(FOOTER)?,
        logo,
        updated_at: stored.opt_instant(UPDATED_AT)?,
    })
}
