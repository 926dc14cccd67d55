//! Every key of the table, and the names of its indexes and shared attributes.
//!
//! The company comes first in every partition key of a company's data, so that another company's id finds nothing. No
//! partition key is only a state, a date or a constant. The test at the end prints the whole design on one page.

use std::{collections::HashMap, fmt, str::FromStr};

use aws_sdk_dynamodb::types::AttributeValue;
use ecf::{Encf, Environment, ReceiptType, Rnc, SANTO_DOMINGO};
use jiff::{Timestamp, ToSpan as _, civil::Date};

use super::breaker::Host;
use crate::{
    ContentHash, StoreError,
    ids::{
        AnnouncementId, AnnulmentId, ApiKeyId, ApprovalId, CertificateId, CompanyId, DeliveryId, EventKey, InboxId,
        NoticeId, ReceiptId, RunId, Scope, WebhookId,
    },
};

pub(crate) const PK: &str = "pk";
pub(crate) const SK: &str = "sk";
/// When DynamoDB may remove the item, in seconds since the epoch. Readers check it too, because removal may lag by
/// days.
pub(crate) const TTL: &str = "ttl";

/// A global secondary index and its key attributes.
pub(crate) struct Index {
    pub(crate) name: &'static str,
    pub(crate) pk: &'static str,
    pub(crate) sk: &'static str,
}

/// Receipts of one company, environment and day, newest last; projects state (`st`) and type (`ty`).
pub(crate) const LIST: Index = Index {
    name: "list",
    pk: "lp",
    sk: "ls",
};
/// Records with a next step, by time; sparse and sharded; keys only.
pub(crate) const DUE: Index = Index {
    name: "due",
    pk: "dp",
    sk: "ds",
};
/// Receipts by the caller's `external_id`; keys only.
pub(crate) const EXTERNAL: Index = Index {
    name: "external",
    pk: "xp",
    sk: "xs",
};
/// Receipts by the authority's track id; keys only.
pub(crate) const TRACK: Index = Index {
    name: "track",
    pk: "tp",
    sk: "ts",
};

/// Locks of consecutive e-NCFs rotate over this number of partitions, so that a range has no hot partition.
pub(crate) const LOCK_PARTITIONS: u64 = 16;

/// The primary key of one item.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Key {
    pub(crate) pk: String,
    pub(crate) sk: String,
}

impl Key {
    fn new(pk: String, sk: impl Into<String>) -> Self {
        Self { pk, sk: sk.into() }
    }

    pub(crate) fn attributes(&self) -> HashMap<String, AttributeValue> {
        HashMap::from([
            (PK.to_owned(), AttributeValue::S(self.pk.clone())),
            (SK.to_owned(), AttributeValue::S(self.sk.clone())),
        ])
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} / {}", self.pk, self.sk)
    }
}

/// `{company}#{environment}`: part of the key of all data of a company.
pub(crate) fn scope(scope: &Scope) -> String {
    format!("{}#{}", scope.company, scope.environment.path_segment())
}

/// The day of an instant in lists and counters, in the authority's time zone: −04:00 all year.
pub fn fiscal_day(instant: Timestamp) -> Date {
    SANTO_DOMINGO.to_datetime(instant).date()
}

/// The first instant after a fiscal day.
pub(crate) fn end_of_day(day: Date) -> Timestamp {
    let midnight = SANTO_DOMINGO.to_timestamp(day.saturating_add(1.day()).at(0, 0, 0, 0));
    midnight.unwrap_or(Timestamp::MAX)
}

pub(crate) fn day(day: Date) -> String {
    format!("{:04}{:02}{:02}", day.year(), day.month(), day.day())
}

pub(crate) fn company_partition(company: &CompanyId) -> String {
    format!("co#{company}")
}

pub(crate) fn company(company: &CompanyId) -> Key {
    Key::new(company_partition(company), PROFILE)
}

/// A company's additions to its prints.
pub(crate) fn design(company: &CompanyId) -> Key {
    Key::new(company_partition(company), "design")
}

pub(crate) fn rnc(rnc: &str) -> Key {
    Key::new(format!("rnc#{rnc}"), "owner")
}

/// The list of companies is spread over this number of partitions, by RNC.
pub(crate) const COMPANY_LIST_PARTITIONS: u8 = 16;

pub(crate) fn company_list(partition: u8) -> String {
    format!("cl#{partition:02}")
}

/// The partition of the list that contains the companies with this RNC.
pub(crate) fn company_list_partition(rnc: &Rnc) -> u8 {
    let digits = rnc.as_str().bytes();
    digits.fold(0, |partition, digit| {
        (partition * 3 + digit % COMPANY_LIST_PARTITIONS) % COMPANY_LIST_PARTITIONS
    })
}

pub(crate) fn company_list_prefix(rnc: &Rnc) -> String {
    format!("{rnc}#")
}

/// The entry of a company in the list of all companies.
pub(crate) fn listed_company(rnc: &Rnc, company: &CompanyId) -> Key {
    Key::new(
        company_list(company_list_partition(rnc)),
        format!("{}{company}", company_list_prefix(rnc)),
    )
}

/// The company of an entry in the list.
pub(crate) fn listed_company_id(sk: &str) -> Option<CompanyId> {
    sk.split_once('#')?.1.parse().ok()
}

/// The sort key of a company's profile.
pub(crate) const PROFILE: &str = "profile";

/// The company of a profile, from its partition key.
pub(crate) fn company_of(pk: &str) -> Option<CompanyId> {
    pk.strip_prefix("co#")?.parse().ok()
}

pub(crate) fn signup(key: &[u8; 32]) -> Key {
    Key::new(format!("su#{}", hex::encode(key)), "signup")
}

/// The item of an API key by its hash.
pub(crate) fn api_key(hash: &[u8; 32]) -> Key {
    Key::new(format!("key#{}", hex::encode(hash)), "key")
}

pub(crate) const LISTED_API_KEYS: &str = "key#";

/// The item of an API key in its company's list.
pub(crate) fn listed_api_key(company: &CompanyId, id: &ApiKeyId) -> Key {
    Key::new(company_partition(company), format!("{LISTED_API_KEYS}{id}"))
}

/// The last use of the company's API keys. Not stored with the keys, so that recording a use requires no permission to
/// change keys.
pub(crate) fn key_uses_partition(company: &CompanyId) -> String {
    format!("ku#{company}")
}

pub(crate) fn key_use(company: &CompanyId, id: &ApiKeyId) -> Key {
    Key::new(key_uses_partition(company), id.to_string())
}

pub(crate) const CERTIFICATE: &str = "cert#";

/// A certificate in its company's history.
pub(crate) fn certificate(company: &CompanyId, id: &CertificateId) -> Key {
    Key::new(company_partition(company), format!("{CERTIFICATE}{id}"))
}

pub(crate) fn ranges_partition(owner: &Scope) -> String {
    format!("seq#{}", scope(owner))
}

/// Counts the openings of a type's ranges, so that two concurrent openings cannot overlap.
pub(crate) fn ranges_version(owner: &Scope, ecf_type: ReceiptType) -> Key {
    Key::new(ranges_partition(owner), ecf_type.as_str())
}

pub(crate) fn range(owner: &Scope, ecf_type: ReceiptType, start: u64) -> Key {
    Key::new(ranges_partition(owner), format!("{}#{start:010}", ecf_type.as_str()))
}

pub(crate) const RECEIPT: &str = "r";
/// Parses type and first number from a range's sort key.
pub(crate) fn range_parts(sk: &str) -> Option<(ReceiptType, u64)> {
    let (ecf_type, start) = sk.split_once('#')?;
    Some((ecf_type.parse().ok()?, start.parse().ok()?))
}

/// Parses the scope from the partition key of ranges.
pub(crate) fn ranges_scope(pk: &str) -> Result<Scope, StoreError> {
    let scope = pk.strip_prefix("seq#").and_then(|scope| scope.split_once('#'));
    let Some((company, environment)) = scope else {
        return Err(StoreError::corrupt(pk, PK, "is not of ranges"));
    };
    Ok(Scope {
        company: company
            .parse()
            .map_err(|error| StoreError::corrupt(pk, PK, format!("names no company: {error}")))?,
        environment: environment_of(environment).ok_or_else(|| StoreError::corrupt(pk, PK, "names no environment"))?,
    })
}

pub(crate) fn receipt(owner: &Scope, id: &ReceiptId) -> Key {
    Key::new(format!("{RECEIPT}#{}#{id}", scope(owner)), "r")
}

/// Parses scope and id from a partition key of this kind, which ends with the record's id.
pub(crate) fn parts<Id>(kind: &str, pk: &str) -> Result<(Scope, Id), StoreError>
where
    Id: FromStr,
    Id::Err: fmt::Display,
{
    let corrupt = |why: String| StoreError::corrupt(pk, PK, why);
    let mut parts = pk.split('#');
    let (Some(found), Some(company), Some(environment), Some(id), None) =
        (parts.next(), parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Err(corrupt(format!("is not `{kind}#{{company}}#{{environment}}#{{id}}`")));
    };
    if found != kind {
        return Err(corrupt(format!("is not of kind `{kind}`")));
    }
    let company = company
        .parse()
        .map_err(|error| corrupt(format!("names no company: {error}")))?;
    let environment = environment_of(environment).ok_or_else(|| corrupt("names no environment".to_owned()))?;
    let id = id
        .parse()
        .map_err(|error| corrupt(format!("names no record: {error}")))?;
    Ok((Scope { company, environment }, id))
}

pub(crate) fn environment_of(segment: &str) -> Option<Environment> {
    [Environment::TesteCF, Environment::CerteCF, Environment::Ecf]
        .into_iter()
        .find(|environment| environment.path_segment() == segment)
}

/// The lock that marks a number as used.
pub(crate) fn encf_lock(owner: &Scope, encf: &Encf) -> Key {
    let sequence = encf.sequence();
    Key::new(
        lock_partition(owner, encf.receipt_type(), sequence),
        lock_sort(sequence),
    )
}

/// The partition with the lock of this number; it contains every sixteenth number.
pub(crate) fn lock_partition(owner: &Scope, ecf_type: ReceiptType, sequence: u64) -> String {
    let partition = sequence % LOCK_PARTITIONS;
    format!("n#{}#{}#{partition:02}", scope(owner), ecf_type.as_str())
}

pub(crate) fn lock_sort(sequence: u64) -> String {
    format!("{sequence:010}")
}

pub(crate) fn list_partition(owner: &Scope, of: Date) -> String {
    format!("{}#{}", scope(owner), day(of))
}

/// The millisecond, then a part of the id, so that receipts of the same millisecond have a fixed order.
pub(crate) fn list_sort(created_at: Timestamp, id: &ReceiptId) -> String {
    format!("{:013}#{}", created_at.as_millisecond(), &id.to_string()[..8])
}

pub(crate) fn due_partition(shard: u8) -> String {
    format!("due#{shard}")
}

/// Ranges have their own partitions, so that ranges and receipts do not delay each other.
pub(crate) fn due_ranges_partition(shard: u8) -> String {
    format!("due#seq#{shard}")
}

/// RFC 3339 with milliseconds, so that text order is time order.
pub(crate) fn due_sort(at: Timestamp) -> String {
    format!("{at:.3}")
}

pub(crate) fn external_partition(owner: &Scope, external_id: &str) -> String {
    format!("{}#{external_id}", scope(owner))
}

pub(crate) fn track_partition(owner: &Scope, track_id: &str) -> String {
    format!("{}#{track_id}", scope(owner))
}

/// The part after the scope in an `external` or `track` partition key.
pub(crate) fn after_scope<'a>(owner: &Scope, partition: &'a str) -> Option<&'a str> {
    partition.strip_prefix(&scope(owner))?.strip_prefix('#')
}

pub(crate) fn millis_sort(at: Timestamp) -> String {
    format!("{:013}", at.as_millisecond())
}

pub(crate) fn counters_partition(owner: &Scope) -> String {
    format!("cnt#{}", scope(owner))
}

pub(crate) fn counter(owner: &Scope, of: Date) -> Key {
    Key::new(counters_partition(owner), day(of))
}

/// The counts of whole months.
pub(crate) fn months_partition(owner: &Scope) -> String {
    format!("cm#{}", scope(owner))
}

pub(crate) fn month_sort(of: Date) -> String {
    format!("{:04}{:02}", of.year(), of.month())
}

pub(crate) fn month(owner: &Scope, of: Date) -> Key {
    Key::new(months_partition(owner), month_sort(of))
}

/// The closed days, and the days that must be counted again.
pub(crate) fn closing_partition(owner: &Scope) -> String {
    format!("cd#{}", scope(owner))
}

pub(crate) const CLOSED: &str = "closed";

pub(crate) fn closing(owner: &Scope) -> Key {
    Key::new(closing_partition(owner), CLOSED)
}

/// Records that a receipt of a past day is about to change its state.
pub(crate) fn late_change(owner: &Scope, of: Date) -> Key {
    Key::new(closing_partition(owner), day(of))
}

/// Days to close have their own partitions, like ranges.
pub(crate) fn due_days_partition(shard: u8) -> String {
    format!("due#day#{shard}")
}

pub(crate) const WEBHOOKS: &str = "wh";

pub(crate) fn webhooks_partition(owner: &Scope) -> String {
    format!("{WEBHOOKS}#{}", scope(owner))
}

/// Parses the scope from a partition key that ends with it.
pub(crate) fn ending_scope(pk: &str) -> Result<Scope, StoreError> {
    let corrupt = || StoreError::corrupt(pk, PK, "is not `{kind}#{company}#{environment}`");
    let mut parts = pk.split('#').skip(1);
    let (Some(company), Some(environment), None) = (parts.next(), parts.next(), parts.next()) else {
        return Err(corrupt());
    };
    Ok(Scope {
        company: company.parse().map_err(|_| corrupt())?,
        environment: environment_of(environment).ok_or_else(corrupt)?,
    })
}

pub(crate) const WEBHOOK: &str = "hook#";

pub(crate) fn webhook(owner: &Scope, id: &WebhookId) -> Key {
    Key::new(webhooks_partition(owner), format!("{WEBHOOK}{id}"))
}

/// The number of webhooks in the scope, to enforce the limit without counting.
pub(crate) fn webhook_count(owner: &Scope) -> Key {
    Key::new(webhooks_partition(owner), "count")
}

pub(crate) fn deliveries_partition(owner: &Scope, webhook: &WebhookId) -> String {
    format!("wd#{}#{webhook}", scope(owner))
}

pub(crate) fn delivery(owner: &Scope, webhook: &WebhookId, id: DeliveryId) -> Key {
    Key::new(deliveries_partition(owner, webhook), delivery_sort(id))
}

/// Sixteen digits hold every number below 2^53.
pub(crate) fn delivery_sort(id: DeliveryId) -> String {
    format!("{:016}", id.as_u64())
}

pub(crate) const UNDELIVERED: &str = "wu";

pub(crate) fn undelivered_partition(owner: &Scope, webhook: &WebhookId) -> String {
    format!("{UNDELIVERED}#{}#{webhook}", scope(owner))
}

/// An event that was not delivered to a webhook yet.
pub(crate) fn undelivered(owner: &Scope, webhook: &WebhookId, event: &EventKey) -> Key {
    Key::new(undelivered_partition(owner, webhook), event.to_string())
}

pub(crate) const ANNOUNCEMENT: &str = "an";

pub(crate) fn announcement(owner: &Scope, id: &AnnouncementId) -> Key {
    Key::new(format!("{ANNOUNCEMENT}#{}#{id}", scope(owner)), "an")
}

pub(crate) const UNCLAIMED: &str = "uc";

/// Records that a P12 is stored for a company that may not exist.
pub(crate) fn unclaimed_p12(owner: &Scope) -> Key {
    Key::new(format!("{UNCLAIMED}#{}", scope(owner)), "p12")
}

/// Companies whose receipts are held.
pub(crate) fn contingencies(environment: Environment) -> String {
    format!("ct#{}", environment.path_segment())
}

/// Exists while a company's receipts are held.
pub(crate) fn contingency(owner: &Scope) -> Key {
    Key::new(contingencies(owner.environment), owner.company.to_string())
}

/// The lists of an inbox: each receipt is in the first, and in one of the two others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InboxList {
    All,
    Unread,
    Acked,
}

pub(crate) const INBOX: &str = "in";

pub(crate) fn inbox_partition(owner: &Scope, list: InboxList) -> String {
    let kind = match list {
        InboxList::All => INBOX,
        InboxList::Unread => "iu",
        InboxList::Acked => "ia",
    };
    format!("{kind}#{}", scope(owner))
}

/// Ids of an inbox begin with their time, so a list is sorted by time.
pub(crate) fn inbox_item(owner: &Scope, list: InboxList, id: &InboxId) -> Key {
    Key::new(inbox_partition(owner, list), id.to_string())
}

/// Marks a number of another issuer as received.
pub(crate) fn received_lock(owner: &Scope, rnc_emisor: &Rnc, encf: &Encf) -> Key {
    Key::new(format!("il#{}#{rnc_emisor}", scope(owner)), encf.to_string())
}

/// Marks a document of another issuer as received, by the hash of its signature.
pub(crate) fn received_copy(owner: &Scope, rnc_emisor: &Rnc, encf: &Encf, signature: &ContentHash) -> Key {
    Key::new(received_copies(owner, rnc_emisor, encf), signature.to_string())
}

pub(crate) fn received_copies(owner: &Scope, rnc_emisor: &Rnc, encf: &Encf) -> String {
    format!("ic#{}#{rnc_emisor}#{encf}", scope(owner))
}

pub(crate) const APPROVAL: &str = "ap";

/// A commercial approval.
pub(crate) fn approval(owner: &Scope, id: &ApprovalId) -> Key {
    Key::new(format!("{APPROVAL}#{}#{id}", scope(owner)), "ap")
}

/// The lock that makes the company's answer to a received receipt unique.
pub(crate) fn given_answer(owner: &Scope, rnc_emisor: &Rnc, encf: &Encf) -> Key {
    Key::new(format!("aa#{}#{rnc_emisor}", scope(owner)), encf.to_string())
}

pub(crate) fn attempts_partition(owner: &Scope) -> String {
    format!("ca#{}", scope(owner))
}

/// An attempt of the certification.
pub(crate) fn attempt(owner: &Scope, number: u32) -> Key {
    Key::new(attempts_partition(owner), format!("{number:06}"))
}

pub(crate) const RUNS: &str = "rn";

pub(crate) fn runs_partition(owner: &Scope) -> String {
    format!("{RUNS}#{}", scope(owner))
}

/// A run of the certification.
pub(crate) fn run(owner: &Scope, id: &RunId) -> Key {
    Key::new(runs_partition(owner), id.to_string())
}

/// The pointer to the newest run.
pub(crate) fn newest_run(owner: &Scope) -> Key {
    Key::new(runs_partition(owner), "newest")
}

pub(crate) fn approvals_partition(owner: &Scope) -> String {
    format!("al#{}", scope(owner))
}

/// An approval's entry in the list of all, sorted by time.
pub(crate) fn listed_approval(owner: &Scope, created_at: Timestamp, id: &ApprovalId) -> Key {
    Key::new(approvals_partition(owner), format!("{}#{id}", millis_sort(created_at)))
}

/// Parses the id from an approval's list entry.
pub(crate) fn listed_approval_id(sk: &str) -> Option<ApprovalId> {
    sk.split_once('#')?.1.parse().ok()
}

pub(crate) const ANNULMENT: &str = "av";

/// An annulment of numbers.
pub(crate) fn annulment(owner: &Scope, id: &AnnulmentId) -> Key {
    Key::new(format!("{ANNULMENT}#{}#{id}", scope(owner)), "av")
}

/// A seed that was exchanged for a token; it does not belong to a company.
pub(crate) fn used_seed(nonce: &[u8; 16]) -> Key {
    Key::new(format!("seed#{}", hex::encode(nonce)), "seed")
}

pub(crate) fn token(certificate: &[u8; 32], environment: Environment) -> Key {
    Key::new(
        format!("tok#{}#{}", hex::encode(certificate), environment.path_segment()),
        "token",
    )
}

/// The condition of the authority, one per environment.
pub(crate) fn authority_partition(environment: Environment) -> String {
    format!("ta#{}", environment.path_segment())
}

const HOST: &str = "host#";

pub(crate) fn breaker(environment: Environment, host: Host) -> Key {
    Key::new(authority_partition(environment), format!("{HOST}{host}"))
}

/// The host of a breaker, from its sort key.
pub(crate) fn host_of(sort: &str) -> Option<Host> {
    let name = sort.strip_prefix(HOST)?;
    Host::ALL.into_iter().find(|host| host.as_str() == name)
}

pub(crate) const STATUS: &str = "status";

pub(crate) fn authority_status(environment: Environment) -> Key {
    Key::new(authority_partition(environment), STATUS)
}

/// The last call of the status service, which serves all environments.
pub(crate) fn status_check() -> Key {
    Key::new("ta#status".to_owned(), "check")
}

/// An invitation to sign up.
pub(crate) fn invitation(hash: &[u8; 32]) -> Key {
    Key::new(format!("inv#{}", hex::encode(hash)), "invitation")
}

/// The visits from an address under one rate limit, in the window that begins at that second.
pub(crate) fn rate_windows(limit: &str, visitor: &[u8; 32], begin: i64) -> Key {
    Key::new(format!("turn#{limit}#{}", hex::encode(visitor)), begin.to_string())
}

/// The directory's answer about a taxpayer, one per environment.
pub(crate) fn directory(environment: Environment, rnc: &Rnc) -> Key {
    Key::new(format!("dir#{}#{rnc}", environment.path_segment()), "entry")
}

pub(crate) fn notice(id: &NoticeId) -> Key {
    Key::new(format!("no#{id}"), "notice")
}

/// The number of the latest change of any notice.
pub(crate) fn notice_number() -> Key {
    Key::new("no#number".to_owned(), "number")
}

pub(crate) fn notices_of_all() -> String {
    "nf#all".to_owned()
}

pub(crate) fn notices_of_environment(environment: Environment) -> String {
    format!("nf#{}", environment.path_segment())
}

pub(crate) fn notices_of_company(company: &CompanyId) -> String {
    format!("nf#{company}")
}

/// A notice in the stream of an audience, at the number of its latest change.
pub(crate) fn notice_entry(stream: &str, place: u64) -> Key {
    Key::new(stream.to_owned(), notice_place(place))
}

pub(crate) fn notice_place(place: u64) -> String {
    format!("{place:012}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::Subject;

    const DESIGN: &str = "
company         co#040g2081040g2081040g2081040g2081 / profile
design          co#040g2081040g2081040g2081040g2081 / design
rnc             rnc#131880681 / owner
listed company  cl#10 / 131880681#040g2081040g2081040g2081040g2081
signup          su#0404040404040404040404040404040404040404040404040404040404040404 / signup
api key         key#0505050505050505050505050505050505050505050505050505050505050505 / key
listed api key  co#040g2081040g2081040g2081040g2081 / key#0c1g60r30c1g60r30c1g60r30c1g60r3
key use         ku#040g2081040g2081040g2081040g2081 / 0c1g60r30c1g60r30c1g60r30c1g60r3
certificate     co#040g2081040g2081040g2081040g2081 / cert#g6fkvfhsysck36b4dd71de78kmgsntdr
ranges version  seq#040g2081040g2081040g2081040g2081#testecf / 31
range           seq#040g2081040g2081040g2081040g2081#testecf / 31#0000000001
receipt         r#040g2081040g2081040g2081040g2081#testecf#5f75fzh08rqpf0gnfhx8zw6x4tfqbs2m / r
e-NCF lock      n#040g2081040g2081040g2081040g2081#testecf#31#03 / 0000000035
list            040g2081040g2081040g2081040g2081#testecf#20261127 / 1795833000500#5f75fzh0
due             due#3 / 2026-11-28T02:30:00.500Z
due range       due#seq#1 / 2026-11-28T02:30:00.500Z
external        040g2081040g2081040g2081040g2081#testecf#SO-1 / 1795833000500
track           040g2081040g2081040g2081040g2081#testecf#track-1 / 1795833000500
counter         cnt#040g2081040g2081040g2081040g2081#testecf / 20261127
month           cm#040g2081040g2081040g2081040g2081#testecf / 202611
closing         cd#040g2081040g2081040g2081040g2081#testecf / closed
late change     cd#040g2081040g2081040g2081040g2081#testecf / 20261127
due day         due#day#1 / 2026-11-28T02:30:00.500Z
webhook         wh#040g2081040g2081040g2081040g2081#testecf / hook#081040g2081040g2081040g2081040g2
webhook count   wh#040g2081040g2081040g2081040g2081#testecf / count
delivery        wd#040g2081040g2081040g2081040g2081#testecf#081040g2081040g2081040g2081040g2 / 7355731970052063
undelivered     wu#040g2081040g2081040g2081040g2081#testecf#081040g2081040g2081040g2081040g2 / 1795833000500#receipt#5f75fzh08rqpf0gnfhx8zw6x4tfqbs2m
announcement    an#040g2081040g2081040g2081040g2081#testecf#n6z2zw9bx3k19tbk5hpwyr3gvjwt2abc / an
unclaimed P12   uc#040g2081040g2081040g2081040g2081#testecf / p12
contingency     ct#testecf / 040g2081040g2081040g2081040g2081
inbox           in#040g2081040g2081040g2081040g2081#testecf / 06h1zz7j6g0xssbt5tkpr4nec00yvxgf
inbox, unread   iu#040g2081040g2081040g2081040g2081#testecf / 06h1zz7j6g0xssbt5tkpr4nec00yvxgf
inbox, acked    ia#040g2081040g2081040g2081040g2081#testecf / 06h1zz7j6g0xssbt5tkpr4nec00yvxgf
received        il#040g2081040g2081040g2081040g2081#testecf#130000001 / E310000000035
received copy   ic#040g2081040g2081040g2081040g2081#testecf#130000001#E310000000035 / 1a2fc26dc7ea5a2a4748b7cb2b1ef193d96ab2c99f93092f69e63075b28d1278
approval        ap#040g2081040g2081040g2081040g2081#testecf#k4dwz2d6mn77405d14caw5br1vggmeb7 / ap
approval listed al#040g2081040g2081040g2081040g2081#testecf / 1795833000500#k4dwz2d6mn77405d14caw5br1vggmeb7
given answer    aa#040g2081040g2081040g2081040g2081#testecf#130000001 / E310000000035
attempt         ca#040g2081040g2081040g2081040g2081#testecf / 000002
run             rn#040g2081040g2081040g2081040g2081#testecf / 9eeqg1x22ygsrrh6cm7j2j0e0kxwskkx
newest run      rn#040g2081040g2081040g2081040g2081#testecf / newest
annulment       av#040g2081040g2081040g2081040g2081#testecf#dhbayfk6c64sy4dhxknm91eqrdh5cap1 / av
used seed       seed#09090909090909090909090909090909 / seed
token           tok#0606060606060606060606060606060606060606060606060606060606060606#ecf / token
breaker         ta#testecf / host#fc
status          ta#ecf / status
status check    ta#status / check
directory       dir#testecf#131880681 / entry
invitation      inv#0808080808080808080808080808080808080808080808080808080808080808 / invitation
rate_windows    turn#signup#0909090909090909090909090909090909090909090909090909090909090909 / 1795833000
notice          no#0g2081040g2081040g2081040g208104 / notice
notice number   no#number / number
notice for all  nf#all / 000000000007
notice for env  nf#testecf / 000000000007
notice for one  nf#040g2081040g2081040g2081040g2081 / 000000000007
";

    /// The single-table design on one page. A change here is a migration.
    #[test]
    fn the_whole_key_design_fits_on_one_page() {
        let company_id = CompanyId::from_random([1; 20]);
        let owner = Scope {
            company: company_id,
            environment: Environment::TesteCF,
        };
        let receipt_id = ReceiptId::of(ReceiptId::RECEIPT, &company_id, Environment::TesteCF, "order-1");
        let webhook_id = WebhookId::from_random([2; 20]);
        let key_id = ApiKeyId::from_random([3; 20]);
        let encf: Encf = "E310000000035".parse().unwrap();
        let at: Timestamp = "2026-11-28T02:30:00.5Z".parse().unwrap();
        let today = fiscal_day(at);
        let sender: Rnc = "130000001".parse().unwrap();
        let inbox_id = InboxId::new(at, &owner, &sender, &encf, &ContentHash::of(b"signature"));
        let page = [
            ("company", company(&company_id).to_string()),
            ("design", design(&company_id).to_string()),
            ("rnc", rnc("131880681").to_string()),
            (
                "listed company",
                listed_company(&"131880681".parse().unwrap(), &company_id).to_string(),
            ),
            ("signup", signup(&[4; 32]).to_string()),
            ("api key", api_key(&[5; 32]).to_string()),
            ("listed api key", listed_api_key(&company_id, &key_id).to_string()),
            ("key use", key_use(&company_id, &key_id).to_string()),
            (
                "certificate",
                certificate(&company_id, &CertificateId::of(&company_id, &[7; 32])).to_string(),
            ),
            (
                "ranges version",
                ranges_version(&owner, encf.receipt_type()).to_string(),
            ),
            ("range", range(&owner, encf.receipt_type(), 1).to_string()),
            ("receipt", receipt(&owner, &receipt_id).to_string()),
            ("e-NCF lock", encf_lock(&owner, &encf).to_string()),
            (
                "list",
                format!("{} / {}", list_partition(&owner, today), list_sort(at, &receipt_id)),
            ),
            ("due", format!("{} / {}", due_partition(3), due_sort(at))),
            ("due range", format!("{} / {}", due_ranges_partition(1), due_sort(at))),
            (
                "external",
                format!("{} / {}", external_partition(&owner, "SO-1"), millis_sort(at)),
            ),
            (
                "track",
                format!("{} / {}", track_partition(&owner, "track-1"), millis_sort(at)),
            ),
            ("counter", counter(&owner, today).to_string()),
            ("month", month(&owner, today).to_string()),
            ("closing", closing(&owner).to_string()),
            ("late change", late_change(&owner, today).to_string()),
            ("due day", format!("{} / {}", due_days_partition(1), due_sort(at))),
            ("webhook", webhook(&owner, &webhook_id).to_string()),
            ("webhook count", webhook_count(&owner).to_string()),
            (
                "delivery",
                delivery(
                    &owner,
                    &webhook_id,
                    DeliveryId::new(at.as_millisecond(), &webhook_id, "accepted", 1),
                )
                .to_string(),
            ),
            (
                "undelivered",
                undelivered(&owner, &webhook_id, &EventKey::new(at, Subject::Receipt(receipt_id))).to_string(),
            ),
            (
                "announcement",
                announcement(&owner, &AnnouncementId::of(&owner, "sequence.low", "31/1/100")).to_string(),
            ),
            ("unclaimed P12", unclaimed_p12(&owner).to_string()),
            ("contingency", contingency(&owner).to_string()),
            ("inbox", inbox_item(&owner, InboxList::All, &inbox_id).to_string()),
            (
                "inbox, unread",
                inbox_item(&owner, InboxList::Unread, &inbox_id).to_string(),
            ),
            (
                "inbox, acked",
                inbox_item(&owner, InboxList::Acked, &inbox_id).to_string(),
            ),
            ("received", received_lock(&owner, &sender, &encf).to_string()),
            (
                "received copy",
                received_copy(&owner, &sender, &encf, &ContentHash::of(b"signature")).to_string(),
            ),
            (
                "approval",
                approval(&owner, &ApprovalId::of("submit", &owner, "answer-1")).to_string(),
            ),
            (
                "approval listed",
                listed_approval(&owner, at, &ApprovalId::of("submit", &owner, "answer-1")).to_string(),
            ),
            ("given answer", given_answer(&owner, &sender, &encf).to_string()),
            ("attempt", attempt(&owner, 2).to_string()),
            ("run", run(&owner, &RunId::of(&owner, "run-1")).to_string()),
            ("newest run", newest_run(&owner).to_string()),
            (
                "annulment",
                annulment(&owner, &AnnulmentId::of(&owner, "void-1")).to_string(),
            ),
            ("used seed", used_seed(&[9; 16]).to_string()),
            ("token", token(&[6; 32], Environment::Ecf).to_string()),
            ("breaker", breaker(Environment::TesteCF, Host::Fc).to_string()),
            ("status", authority_status(Environment::Ecf).to_string()),
            ("status check", status_check().to_string()),
            (
                "directory",
                directory(Environment::TesteCF, &"131880681".parse().unwrap()).to_string(),
            ),
            ("invitation", invitation(&[8; 32]).to_string()),
            (
                "rate_windows",
                rate_windows("signup", &[9; 32], at.as_second()).to_string(),
            ),
            ("notice", notice(&NoticeId::from_random([4; 20])).to_string()),
            ("notice number", notice_number().to_string()),
            ("notice for all", notice_entry(&notices_of_all(), 7).to_string()),
            (
                "notice for env",
                notice_entry(&notices_of_environment(Environment::TesteCF), 7).to_string(),
            ),
            (
                "notice for one",
                notice_entry(&notices_of_company(&company_id), 7).to_string(),
            ),
        ]
        .map(|(what, key)| format!("{what:<15} {key}"))
        .join("\n");
        assert_eq!(page, DESIGN.trim(), "\n{page}\n");
    }

    #[test]
    fn a_receipts_partition_key_reads_back() {
        let owner = Scope {
            company: CompanyId::from_random([1; 20]),
            environment: Environment::Ecf,
        };
        let id = ReceiptId::of(ReceiptId::RECEIPT, &owner.company, owner.environment, "order-1");
        let read = |pk: &str| parts::<ReceiptId>(RECEIPT, pk);
        assert_eq!(read(&receipt(&owner, &id).pk).unwrap(), (owner, id));
        assert!(read("co#1").is_err());
        let other = announcement(&owner, &AnnouncementId::of(&owner, "sequence.low", "31"));
        assert!(read(&other.pk).is_err());
        assert_eq!(ending_scope(&webhooks_partition(&owner)).unwrap(), owner);
        assert_eq!(ending_scope(&unclaimed_p12(&owner).pk).unwrap(), owner);
        assert!(ending_scope("wh#1").is_err());
    }

    #[test]
    fn a_listed_companys_key_reads_back_and_rncs_are_spread_evenly() {
        let id = CompanyId::from_random([1; 20]);
        let key = listed_company(&"131880681".parse().unwrap(), &id);
        assert_eq!(listed_company_id(&key.sk), Some(id));
        assert_eq!(listed_company_id("131880681"), None);
        assert_eq!(company_of(&company(&id).pk), Some(id));
        let mut partitions = [0; COMPANY_LIST_PARTITIONS as usize];
        for number in 0..1_600 {
            let rnc: Rnc = format!("131{number:06}").parse().unwrap();
            partitions[usize::from(company_list_partition(&rnc))] += 1;
        }
        assert!(
            partitions.iter().all(|count| (50..=200).contains(count)),
            "{partitions:?}"
        );
    }

    #[test]
    fn a_ranges_keys_read_back() {
        let owner = Scope {
            company: CompanyId::from_random([1; 20]),
            environment: Environment::CerteCF,
        };
        let key = range(&owner, ReceiptType::E34, 77);
        assert_eq!(ranges_scope(&key.pk).unwrap(), owner);
        assert_eq!(range_parts(&key.sk), Some((ReceiptType::E34, 77)));
        assert_eq!(range_parts(&ranges_version(&owner, ReceiptType::E34).sk), None);
        assert!(ranges_scope("r#1").is_err());
    }

    #[test]
    fn a_day_ends_at_midnight_of_the_authority() {
        assert_eq!(day(fiscal_day("2026-11-28T03:59:59Z".parse().unwrap())), "20261127");
        assert_eq!(day(fiscal_day("2026-11-28T04:00:00Z".parse().unwrap())), "20261128");
        let end = end_of_day("2026-11-27".parse().unwrap());
        assert_eq!(end, "2026-11-28T04:00:00Z".parse().unwrap());
    }
}
