//! Parts of a walk over companies: one company, or a part of the list of all.

use std::num::NonZeroUsize;

use ecf::Environment;
use ecf_store::{
    CompanyId, Scope,
    companies::{Company, CompanyPlace},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{App, OperatorError, companies};

/// Environments in the order of answers.
pub(crate) const ENVIRONMENTS: [Environment; 3] = [Environment::TesteCF, Environment::CerteCF, Environment::Ecf];

/// Concurrent reads of one command.
pub(crate) const AT_ONCE: usize = 16;

/// The companies of one part, and the position of the next part.
pub(crate) struct Part {
    pub(crate) companies: Vec<Company>,
    pub(crate) next: Option<CompanyPlace>,
}

/// Upper bounds of the companies of one part.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    /// Unless the command has a limit.
    pub(crate) usual: usize,
    pub(crate) most: usize,
}

impl Part {
    /// The company, or a part of all companies.
    pub(crate) async fn of(
        app: &App,
        company: Option<CompanyId>,
        at: Option<CompanyPlace>,
        limit: Option<usize>,
        bounds: Bounds,
    ) -> Result<Self, OperatorError> {
        let limit = within(limit, bounds)?;
        if let Some(id) = company {
            if at.is_some() {
                let message = "at is a position in the list of all companies: leave it or company out";
                return Err(OperatorError::refused("bad_part", message));
            }
            return Ok(Self {
                companies: vec![companies::company(app, &id).await?],
                next: None,
            });
        }
        let part = app.table.companies(at, limit).await?;
        Ok(Self {
            companies: part.companies,
            next: part.next,
        })
    }
}

/// The limit of a part.
pub(crate) fn within(limit: Option<usize>, bounds: Bounds) -> Result<NonZeroUsize, OperatorError> {
    let limit = limit.unwrap_or(bounds.usual);
    NonZeroUsize::new(limit)
        .filter(|limit| limit.get() <= bounds.most)
        .ok_or_else(|| OperatorError::refused("bad_part", format!("limit is {limit}; it may be 1 to {}", bounds.most)))
}

/// The scopes of a company, all or one.
pub(crate) fn scopes(company: &Company, environment: Option<Environment>) -> impl Iterator<Item = Scope> {
    let company = company.id;
    ENVIRONMENTS
        .into_iter()
        .filter(move |one| environment.is_none_or(|wanted| wanted == *one))
        .map(move |environment| Scope { company, environment })
}

/// A company's name in a row of a list.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Owner {
    company: CompanyId,
    rnc: String,
    name: String,
}

impl Owner {
    pub(crate) fn of(company: &Company) -> Self {
        Self {
            company: company.id,
            rnc: company.rnc.to_string(),
            name: company.name.clone(),
        }
    }

    /// A row that begins with the company.
    pub(crate) fn row(&self, rest: &Value) -> Value {
        let mut row = json!(self);
        if let (Some(row), Some(rest)) = (row.as_object_mut(), rest.as_object()) {
            row.extend(rest.clone());
        }
        row
    }
}

/// A list of companies.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListCompanies {
    rnc: Option<ecf::Rnc>,
    /// Where the part begins: `next` of the last answer.
    at: Option<CompanyPlace>,
    limit: Option<usize>,
}

const COMPANIES: Bounds = Bounds { usual: 100, most: 500 };

/// The companies with an RNC, or a part of all companies.
pub(crate) async fn list(app: &App, command: ListCompanies) -> Result<Value, OperatorError> {
    let (found, next) = match command.rnc {
        Some(rnc) => (app.table.companies_by_rnc(&rnc).await?, None),
        None => {
            let part = Part::of(app, None, command.at, command.limit, COMPANIES).await?;
            (part.companies, part.next)
        }
    };
    let found: Vec<Value> = found.iter().map(companies::view).collect();
    Ok(json!({ "companies": found, "next": next }))
}

/// A part of the table to look for companies in.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FillInCompanies {
    at: Option<ecf_store::companies::ScanPlace>,
    limit: Option<usize>,
}

/// Items of the table; a thousand of them are at most a megabyte, which is 128 read units.
const ITEMS: Bounds = Bounds {
    usual: 10_000,
    most: 100_000,
};

/// Lists the companies that were created before the list.
pub(crate) async fn fill_in(app: &App, command: FillInCompanies) -> Result<Value, OperatorError> {
    let limit = within(command.limit, ITEMS)?;
    let part = app.table.fill_in_companies(command.at, limit.get()).await?;
    Ok(json!({ "items": part.items, "added": part.added, "listed": part.listed, "next": part.next }))
}
