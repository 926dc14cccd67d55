//! The DynamoDB table: one `impl` block of [`Table`] per kind of record, one file each.
//!
//! Read [`keys`] first: every key is built there. Every write of a known record is conditional; what must hold
//! together is one transaction (`write`).

pub mod announcements;
pub mod annulments;
pub mod api_keys;
pub mod approvals;
pub mod attempts;
pub mod audit;
pub mod authority;
mod batch;
pub mod breaker;
pub mod certificates;
mod change;
pub mod closing;
pub mod companies;
mod condition;
pub mod counters;
pub mod deliveries;
pub mod designs;
pub mod directory;
pub mod due;
pub mod inbox;
mod invitations;
mod item;
pub mod key_uses;
mod keys;
pub mod notices;
pub mod numbers;
pub mod receipts;
#[cfg(feature = "testing")]
mod seeding;
mod seeds;
pub mod tokens;
pub mod turns;
mod unclaimed;
pub mod undelivered;
pub mod webhooks;
mod write;

use aws_sdk_dynamodb::{
    Client,
    operation::query::builders::QueryFluentBuilder,
    types::{AttributeValue, Select},
};

pub use change::FieldEdit;
pub use keys::fiscal_day;

use crate::StoreError;
use item::{Item, Stored};
use keys::Key;

/// The table, by its name.
#[derive(Debug, Clone)]
pub struct Table {
    client: Client,
    name: String,
}

impl Table {
    pub fn new(client: Client, name: impl Into<String>) -> Self {
        Self {
            client,
            name: name.into(),
        }
    }

    /// Whether the table answers: a read of a key that nothing has.
    pub async fn ping(&self) -> Result<(), StoreError> {
        self.read_eventual("ping", &keys::signup(&[0; 32])).await.map(|_| ())
    }

    /// A point read that sees every write answered before it.
    async fn read(&self, operation: &'static str, key: &Key) -> Result<Option<Stored>, StoreError> {
        self.read_item(operation, key, true).await
    }

    /// A point read at half the price that may lag behind by moments.
    async fn read_eventual(&self, operation: &'static str, key: &Key) -> Result<Option<Stored>, StoreError> {
        self.read_item(operation, key, false).await
    }

    /// A point read at half the price for records that hardly change: it may be behind, but never misses one that was
    /// written before.
    async fn read_settled(&self, operation: &'static str, key: &Key) -> Result<Option<Stored>, StoreError> {
        match self.read_item(operation, key, false).await? {
            Some(stored) => Ok(Some(stored)),
            None => self.read_item(operation, key, true).await,
        }
    }

    async fn read_item(
        &self,
        operation: &'static str,
        key: &Key,
        consistent: bool,
    ) -> Result<Option<Stored>, StoreError> {
        let answer = self
            .client
            .get_item()
            .table_name(&self.name)
            .set_key(Some(key.attributes()))
            .consistent_read(consistent)
            .send()
            .await
            .map_err(|error| StoreError::from_sdk(operation, error))?;
        Ok(answer.item.map(Stored::new))
    }

    /// The items of one query, page by page, until `limit` are there.
    async fn query(&self, operation: &'static str, query: Query<'_>) -> Result<Vec<Stored>, StoreError> {
        self.query_from(operation, query, None).await
    }

    /// The same from a place on that [`Self::count_page`] gave.
    async fn query_from(
        &self,
        operation: &'static str,
        query: Query<'_>,
        mut start: Option<Item>,
    ) -> Result<Vec<Stored>, StoreError> {
        let mut items = Vec::new();
        loop {
            let mut request = self.query_request(&query).set_exclusive_start_key(start.take());
            if let Some(limit) = query.limit {
                // What is filtered out counts here: whole pages are read then.
                let left = if query.only.is_empty() {
                    limit.saturating_sub(items.len()).clamp(1, LARGEST_READ)
                } else {
                    LARGEST_READ
                };
                request = request.limit(i32::try_from(left).unwrap_or(i32::MAX));
            }
            let page = request
                .send()
                .await
                .map_err(|error| StoreError::from_sdk(operation, error))?;
            items.extend(page.items.unwrap_or_default().into_iter().map(Stored::new));
            let enough = query.limit.is_some_and(|limit| items.len() >= limit);
            start = page.last_evaluated_key;
            if enough || start.is_none() {
                return Ok(items);
            }
        }
    }

    /// How many items a query has.
    async fn count_items(&self, operation: &'static str, query: &Query<'_>) -> Result<usize, StoreError> {
        let mut total = 0;
        let mut start: Option<Item> = None;
        loop {
            let (count, next) = self.count_page(operation, query, start, None).await?;
            total += count;
            start = next;
            if start.is_none() {
                return Ok(total);
            }
        }
    }

    /// How many items one page of a query has, of at most `limit`, and where the next begins.
    async fn count_page(
        &self,
        operation: &'static str,
        query: &Query<'_>,
        start: Option<Item>,
        limit: Option<i32>,
    ) -> Result<(usize, Option<Item>), StoreError> {
        let request = self
            .query_request(query)
            .select(Select::Count)
            .set_limit(limit)
            .set_exclusive_start_key(start);
        let page = request
            .send()
            .await
            .map_err(|error| StoreError::from_sdk(operation, error))?;
        Ok((usize::try_from(page.count).unwrap_or(0), page.last_evaluated_key))
    }

    fn query_request(&self, query: &Query<'_>) -> QueryFluentBuilder {
        let (name, partition) = &query.partition;
        let request = self
            .client
            .query()
            .table_name(&self.name)
            .set_index_name(query.index.map(str::to_owned))
            .expression_attribute_names("#partition", *name)
            .expression_attribute_values(":partition", AttributeValue::S(partition.clone()))
            .consistent_read(query.consistent)
            .scan_index_forward(!query.newest_first);
        let request = filtered(request, &query.only);
        match &query.sort {
            Sort::All => request.key_condition_expression("#partition = :partition"),
            Sort::BeginsWith(name, prefix) => request
                .key_condition_expression("#partition = :partition AND begins_with(#sort, :prefix)")
                .expression_attribute_names("#sort", *name)
                .expression_attribute_values(":prefix", AttributeValue::S(prefix.clone())),
            Sort::Between(name, low, high) => request
                .key_condition_expression("#partition = :partition AND #sort BETWEEN :low AND :high")
                .expression_attribute_names("#sort", *name)
                .expression_attribute_values(":low", AttributeValue::S(low.clone()))
                .expression_attribute_values(":high", AttributeValue::S(high.clone())),
        }
    }
}

/// At most so many items in one answer.
const LARGEST_READ: usize = 1_000;

fn filtered(request: QueryFluentBuilder, only: &[(&str, AttributeValue)]) -> QueryFluentBuilder {
    if only.is_empty() {
        return request;
    }
    let mut conditions = Vec::new();
    let mut request = request;
    for (place, (name, value)) in only.iter().enumerate() {
        conditions.push(format!("#only{place} = :only{place}"));
        request = request
            .expression_attribute_names(format!("#only{place}"), *name)
            .expression_attribute_values(format!(":only{place}"), value.clone());
    }
    request.filter_expression(conditions.join(" AND "))
}

/// One partition's items in order.
struct Query<'a> {
    index: Option<&'a str>,
    partition: (&'a str, String),
    sort: Sort<'a>,
    consistent: bool,
    newest_first: bool,
    limit: Option<usize>,
    /// What else an item must be: attributes and their values. What does not match is read, and paid, all the same.
    only: Vec<(&'a str, AttributeValue)>,
}

impl<'a> Query<'a> {
    fn of(partition: String) -> Self {
        Self {
            index: None,
            partition: (keys::PK, partition),
            sort: Sort::All,
            consistent: false,
            newest_first: false,
            limit: None,
            only: Vec::new(),
        }
    }

    fn index(index: &'a keys::Index, partition: String) -> Self {
        Self {
            index: Some(index.name),
            partition: (index.pk, partition),
            ..Self::of(String::new())
        }
    }
}

/// Which part of a partition a query reads.
enum Sort<'a> {
    All,
    BeginsWith(&'a str, String),
    Between(&'a str, String, String),
}
