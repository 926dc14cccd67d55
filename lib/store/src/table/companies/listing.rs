//! The list of all companies, for the operator: one item per company, spread over partitions by RNC.
//!
//! An entry is written in the transaction that creates the company, and never changed. Companies from before December
//! 2026 have none until [`Table::fill_in_companies`] has found them.

use std::num::NonZeroUsize;

use aws_sdk_dynamodb::types::AttributeValue;
use ecf::Rnc;
use serde::{Deserialize, Serialize};

use super::{Company, RNC, read_company};
use crate::{
    StoreError,
    ids::CompanyId,
    table::{
        Query, Sort, Table,
        item::{Item, NewItem, Stored, text},
        keys::{self, Key, PK, SK},
    },
};

/// Upper bound of the items that one request of a scan reads.
const PER_SCAN: usize = 1_000;

/// A position in the list of companies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CompanyPlace {
    partition: u8,
    /// The last entry that was read; `None` at the beginning of the partition.
    after: Option<String>,
}

/// A part of the list of companies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompaniesPart {
    pub companies: Vec<Company>,
    /// The position of the next part; `None` after the last one.
    pub next: Option<CompanyPlace>,
}

/// A position in a scan of the table: the key of the last item that was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScanPlace {
    pk: String,
    sk: String,
}

/// The result of one part of a scan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompaniesFilledIn {
    /// The number of items that were read.
    pub items: usize,
    /// Companies that were not on the list.
    pub added: Vec<CompanyId>,
    /// The number of companies that were on it.
    pub listed: usize,
    pub next: Option<ScanPlace>,
}

impl Table {
    /// The companies from a position of the list, at most `limit`. Their order is fixed, and is not that of their RNCs.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn companies(&self, at: Option<CompanyPlace>, limit: NonZeroUsize) -> Result<CompaniesPart, StoreError> {
        let mut ids = Vec::new();
        let mut next = Some(at.unwrap_or(CompanyPlace {
            partition: 0,
            after: None,
        }));
        while let Some(place) = next.take_if(|_| ids.len() < limit.get()) {
            let missing = limit.get() - ids.len();
            // `!` sorts before every character of a sort key, `~` after it.
            let low = place.after.map_or_else(|| "!".to_owned(), |after| format!("{after}!"));
            let query = Query {
                sort: Sort::Between(SK, low, "~".to_owned()),
                limit: Some(missing),
                ..Query::of(keys::company_list(place.partition))
            };
            let mut entries = self.query("list companies", query).await?;
            entries.truncate(missing);
            next = match entries.last() {
                Some(last) if entries.len() == missing => Some(CompanyPlace {
                    partition: place.partition,
                    after: Some(last.sk()?.to_owned()),
                }),
                _ => place
                    .partition
                    .checked_add(1)
                    .map(|partition| CompanyPlace { partition, after: None }),
            };
            next = next.filter(|place| place.partition < keys::COMPANY_LIST_PARTITIONS);
            ids.extend(entries.iter().map(id_of).collect::<Result<Vec<_>, _>>()?);
        }
        let companies = self.companies_by_ids(&ids).await?;
        Ok(CompaniesPart { companies, next })
    }

    /// Every company with this RNC that is on the list, and the verified one in any case.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn companies_by_rnc(&self, rnc: &Rnc) -> Result<Vec<Company>, StoreError> {
        let query = Query {
            sort: Sort::BeginsWith(SK, keys::company_list_prefix(rnc)),
            consistent: true,
            ..Query::of(keys::company_list(keys::company_list_partition(rnc)))
        };
        let entries = self.query("find companies", query).await?;
        let mut ids = entries.iter().map(id_of).collect::<Result<Vec<_>, _>>()?;
        ids.extend(self.company_by_rnc(rnc).await?.filter(|owner| !ids.contains(owner)));
        self.companies_by_ids(&ids).await
    }

    /// Reads the table's items from a position, about `limit` of them, and lists the companies among them.
    ///
    /// This is the one scan in the system, for companies that were created before the list. It may be repeated.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn fill_in_companies(
        &self,
        at: Option<ScanPlace>,
        limit: usize,
    ) -> Result<CompaniesFilledIn, StoreError> {
        let mut filled_in = CompaniesFilledIn {
            items: 0,
            added: Vec::new(),
            listed: 0,
            next: at,
        };
        loop {
            let left = limit.saturating_sub(filled_in.items).clamp(1, PER_SCAN);
            let start = filled_in.next.take();
            let page = self
                .client
                .scan()
                .table_name(&self.name)
                .filter_expression("#sk = :profile")
                .projection_expression("#pk, #sk, #rnc")
                .expression_attribute_names("#pk", PK)
                .expression_attribute_names("#sk", SK)
                .expression_attribute_names("#rnc", RNC)
                .expression_attribute_values(":profile", text(keys::PROFILE))
                .limit(i32::try_from(left).unwrap_or(i32::MAX))
                .set_exclusive_start_key(start.map(|place| Key::from(place).attributes()))
                .send()
                .await
                .map_err(|error| StoreError::from_sdk("scan for companies", error))?;
            filled_in.items += usize::try_from(page.scanned_count).unwrap_or(left);
            for profile in page.items.unwrap_or_default().into_iter().map(Stored::new) {
                let id = keys::company_of(profile.pk()?).ok_or_else(|| profile.corrupt(PK, "names no company"))?;
                if self.put_new("list company", entry(&profile.parse(RNC)?, &id)).await? {
                    filled_in.added.push(id);
                } else {
                    filled_in.listed += 1;
                }
            }
            filled_in.next = page.last_evaluated_key.as_ref().and_then(scan_place);
            if filled_in.next.is_none() || filled_in.items >= limit {
                return Ok(filled_in);
            }
        }
    }

    /// The companies with these ids, in their order, with eventually consistent reads.
    async fn companies_by_ids(&self, ids: &[CompanyId]) -> Result<Vec<Company>, StoreError> {
        let found = self
            .read_many("read companies", ids.iter().map(keys::company), false)
            .await?;
        let profiles = ids.iter().map(|id| (id, found.get(&keys::company(id))));
        profiles
            .filter_map(|(id, stored)| Some(read_company(*id, stored?)))
            .collect()
    }
}

impl From<ScanPlace> for Key {
    fn from(ScanPlace { pk, sk }: ScanPlace) -> Self {
        Self { pk, sk }
    }
}

pub(super) fn entry(rnc: &Rnc, company: &CompanyId) -> Item {
    NewItem::new(&keys::listed_company(rnc, company)).build()
}

fn id_of(entry: &Stored) -> Result<CompanyId, StoreError> {
    keys::listed_company_id(entry.sk()?).ok_or_else(|| entry.corrupt(SK, "names no company"))
}

fn scan_place(key: &Item) -> Option<ScanPlace> {
    let text = |name| match key.get(name) {
        Some(AttributeValue::S(text)) => Some(text.clone()),
        _ => None,
    };
    Some(ScanPlace {
        pk: text(PK)?,
        sk: text(SK)?,
    })
}
