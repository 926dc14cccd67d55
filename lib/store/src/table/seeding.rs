//! Writes many receipts at once, for measurements: the items and counters that single writes would leave.

use std::collections::BTreeMap;

use aws_sdk_dynamodb::types::{PutRequest, WriteRequest};
use futures::future::try_join_all;
use jiff::{ToSpan as _, civil::Date};

use super::{
    Table,
    counters::{self, DayCounts},
    item::{Item, NewItem, number},
    keys, receipts,
    write::{ATTEMPTS, pause},
};
use crate::{StoreError, ids::Scope, table::receipts::NewReceipt};

/// Upper bound of the items in one request.
const PER_REQUEST: usize = 25;
const AT_ONCE: usize = 8;
const OPERATION: &str = "seed";

impl Table {
    /// Writes receipts in their states, without the locks of their numbers, and their counters by day. Existing
    /// counters of these days are replaced.
    ///
    /// # Errors
    /// Fails when DynamoDB fails.
    pub async fn seed_receipts(&self, scope: &Scope, receipts: &[NewReceipt]) -> Result<(), StoreError> {
        let mut days = BTreeMap::new();
        for receipt in receipts {
            let day = keys::fiscal_day(receipt.created_at);
            let counts = days.entry(day).or_insert_with(|| DayCounts::none(day));
            counts.add(receipt.ecf_type, receipt.state, &receipt.monto_total);
        }
        let counters = days.values().map(|counts| {
            let names = counters::names(counts).into_iter();
            let item = NewItem::new(&keys::counter(scope, counts.day));
            names
                .fold(item, |item, (name, count)| item.with(&name, number(count)))
                .build()
        });
        let receipts = receipts.iter().map(|receipt| receipts::seeded_item(scope, receipt));
        let items: Vec<Item> = receipts.chain(counters).collect();
        for requests in items.chunks(PER_REQUEST * AT_ONCE) {
            try_join_all(requests.chunks(PER_REQUEST).map(|items| self.put_batch(items))).await?;
        }
        Ok(())
    }

    /// Closes seeded days up to one, whose counters are exact, and sums up their months.
    ///
    /// # Errors
    /// Fails when DynamoDB fails.
    pub async fn seed_closing(&self, scope: &Scope, first: Date, until: Date) -> Result<(), StoreError> {
        let mut month = first.first_of_month();
        while month.last_of_month() <= until {
            self.sum_up_month(scope, month).await?;
            month = month.saturating_add(1.month());
        }
        self.seed_closed_until(scope, until).await
    }

    async fn put_batch(&self, items: &[Item]) -> Result<(), StoreError> {
        let put = |item: &Item| {
            let put = PutRequest::builder().set_item(Some(item.clone())).build();
            put.map(|put| WriteRequest::builder().put_request(put).build())
        };
        let mut requests = items
            .iter()
            .map(put)
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| StoreError::unexpected(OPERATION, error))?;
        for attempt in 1..=ATTEMPTS {
            let request = self.client.batch_write_item().request_items(&self.name, requests);
            let answer = request.send().await;
            let answer = answer.map_err(|error| StoreError::from_sdk(OPERATION, error))?;
            match answer
                .unprocessed_items
                .and_then(|mut tables| tables.remove(&self.name))
            {
                Some(left) => requests = left,
                None => return Ok(()),
            }
            pause(attempt).await;
        }
        Err(StoreError::Contended {
            operation: OPERATION,
            attempts: ATTEMPTS,
        })
    }
}
