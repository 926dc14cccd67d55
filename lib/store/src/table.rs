//! The DynamoDB table: one `impl` block of [`Table`] per kind of record, one file each.
//!
//! Read [`keys`] first: it builds every key. Every write of an existing record is conditional; writes that must take
//! effect together are one transaction (`write`).

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
pub mod contingencies;
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
pub mod rate_limits;
pub mod receipts;
pub mod runs;
#[cfg(feature = "testing")]
mod seeding;
mod seeds;
pub mod tokens;
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

/// The table with this name.
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

    /// Checks that the table answers, by reading a key that does not exist.
    ///
    /// # Errors
    /// Fails when DynamoDB fails.
    pub async fn ping(&self) -> Result<(), StoreError> {
        self.read_eventual("ping", &keys::signup(&[0; 32])).await.map(|_| ())
    }

    /// A strongly consistent read of one item.
    async fn read(&self, operation: &'static str, key: &Key) -> Result<Option<Stored>, StoreError> {
        self.read_item(operation, key, true).await
    }

    /// An eventually consistent read of one item, at half the price.
    async fn read_eventual(&self, operation: &'static str, key: &Key) -> Result<Option<Stored>, StoreError> {
        self.read_item(operation, key, false).await
    }

    /// An eventually consistent read of one item that rarely changes: the result may be outdated, but an existing item
    /// is never missed.
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

    /// The items of one query, page by page, up to `limit`.
    async fn query(&self, operation: &'static str, query: Query<'_>) -> Result<Vec<Stored>, StoreError> {
        self.query_from(operation, query, None).await
    }

    /// The items of one query, from a position that [`Self::count_page`] returned.
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
                // Filtered items count towards the limit, so whole pages are read.
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

    /// The number of items of a query.
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

    /// The number of items in one page of a query, at most `limit`, and where the next page begins.
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

/// Upper bound of the items in one answer.
const LARGEST_READ: usize = 1_000;

fn filtered(mut request: QueryFluentBuilder, only: &[Only<'_>]) -> QueryFluentBuilder {
    if only.is_empty() {
        return request;
    }
    let mut conditions = Vec::new();
    for (place, filter) in only.iter().enumerate() {
        let (name, values) = match filter {
            Only::Is(name, value) => (name, vec![value]),
            Only::OneOf(name, values) => (name, values.iter().collect()),
            Only::Between(name, low, high) => (name, vec![low, high]),
        };
        request = request.expression_attribute_names(format!("#only{place}"), *name);
        let mut values_at = Vec::new();
        for (index, value) in values.into_iter().enumerate() {
            let value_at = format!(":only{place}v{index}");
            request = request.expression_attribute_values(&value_at, value.clone());
            values_at.push(value_at);
        }
        conditions.push(match filter {
            Only::Is(..) => format!("#only{place} = {}", values_at.concat()),
            Only::OneOf(..) => format!("#only{place} IN ({})", values_at.join(", ")),
            Only::Between(..) => format!("#only{place} BETWEEN {}", values_at.join(" AND ")),
        });
    }
    request.filter_expression(conditions.join(" AND "))
}

/// A filter on an attribute that is not part of the key.
enum Only<'a> {
    Is(&'a str, AttributeValue),
    /// One of these values; there is at least one.
    OneOf(&'a str, Vec<AttributeValue>),
    /// Both ends are included. An item without the attribute does not match.
    Between(&'a str, AttributeValue, AttributeValue),
}

/// A query of one partition, in order.
struct Query<'a> {
    index: Option<&'a str>,
    partition: (&'a str, String),
    sort: Sort<'a>,
    consistent: bool,
    newest_first: bool,
    limit: Option<usize>,
    /// Filters on attributes. Items that do not match are read and paid nevertheless.
    only: Vec<Only<'a>>,
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

/// The part of a partition that a query reads.
enum Sort<'a> {
    All,
    BeginsWith(&'a str, String),
    Between(&'a str, String, String),
}
