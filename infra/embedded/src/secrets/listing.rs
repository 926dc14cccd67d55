//! Descriptions of secrets and of their versions, without a value in them.

use std::collections::BTreeMap;

use rusqlite::Transaction;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::records::Secret;
use super::{invalid_parameter, versions};
use crate::aws_json::AwsError;
use crate::clock::Millis;

const MAX_PAGE: usize = 100;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct DescribeRequest {
    secret_id: String,
}

pub(crate) fn describe(tx: &Transaction<'_>, request: DescribeRequest, _now: Millis) -> Result<Value, AwsError> {
    let secret = Secret::read(tx, &request.secret_id)?;
    let mut view = view(&secret)?;
    view.insert("VersionIdsToStages".to_owned(), versions_to_stages(tx, &secret)?);
    Ok(Value::Object(view))
}

fn view(secret: &Secret) -> Result<Map<String, Value>, AwsError> {
    let mut view = Map::new();
    view.insert("ARN".to_owned(), secret.arn.clone().into());
    view.insert("Name".to_owned(), secret.name.clone().into());
    for (name, text) in [("Description", &secret.description), ("KmsKeyId", &secret.kms_key_id)] {
        if let Some(text) = text {
            view.insert(name.to_owned(), text.clone().into());
        }
    }
    for (name, instant) in [
        ("CreatedDate", Some(secret.created_at)),
        ("LastChangedDate", Some(secret.changed_at)),
        ("LastAccessedDate", secret.accessed_at),
        ("DeletedDate", secret.deleted_at),
    ] {
        if let Some(instant) = instant {
            view.insert(name.to_owned(), instant.as_epoch_seconds().into());
        }
    }
    let tags: Vec<Value> = secret
        .tags()?
        .into_iter()
        .map(|(key, value)| json!({"Key": key, "Value": value}))
        .collect();
    view.insert("Tags".to_owned(), tags.into());
    Ok(view)
}

/// The versions that have a stage, each with its stages.
fn versions_to_stages(tx: &Transaction<'_>, secret: &Secret) -> Result<Value, AwsError> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut statement =
        tx.prepare_cached("SELECT version_id, stage FROM stages WHERE arn = ?1 ORDER BY version_id, stage")?;
    let mut rows = statement.query([&secret.arn])?;
    while let Some(row) = rows.next()? {
        found.entry(row.get(0)?).or_default().push(row.get(1)?);
    }
    crate::aws_json::output(found)
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct ListRequest {
    #[serde(default)]
    filters: Vec<Filter>,
    #[serde(default)]
    include_planned_deletion: bool,
    sort_order: Option<String>,
    max_results: Option<usize>,
    next_token: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Filter {
    key: String,
    #[serde(default)]
    values: Vec<String>,
}

impl Filter {
    fn matches(&self, secret: &Secret) -> Result<bool, AwsError> {
        let tags = secret.tags()?;
        let description = secret.description.as_deref().unwrap_or_default();
        let value_matches = |value: &String| {
            let (wanted, value) = match value.strip_prefix('!') {
                Some(value) => (false, value),
                None => (true, value.as_str()),
            };
            let found = match self.key.as_str() {
                "name" => secret.name.starts_with(value),
                "description" => description.contains(value),
                "tag-key" => tags.keys().any(|key| key.starts_with(value)),
                "tag-value" => tags.values().any(|tag| tag.starts_with(value)),
                "all" => {
                    secret.name.contains(value)
                        || description.contains(value)
                        || tags.iter().any(|(k, v)| k.contains(value) || v.contains(value))
                }
                _ => return None,
            };
            Some(found == wanted)
        };
        let mut any = false;
        for value in &self.values {
            any |= value_matches(value)
                .ok_or_else(|| invalid_parameter(format!("The filter {} is not embedded here.", self.key)))?;
        }
        Ok(any)
    }
}

pub(crate) fn secrets(tx: &Transaction<'_>, request: ListRequest, _now: Millis) -> Result<Value, AwsError> {
    let mut found = Secret::all(tx)?;
    if request.sort_order.as_deref() == Some("asc") {
        found.reverse();
    }
    let mut kept = Vec::new();
    for secret in found {
        let mut keep = secret.deleted_at.is_none() || request.include_planned_deletion;
        for filter in &request.filters {
            keep = keep && filter.matches(&secret)?;
        }
        if keep {
            kept.push(secret);
        }
    }
    let (page, next) = page(kept, request.max_results, request.next_token.as_deref())?;
    let mut views = Vec::with_capacity(page.len());
    for secret in &page {
        let mut view = view(secret)?;
        view.insert("SecretVersionsToStages".to_owned(), versions_to_stages(tx, secret)?);
        views.push(Value::Object(view));
    }
    Ok(json!({"SecretList": views, "NextToken": next}))
}

/// A page out of all results; the token is how many came before it.
fn page<T>(mut all: Vec<T>, limit: Option<usize>, token: Option<&str>) -> Result<(Vec<T>, Option<String>), AwsError> {
    let limit = limit.unwrap_or(MAX_PAGE);
    if !(1..=MAX_PAGE).contains(&limit) {
        return Err(invalid_parameter(format!(
            "MaxResults must be between 1 and {MAX_PAGE}, not {limit}."
        )));
    }
    let start = match token {
        Some(token) => token
            .parse()
            .ok()
            .filter(|start| *start <= all.len())
            .ok_or_else(|| AwsError::new("InvalidNextTokenException", "The NextToken value is invalid."))?,
        None => 0,
    };
    let mut page = all.split_off(start);
    let more = page.len() > limit;
    page.truncate(limit);
    Ok((page, more.then(|| (start + limit).to_string())))
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct VersionsRequest {
    secret_id: String,
    #[serde(default)]
    include_deprecated: bool,
    max_results: Option<usize>,
    next_token: Option<String>,
}

pub(crate) fn versions(tx: &Transaction<'_>, request: VersionsRequest, _now: Millis) -> Result<Value, AwsError> {
    let secret = Secret::read(tx, &request.secret_id)?;
    let found: Vec<(String, i64)> = tx
        .prepare_cached("SELECT version_id, created_at FROM versions WHERE arn = ?1 ORDER BY seq DESC")?
        .query_map([&secret.arn], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<Result<_, _>>()?;
    let mut views = Vec::new();
    for (version_id, created_at) in found {
        let stages = versions::stages_of(tx, &secret.arn, &version_id)?;
        if stages.is_empty() && !request.include_deprecated {
            continue;
        }
        views.push(json!({
            "VersionId": version_id,
            "VersionStages": stages,
            "CreatedDate": Millis(created_at).as_epoch_seconds(),
        }));
    }
    let (page, next) = page(views, request.max_results, request.next_token.as_deref())?;
    Ok(json!({
        "ARN": secret.arn,
        "Name": secret.name,
        "Versions": page,
        "NextToken": next,
    }))
}
