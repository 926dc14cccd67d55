//! DynamoDB tables.

use serde::Deserialize;

use super::Properties;

/// A table.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct Table {
    /// Its name in the template.
    #[serde(skip)]
    pub logical_id: String,
    /// Its billing mode.
    pub billing_mode: BillingMode,
    /// Its primary key.
    pub key_schema: Vec<KeyAttribute>,
    /// Types of the key attributes.
    pub attribute_definitions: Vec<Attribute>,
    /// Global secondary indexes.
    pub global_secondary_indexes: Vec<Index>,
    /// The attribute with the time from which an item may be deleted.
    pub time_to_live_specification: TimeToLive,
    /// Whether the table is protected from deletion.
    pub deletion_protection_enabled: bool,
}

impl Properties for Table {
    /// The emulator has no backups and does not encrypt.
    const WITHOUT_EFFECT: &'static [&'static str] = &["PointInTimeRecoverySpecification", "SSESpecification"];
}

/// Billing mode of a table.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub enum BillingMode {
    /// Pay per request, the only mode of this deployment.
    #[serde(rename = "PAY_PER_REQUEST")]
    PayPerRequest,
}

/// An attribute of a key.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct KeyAttribute {
    /// Its name.
    pub attribute_name: String,
    /// `HASH` or `RANGE`.
    pub key_type: String,
}

/// The type of an attribute.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct Attribute {
    /// Its name.
    pub attribute_name: String,
    /// `S`, `N` or `B`.
    pub attribute_type: String,
}

/// A global secondary index.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct Index {
    /// Its name.
    pub index_name: String,
    /// Its key.
    pub key_schema: Vec<KeyAttribute>,
    /// The attributes that the index contains.
    pub projection: Projection,
}

/// The attributes that an index contains beside the keys.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct Projection {
    /// `KEYS_ONLY`, `INCLUDE` or `ALL`.
    pub projection_type: String,
    /// The attributes of `INCLUDE`.
    pub non_key_attributes: Option<Vec<String>>,
}

/// The attribute with the time from which an item may be deleted.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct TimeToLive {
    /// Its name.
    pub attribute_name: String,
    /// Whether expired items are deleted.
    pub enabled: bool,
}
