//! Makes a table. An emulator restores nothing, so point-in-time recovery is read with the template and not set.

use aws_sdk_dynamodb::{
    Client,
    types::{
        AttributeDefinition, BillingMode, GlobalSecondaryIndex, KeySchemaElement, KeyType, Projection as SdkProjection,
        ProjectionType, ScalarAttributeType, TableDescription, TableStatus, TimeToLiveSpecification,
    },
};

use crate::{Index, KeySchema, Projection, Table, provision::ProvisionError};

/// An emulator answers at once, AWS within half a minute.
const LOOKS: usize = 120;
const BETWEEN_LOOKS: std::time::Duration = std::time::Duration::from_millis(500);

pub(super) async fn make(dynamodb: &Client, table: &Table, name: &str) -> Result<(), ProvisionError> {
    if let Some(found) = describe(dynamodb, name).await? {
        return check_same(table, name, &found);
    }
    create(dynamodb, table, name).await?;
    wait_until_active(dynamodb, name).await?;
    if let Some(attribute) = &table.ttl_attribute {
        let specification = TimeToLiveSpecification::builder()
            .attribute_name(attribute)
            .enabled(true)
            .build();
        let specification = specification.map_err(ProvisionError::call("UpdateTimeToLive", name))?;
        let request = dynamodb
            .update_time_to_live()
            .table_name(name)
            .time_to_live_specification(specification);
        request
            .send()
            .await
            .map_err(ProvisionError::call("UpdateTimeToLive", name))?;
    }
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

async fn create(dynamodb: &Client, table: &Table, name: &str) -> Result<(), ProvisionError> {
    let mut request = dynamodb
        .create_table()
        .table_name(name)
        .billing_mode(BillingMode::PayPerRequest)
        .deletion_protection_enabled(table.deletion_protection)
        .set_key_schema(Some(key_elements(&table.key, name)?));
    for (attribute, kind) in &table.attribute_types {
        let kind = ScalarAttributeType::from(kind.as_str());
        let definition = AttributeDefinition::builder()
            .attribute_name(attribute)
            .attribute_type(kind)
            .build();
        request = request.attribute_definitions(definition.map_err(ProvisionError::call("CreateTable", name))?);
    }
    for index in &table.indexes {
        request = request.global_secondary_indexes(sdk_index(index, name)?);
    }
    request
        .send()
        .await
        .map_err(ProvisionError::call("CreateTable", name))?;
    Ok(())
}

fn sdk_index(index: &Index, table: &str) -> Result<GlobalSecondaryIndex, ProvisionError> {
    let projection = match &index.projection {
        Projection::KeysOnly => SdkProjection::builder().projection_type(ProjectionType::KeysOnly),
        Projection::All => SdkProjection::builder().projection_type(ProjectionType::All),
        Projection::Include(attributes) => SdkProjection::builder()
            .projection_type(ProjectionType::Include)
            .set_non_key_attributes(Some(attributes.clone())),
    };
    GlobalSecondaryIndex::builder()
        .index_name(&index.name)
        .set_key_schema(Some(key_elements(&index.key, table)?))
        .projection(projection.build())
        .build()
        .map_err(ProvisionError::call("CreateTable", table))
}

fn key_elements(key: &KeySchema, table: &str) -> Result<Vec<KeySchemaElement>, ProvisionError> {
    let parts = [
        (Some(&key.partition), KeyType::Hash),
        (key.sort.as_ref(), KeyType::Range),
    ];
    let elements = parts
        .into_iter()
        .filter_map(|(name, kind)| Some(KeySchemaElement::builder().attribute_name(name?).key_type(kind).build()));
    elements
        .collect::<Result<_, _>>()
        .map_err(ProvisionError::call("CreateTable", table))
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

/// Keys and indexes of a table with data in it are not changed here: whoever runs it decides what becomes of the data.
fn check_same(table: &Table, name: &str, found: &TableDescription) -> Result<(), ProvisionError> {
    let wanted = shape(table);
    let found = found_shape(found);
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
fn shape(table: &Table) -> String {
    let mut indexes: Vec<String> = table
        .indexes
        .iter()
        .map(|index| {
            let projection = match &index.projection {
                Projection::KeysOnly => "KEYS_ONLY".to_owned(),
                Projection::All => "ALL".to_owned(),
                Projection::Include(attributes) => included(attributes),
            };
            format!(
                "{}{}={projection}",
                index.name,
                key_shape(&index.key.partition, index.key.sort.as_deref())
            )
        })
        .collect();
    indexes.sort();
    format!(
        "{} {}",
        key_shape(&table.key.partition, table.key.sort.as_deref()),
        indexes.join(" ")
    )
}

fn found_shape(found: &TableDescription) -> String {
    let mut indexes: Vec<String> = found
        .global_secondary_indexes()
        .iter()
        .map(|index| {
            let projection = match index.projection() {
                Some(projection) if projection.projection_type() == Some(&ProjectionType::Include) => {
                    included(projection.non_key_attributes())
                }
                Some(projection) => projection
                    .projection_type()
                    .map_or("", ProjectionType::as_str)
                    .to_owned(),
                None => String::new(),
            };
            format!(
                "{}{}={projection}",
                index.index_name().unwrap_or_default(),
                elements_shape(index.key_schema())
            )
        })
        .collect();
    indexes.sort();
    format!("{} {}", elements_shape(found.key_schema()), indexes.join(" "))
}

fn included(attributes: &[String]) -> String {
    let mut attributes = attributes.to_vec();
    attributes.sort();
    format!("INCLUDE[{}]", attributes.join(","))
}

fn elements_shape(elements: &[KeySchemaElement]) -> String {
    let of = |kind: KeyType| {
        elements
            .iter()
            .find(|element| element.key_type == kind)
            .map(|element| element.attribute_name.as_str())
    };
    key_shape(of(KeyType::Hash).unwrap_or_default(), of(KeyType::Range))
}

fn key_shape(partition: &str, sort: Option<&str>) -> String {
    match sort {
        Some(sort) => format!("({partition},{sort})"),
        None => format!("({partition})"),
    }
}
