//! DynamoDB tables.

use std::collections::BTreeMap;

use crate::{error::StackError, fields::Fields};

/// A table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// Its name in the template.
    pub logical_id: String,
    /// Its primary key.
    pub key: KeySchema,
    /// Types (`S`, `N`, `B`) of the attributes that keys are made of.
    pub attribute_types: BTreeMap<String, String>,
    /// Global secondary indexes.
    pub indexes: Vec<Index>,
    /// The attribute that holds the time after which an item may go.
    pub ttl_attribute: Option<String>,
    /// Whether the past can be restored.
    pub point_in_time_recovery: bool,
    /// Whether the table refuses to be deleted.
    pub deletion_protection: bool,
}

/// The attributes of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeySchema {
    /// Partition key.
    pub partition: String,
    /// Sort key.
    pub sort: Option<String>,
}

/// A global secondary index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Index {
    /// Its name.
    pub name: String,
    /// Its key.
    pub key: KeySchema,
    /// What of an item is in it.
    pub projection: Projection,
}

/// What of an item an index holds, beside the keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Projection {
    /// Nothing.
    KeysOnly,
    /// These attributes.
    Include(Vec<String>),
    /// Everything.
    All,
}

impl Table {
    pub(crate) fn read(logical_id: &str, mut fields: Fields) -> Result<Self, StackError> {
        fields.exactly("BillingMode", "PAY_PER_REQUEST")?;
        // The embedded services keep nothing secret from the machine they run on.
        fields.without_effect(&["SSESpecification"]);
        let mut attribute_types = BTreeMap::new();
        for mut definition in fields.list_of_fields("AttributeDefinitions")? {
            attribute_types.insert(
                definition.literal("AttributeName")?,
                definition.literal("AttributeType")?,
            );
            definition.finish()?;
        }
        let table = Self {
            logical_id: logical_id.to_owned(),
            key: key_schema(&mut fields)?,
            attribute_types,
            indexes: fields
                .list_of_fields("GlobalSecondaryIndexes")?
                .into_iter()
                .map(index)
                .collect::<Result<_, _>>()?,
            ttl_attribute: ttl_attribute(&mut fields)?,
            point_in_time_recovery: point_in_time_recovery(&mut fields)?,
            deletion_protection: fields.flag("DeletionProtectionEnabled")?,
        };
        fields.finish()?;
        Ok(table)
    }
}

fn key_schema(fields: &mut Fields) -> Result<KeySchema, StackError> {
    let mut partition = None;
    let mut sort = None;
    for mut element in fields.list_of_fields("KeySchema")? {
        let name = element.literal("AttributeName")?;
        match element.literal("KeyType")?.as_str() {
            "HASH" => partition = Some(name),
            "RANGE" => sort = Some(name),
            other => return Err(element.invalid("KeyType", "HASH or RANGE", other)),
        }
        element.finish()?;
    }
    let partition = partition.ok_or_else(|| fields.invalid("KeySchema", "a partition key", "none"))?;
    Ok(KeySchema { partition, sort })
}

fn index(mut fields: Fields) -> Result<Index, StackError> {
    let name = fields.literal("IndexName")?;
    let key = key_schema(&mut fields)?;
    let mut projected = fields.fields("Projection")?;
    let included = projected.list_of_literals("NonKeyAttributes")?;
    let projection = match (projected.literal("ProjectionType")?.as_str(), included.is_empty()) {
        ("KEYS_ONLY", true) => Projection::KeysOnly,
        ("ALL", true) => Projection::All,
        ("INCLUDE", false) => Projection::Include(included),
        (other, _) => {
            return Err(projected.invalid("ProjectionType", "KEYS_ONLY, ALL, or INCLUDE with attributes", other));
        }
    };
    projected.finish()?;
    fields.finish()?;
    Ok(Index { name, key, projection })
}

fn ttl_attribute(fields: &mut Fields) -> Result<Option<String>, StackError> {
    let Some(mut ttl) = fields.optional_fields("TimeToLiveSpecification")? else {
        return Ok(None);
    };
    let name = ttl.literal("AttributeName")?;
    let enabled = ttl.flag("Enabled")?;
    ttl.finish()?;
    Ok(enabled.then_some(name))
}

fn point_in_time_recovery(fields: &mut Fields) -> Result<bool, StackError> {
    let Some(mut recovery) = fields.optional_fields("PointInTimeRecoverySpecification")? else {
        return Ok(false);
    };
    let enabled = recovery.flag("PointInTimeRecoveryEnabled")?;
    recovery.finish()?;
    Ok(enabled)
}
