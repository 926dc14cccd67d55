//! Creates a table.

use aws_sdk_dynamodb::{
    Client,
    types::{
        AttributeDefinition, BillingMode, GlobalSecondaryIndex, KeySchemaElement, KeyType, Projection, ProjectionType,
        ScalarAttributeType, TableDescription, TableStatus, TimeToLiveSpecification,
    },
};

use crate::{Index, KeyAttribute, Table, provision::ProvisionError};

/// Upper bound of polls for the new table. An emulator needs one; AWS takes up to 30 seconds.
const LOOKS: usize = 120;
const BETWEEN_LOOKS: std::time::Duration = std::time::Duration::from_millis(500);

pub(super) async fn make(dynamodb: &Client, table: &Table, name: &str) -> Result<(), ProvisionError> {
    let key = key_schema(&table.key_schema, name)?;
    let indexes = table.global_secondary_indexes.iter();
    let indexes: Vec<_> = indexes.map(|index| sdk_index(index, name)).collect::<Result<_, _>>()?;
    if let Some(found) = describe(dynamodb, name).await? {
        return check_same(name, &key, &indexes, &found);
    }
    create(dynamodb, table, name, key, indexes).await?;
    wait_until_active(dynamodb, name).await?;
    let specification = TimeToLiveSpecification::builder()
        .attribute_name(&table.time_to_live_specification.attribute_name)
        .enabled(table.time_to_live_specification.enabled)
        .build();
    let specification = specification.map_err(ProvisionError::call("UpdateTimeToLive", name))?;
    let request = dynamodb.update_time_to_live().table_name(name);
    let answer = request.time_to_live_specification(specification).send().await;
    answer.map_err(ProvisionError::call("UpdateTimeToLive", name))?;
    Ok(())
}

async fn describe(dynamodb: &Client, name: &str) -> Result<Option<TableDescription>, ProvisionError> {
    match dynamodb.describe_table().table_name(name).send().await {
        Ok(answer) => Ok(answer.table),
        Err(error)
            if error
                .as_service_error()
                .is_some_and(|error| error.is_resource_not_found_exception()) =>
        {
            Ok(None)
        }
        Err(error) => Err(ProvisionError::call("DescribeTable", name)(error)),
    }
}

async fn create(
    dynamodb: &Client,
    table: &Table,
    name: &str,
    key: Vec<KeySchemaElement>,
    indexes: Vec<GlobalSecondaryIndex>,
) -> Result<(), ProvisionError> {
    let definitions = table.attribute_definitions.iter().map(|attribute| {
        AttributeDefinition::builder()
            .attribute_name(&attribute.attribute_name)
            .attribute_type(ScalarAttributeType::from(attribute.attribute_type.as_str()))
            .build()
    });
    let definitions = definitions.collect::<Result<_, _>>();
    let request = dynamodb
        .create_table()
        .table_name(name)
        .billing_mode(BillingMode::PayPerRequest)
        .deletion_protection_enabled(table.deletion_protection_enabled)
        .set_key_schema(Some(key))
        .set_attribute_definitions(Some(definitions.map_err(ProvisionError::call("CreateTable", name))?))
        .set_global_secondary_indexes(Some(indexes));
    let answer = request.send().await;
    answer.map_err(ProvisionError::call("CreateTable", name))?;
    Ok(())
}

fn sdk_index(index: &Index, table: &str) -> Result<GlobalSecondaryIndex, ProvisionError> {
    let projection = Projection::builder()
        .projection_type(ProjectionType::from(index.projection.projection_type.as_str()))
        .set_non_key_attributes(index.projection.non_key_attributes.clone());
    GlobalSecondaryIndex::builder()
        .index_name(&index.index_name)
        .set_key_schema(Some(key_schema(&index.key_schema, table)?))
        .projection(projection.build())
        .build()
        .map_err(ProvisionError::call("CreateTable", table))
}

fn key_schema(key: &[KeyAttribute], table: &str) -> Result<Vec<KeySchemaElement>, ProvisionError> {
    let elements = key.iter().map(|attribute| {
        KeySchemaElement::builder()
            .attribute_name(&attribute.attribute_name)
            .key_type(KeyType::from(attribute.key_type.as_str()))
            .build()
    });
    let elements = elements.collect::<Result<_, _>>();
    elements.map_err(ProvisionError::call("CreateTable", table))
}

async fn wait_until_active(dynamodb: &Client, name: &str) -> Result<(), ProvisionError> {
    for _ in 0..LOOKS {
        if let Some(found) = describe(dynamodb, name).await?
            && found.table_status == Some(TableStatus::Active)
        {
            return Ok(());
        }
        tokio::time::sleep(BETWEEN_LOOKS).await;
    }
    Err(ProvisionError::Answer {
        action: "DescribeTable",
        resource: name.to_owned(),
        field: "status ACTIVE in time",
    })
}

/// Keys and indexes of an existing table are not changed: the operator decides what becomes of its data.
fn check_same(
    name: &str,
    key: &[KeySchemaElement],
    indexes: &[GlobalSecondaryIndex],
    found: &TableDescription,
) -> Result<(), ProvisionError> {
    let indexes = indexes.iter();
    let indexes = indexes.map(|index| index_shape(index.index_name(), index.key_schema(), index.projection()));
    let wanted = shape(key, indexes);
    let indexes = found.global_secondary_indexes().iter().map(|index| {
        let name = index.index_name().unwrap_or_default();
        index_shape(name, index.key_schema(), index.projection())
    });
    let found = shape(found.key_schema(), indexes);
    if wanted == found {
        return Ok(());
    }
    Err(ProvisionError::Differs {
        resource: format!("table {name}"),
        found,
        wanted,
    })
}

/// Keys, indexes and projections on one line; indexes in alphabetical order.
fn shape(key: &[KeySchemaElement], indexes: impl Iterator<Item = String>) -> String {
    let mut indexes: Vec<_> = indexes.collect();
    indexes.sort();
    format!("{} {}", key_shape(key), indexes.join(" "))
}

fn index_shape(name: &str, key: &[KeySchemaElement], projection: Option<&Projection>) -> String {
    let kind = projection.and_then(Projection::projection_type);
    let kind = kind.map_or("", ProjectionType::as_str);
    let mut attributes = projection.map_or(&[][..], Projection::non_key_attributes).to_vec();
    attributes.sort();
    format!("{name}{}={kind}[{}]", key_shape(key), attributes.join(","))
}

fn key_shape(elements: &[KeySchemaElement]) -> String {
    // Sorted by kind: the partition key first.
    let mut elements = elements.to_vec();
    elements.sort_by(|one, other| one.key_type.as_str().cmp(other.key_type.as_str()));
    let names: Vec<_> = elements.iter().map(KeySchemaElement::attribute_name).collect();
    format!("({})", names.join(","))
}
