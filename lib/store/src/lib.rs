//! The store: DynamoDB, S3, Secrets Manager and SQS behind methods of the domain.
//!
//! [`Table`] stores records, [`Artifacts`] documents, [`Register`] the taxpayers, [`Exports`] archives, [`Vault`]
//! secrets, [`Queues`] jobs. Every method on a company's data takes its [`Scope`] (or company) first. The time is an
//! argument. Start reading at `table/keys.rs`, which builds every key.
//!
//! | need | method | key or index | cost |
//! |---|---|---|---|
//! | API key → company and environment | [`Table::api_key_by_hash`] | `key#{sha256}` | ½ read |
//! | API keys of a company | [`Table::api_keys`], [`Table::api_key`] | `co#{company}` / `key#{id}` | by page, 1 read |
//! | last use of API keys | [`Table::record_key_use`], [`Table::key_uses`] | `ku#{company}` / `{id}`; `cnt#…` | 1 write an hour, by page |
//! | replay check, receipt by id | [`Table::receipt`] | `r#{company}#{env}#{id}` | 1 read |
//! | next number of a range | [`Table::take_next_number`] | `seq#{company}#{env}` / `{type}#{start}` | ½ read, 1 write |
//! | ranges; opening, changing | [`Table::ranges`], [`Table::open_range`], [`Table::change_range`] | `seq#{company}#{env}` | by page; 4 writes |
//! | counting a number that the caller chose | [`Table::count_callers_number`] | `seq#…` | 1 write |
//! | the same count, from the locks | [`Table::used_numbers_of`], [`Table::correct_used_numbers`] | `n#…`, then the range | 32 queries, 1 write |
//! | due ranges | [`Table::due_numbers`] | `due#seq#{shard}` / time | by page |
//! | freeing dead numbers of a range | [`Table::free_dead_numbers`] | `n#…`, then the range | 16 queries, 1 write |
//! | a receipt and the lock of its number | [`Table::create_receipt`] | receipt + `n#…` | 4 writes + 2 or 3 index |
//! | balance of a note's original | [`Table::modified_receipt`] | lock, then receipt | 2 reads |
//! | a note, and its reservation | [`Table::create_receipt`] | and the original's lock | 2 writes more |
//! | the end of a note, with its settlement | [`Table::record_verdict`] | receipt + the original's lock | 5 writes + 2 index |
//! | claim before a send | [`Table::claim_send`] | receipt | 1 write |
//! | holding, while the authority is out of reach | [`Table::hold`] | receipt; `due`, `list` | 1 write + 2 index, then 1 + 1 |
//! | track id | [`Table::record_submitted`] | receipt; `track`, `list` | 1 write + 2 index |
//! | verdict and outbox | [`Table::record_verdict`] | receipt; `list` | 1 write + 1 index |
//! | outbox entry done | [`Table::outbox_done`], [`Table::webhooks_notified`] | receipt; `due` | 1 write + 1 index |
//! | a webhook accepted the verdict on a retry | [`Table::record_notified`] | receipt | 1 write |
//! | cancel, incapacity | [`Table::withdraw`] | receipt; `list`, `due` | 1 write + 2 index |
//! | an operator's retry, or decision about a lost send | [`Table::retry_failed`], [`Table::resolve_outcome`] | receipt; `list`, `due`, `track` | 1 write + 2 index |
//! | consistency check | [`Table::locks`], [`Table::receipts_of_day`], [`Table::correct_counts`] | `n#…`; `list`; `cnt#…` | by page |
//! | receipt by e-NCF | [`Table::receipt_by_encf`] | lock, then receipt | 2 reads |
//! | receipt by `external_id`, track id | [`Table::receipt_by_external_id`], [`Table::receipt_by_track_id`] | `external`, `track` | 1½ reads |
//! | receipts newest first | [`Table::receipts_newest`] | `list`: `{company}#{env}#{day}` | by page |
//! | a page of receipts, filtered, with the total | [`Table::list_receipts`] | counters, `list`, receipts | by page |
//! | all with an `external_id` | [`Table::receipts_by_external_id`] | `external`, receipts | by page |
//! | all receipts of a span of time | [`Table::walk_receipts`] | `list`, receipts, by day | by page |
//! | totals | [`Table::day_counts`] | `cnt#{company}#{env}` / `{day}` | by range |
//! | closed days | [`Table::closing`] | `cd#{company}#{env}` | 1 query |
//! | days to close; comparing a day | [`Table::due_days`], [`Table::recount_day`], [`Table::days_closed`] | `due#day#{shard}`; `list`, `cnt#…`, `cm#…`, `cd#…` | by page; 1 write + 2 index |
//! | totals of past months | [`Table::month_counts`] | `cm#{company}#{env}` / `{month}` | by range |
//! | due records | [`Table::due_now`] | `due#{shard}` / time | by page |
//! | subscriptions of a company | [`Table::webhooks`] | `wh#{company}#{env}` | by page |
//! | attempts of a webhook | [`Table::deliveries`] | `wd#{company}#{env}#{webhook}` / id | by page |
//! | undelivered events of a webhook | [`Table::undelivered`], [`Table::undelivered_of`] | `wu#{company}#{env}#{webhook}` / event | 2 writes + 2 index an attempt |
//! | an announcement | [`Table::create_announcement`], [`Table::undelivered_announcement`] | `an#{company}#{env}#{id}` | 1 write + 1 index, 1 read |
//! | a received receipt, with its announcement | [`Table::store_received`] | `in#…`, `iu#…`, `il#…`, `an#…` | 8 writes + 1 index |
//! | was it received before? | [`Table::was_received`] | `il#{company}#{env}#{rnc}` / e-NCF | 1 read |
//! | inbox: all, unread or acknowledged | [`Table::inbox`], [`Table::inbox_item`] | `in#…`, `iu#…`, `ia#…` / id | by page, 1 read |
//! | all receipts received in a span of time | [`Table::walk_inbox`], [`Table::count_inbox`] | `in#…` / id | by page |
//! | acknowledgement by the ERP | [`Table::ack_inbox_item`] | `in#…`, `iu#…`, `ia#…` | 6 writes |
//! | a buyer's answer to a receipt | [`Table::record_buyer_answer`] | receipt; `an#…` | 4 writes + 1 index |
//! | a delivery attempt to the buyer, its end | [`Table::claim_delivery`], [`Table::end_delivery`] | receipt; `due` | 1 write + 1 index; 2 writes + 1 index |
//! | an approval | [`Table::create_approval`], [`Table::approval`] | `ap#…`, `al#…`, `aa#…` | 6 writes + 1 index, 1 read |
//! | all approvals, all of a span of time | [`Table::approvals`], [`Table::walk_approvals`] | `al#…`, then `ap#…` | by page |
//! | attempts of the certification | [`Table::begin_attempt`], [`Table::is_of_earlier_attempt`] | `ca#{company}#{env}` / number | 1 write, 1 read in CerteCF |
//! | a run of the certification | [`Table::begin_run`], [`Table::run`], [`Table::runs`] | `rn#{company}#{env}` / id | 4 or 6 writes + 1 index, 1 read, by page |
//! | its next step, with the state of its rows | [`Table::advance_run`], [`Table::receipts_by_ids`], [`Table::approvals_by_ids`] | `rn#…`; receipts, `ap#…` | 1 write + 1 index; ½ read a row |
//! | our answer to a receipt | [`Table::given_answer`] | `aa#{company}#{env}#{rnc}` / e-NCF | 1 read; pages in batches |
//! | annulled numbers | [`Table::create_annulment`], [`Table::take_annulled_numbers`] | `av#…`; `n#…` | 2 writes a number |
//! | single use of a seed | [`Table::use_seed`] | `seed#{nonce}` | 1 write |
//! | the authority's token | [`Table::token`] | `tok#{certificate}#{env}` | 1 read |
//! | condition of the authority | [`Table::condition`] | `ta#{env}`: breakers, status | ½ read, per process and seconds |
//! | a notice | [`Table::notice_for`], [`Table::change_notice`] | `no#{id}`; entries in `nf#…` | 1 read; 3 writes and 2 an audience |
//! | notices after a number | [`Table::notice_events`] | `nf#{company}`, `nf#{env}`, `nf#all` / number | 1 read, 3 queries |
//! | directory entry of a taxpayer | [`Table::directory_listing`] | `dir#{env}#{rnc}` | ½ read, and 1 write in hours |
//! | company, owner of an RNC | [`Table::company`], [`Table::company_by_rnc`] | `co#{company}`, `rnc#{rnc}` | 1 read, ½ read |
//! | list of all companies; companies by RNC | [`Table::companies`], [`Table::companies_by_rnc`] | `cl#{partition}` / `{rnc}#{company}` | by page |
//! | listing older companies | [`Table::fill_in_companies`] | a scan, by the operator | ½ read for 4 KB, 1 write a company |
//! | everything with a next step | [`Table::walk_due`], [`Table::receipts_of_all`] | `due#{shard}`, receipts | by page |
//! | a company's settings, cached | [`Profiles::of`] | `co#{company}` | 1 read a minute |
//! | a changed profile | [`Table::update_company`] | `co#{company}` | 1 write |
//! | a company's additions to its prints | [`Table::design`], [`Table::change_design`] | `co#{company}` / `design` | 1 read, 1 write |
//! | certificates of a company | [`Table::certificates`], [`Table::activate_certificate`] | `co#{company}` / `cert#{id}` | by page; 4 writes |
//! | a P12 without its company | [`Table::record_unclaimed_p12`], [`Table::drop_unclaimed_p12`] | `uc#{company}#{env}` | 1 write + 1 index each |
//! | a company whose receipts are held | [`Table::begin_contingency`], [`Table::contingencies`], [`Table::end_contingency`] | `ct#{env}` / company | 1 write each, by page |
//! | an invitation | [`Table::invitation_is_good`], [`Table::create_company`] | `inv#{sha256}` | 1 read, 2 writes |
//! | rate limit of an address | [`Table::count_request`] | `turn#{limit}#{sha256}` / window | 1 write |
//! | a repeated sign-up | [`Table::signup`] | `su#{sha256}` | 1 read |

#![warn(clippy::float_arithmetic)]
#![cfg_attr(test, expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test"))]

mod artifacts;
mod certificate_file;
mod clients;
mod dead_letters;
mod error;
pub mod exports;
mod foreign;
mod identities;
mod ids;
mod jobs;
mod next;
mod operator_secret;
mod profiles;
mod queues;
mod recent;
pub mod register;
mod settings;
mod table;
pub mod vault;
pub mod waits;

pub use artifacts::{ArtifactKind, Artifacts, ContentHash, LINK_LIFE};
pub use certificate_file::CertificateFile;
pub use clients::{Clients, local_config};
pub use dead_letters::{DeadLetter, DeadLetters};
pub use error::StoreError;
pub use exports::Exports;
pub use foreign::{ForeignText, Words};
pub use identities::{IDENTITY_MAX_AGE, Identities, certificate_summary};
pub use ids::{
    AnnouncementId, AnnulmentId, ApiKeyId, ApprovalId, CertificateId, CompanyId, DeliveryId, EventKey, IdError,
    InboxId, NoticeId, ReceiptId, RunId, Scope, Subject, WebhookId,
};
pub use jobs::{CertificationJob, ExchangeJob, IssuingJob, ReceiptJob, SubmissionJob, WebhookJob};
pub use next::NextStep;
pub use operator_secret::{CachedSecret, OperatorSecret};
pub use profiles::Profiles;
pub use queues::{JobQueue, LONGEST_DELAY, QueueUrls, Queues, SubmissionUrls};
pub use recent::Recent;
pub use register::Register;
pub use settings::stamp_hosts;
pub use table::{
    FieldEdit, Table, announcements, annulments, api_keys, approvals, attempts, audit, authority, breaker,
    certificates, closing, companies, contingencies, counters, deliveries, designs, directory, due, fiscal_day, inbox,
    key_uses, notices, numbers, rate_limits, receipts, receipts::Receipt, runs, tokens, undelivered, webhooks,
};
pub use vault::Vault;
