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
    /// How it is paid for.
    pub billing_mode: BillingMode,
    /// Its primary key.
    pub key_schema: Vec<KeyAttribute>,
    /// Types of the attributes that keys are made of.
    pub attribute_definitions: Vec<Attribute>,
    /// Global secondary indexes.
    pub global_secondary_indexes: Vec<Index>,
    /// The time after which an item may go.
    pub time_to_live_specification: TimeToLive,
    /// Whether the table refuses to be deleted.
    pub deletion_protection_enabled: bool,
}

impl Properties for Table {
    /// An emulator restores nothing, and keeps nothing secret from the machine it runs on.
    const WITHOUT_EFFECT: &'static [&'static str] = &["PointInTimeRecoverySpecification", "SSESpecification"];
}

/// How a table is paid for.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub enum BillingMode {
    /// By the request, which is how tables are made here.
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
    /// What of an item is in it.
    pub projection: Projection,
}

/// What of an item an index holds, beside the keys.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct Projection {
    /// `KEYS_ONLY`, `INCLUDE` or `ALL`.
    pub projection_type: String,
    /// The attributes that `INCLUDE` means.
    pub non_key_attributes: Option<Vec<String>>,
}

/// The attribute that holds the time after which an item may go.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct TimeToLive {
    /// Its name.
    pub attribute_name: String,
    /// Whether items go at all.
    pub enabled: bool,
}
