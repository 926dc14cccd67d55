//! The commands, and the modules that execute them.

use ecf::{Environment, ReceiptType, Rnc};
use ecf_store::{ApiKeyId, CompanyId, NoticeId, ReceiptId, Scope, api_keys::KeyScope};
use jiff::Timestamp;
use jiff::civil::Date;
use serde::Deserialize;
use serde_json::Value;

use crate::check::{self, Check};
use crate::ending::{self, ListCertificates, ListRanges};
use crate::evidence::{self, ExportEvidence};
use crate::finding::{self, FindReceipts};
use crate::health::{self, ListWebhooks};
use crate::invitations::{self, NewInvitation};
use crate::lists::{self, FillInLists};
use crate::notices::{self, ChangedNotice, NewNotice};
use crate::receipts::Resolution;
use crate::register::{self, LoadRegister};
use crate::secrets::{self, CheckSecrets};
use crate::stuck::{self, FindStuck};
use crate::walk::{self, FillInCompanies, ListCompanies};
use crate::{App, OperatorError, companies, letters, receipts};

/// A command of an operator.
#[derive(Debug, Deserialize)]
#[serde(tag = "command", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Command {
    ListCompanies(ListCompanies),
    FillInCompanies(FillInCompanies),
    ExamineCompany {
        company: CompanyId,
        /// Default: the company's own default.
        environment: Option<Environment>,
    },
    CreateCompany(NewCompany),
    ShowCompany {
        company: CompanyId,
    },
    ActivateCompany {
        company: CompanyId,
    },
    DeactivateCompany {
        company: CompanyId,
    },
    VerifyCompany {
        company: CompanyId,
    },
    IssueApiKey {
        company: CompanyId,
        environment: Environment,
        /// Default: `full`.
        #[serde(default)]
        scope: KeyScope,
        expires_at: Option<Timestamp>,
    },
    ListApiKeys {
        company: CompanyId,
    },
    RevokeApiKey {
        company: CompanyId,
        key: ApiKeyId,
        /// Whether to revoke the keys that descend from it too.
        #[serde(default)]
        descendants: bool,
    },
    LimitApiKey {
        company: CompanyId,
        key: ApiKeyId,
        /// `None` restores the deployment's limit.
        requests_per_second: Option<u32>,
    },
    FindApiKey {
        /// SHA-256 of the key.
        sha256: String,
    },
    CreateRange(NewRange),
    ListRanges(ListRanges),
    ListCertificates(ListCertificates),
    ListWebhooks(ListWebhooks),
    FindReceipts(FindReceipts),
    FindStuck(FindStuck),
    ShowAuthority {},
    ShowReceipt(OneReceipt),
    RequeueReceipt(OneReceipt),
    RetryFailed(OneReceipt),
    ResolveOutcome {
        company: CompanyId,
        environment: Environment,
        receipt: ReceiptId,
        outcome: Resolution,
    },
    ListDeadLetters {
        /// Shows some of its messages too.
        queue: Option<String>,
    },
    ReplayDeadLetters {
        queue: String,
        limit: Option<usize>,
    },
    Check(Check),
    CheckSecrets(CheckSecrets),
    ExportEvidence(ExportEvidence),
    FillInLists(FillInLists),
    LoadRegister(LoadRegister),
    ShowRegister {},
    CreateInvitation(NewInvitation),
    RevokeInvitation {
        code: String,
    },
    DraftNotice(NewNotice),
    ShowNotice {
        notice: NoticeId,
    },
    PublishNotice {
        notice: NoticeId,
    },
    UpdateNotice(ChangedNotice),
    ResolveNotice {
        notice: NoticeId,
        note: Option<String>,
    },
    WithdrawNotice {
        notice: NoticeId,
    },
}

/// A receipt of a company's environment.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OneReceipt {
    company: CompanyId,
    environment: Environment,
    pub(crate) receipt: ReceiptId,
}

impl OneReceipt {
    pub(crate) fn scope(&self) -> Scope {
        Scope {
            company: self.company,
            environment: self.environment,
        }
    }
}

/// A company to create. It uploads its certificate itself.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewCompany {
    pub(crate) rnc: Rnc,
    pub(crate) name: String,
    pub(crate) email: String,
    pub(crate) trade_name: Option<String>,
    pub(crate) address: Option<String>,
    pub(crate) phone: Option<String>,
    pub(crate) environment: Environment,
    /// Whether the operator has verified that the company is the taxpayer.
    #[serde(default)]
    pub(crate) verified: bool,
}

/// A number range to open.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewRange {
    pub(crate) company: CompanyId,
    pub(crate) environment: Environment,
    pub(crate) ecf_type: ReceiptType,
    pub(crate) range_start: u64,
    pub(crate) range_end: u64,
    pub(crate) valid_until: Option<Date>,
    pub(crate) numbering: Option<NumberedBy>,
}

/// Who numbers a range. By default its first use decides.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum NumberedBy {
    Service,
    Caller,
}

impl Command {
    /// The command's name, for the log; its members may be personal data.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::ListCompanies(_) => "list_companies",
            Self::FillInCompanies(_) => "fill_in_companies",
            Self::ExamineCompany { .. } => "examine_company",
            Self::CreateCompany(_) => "create_company",
            Self::ShowCompany { .. } => "show_company",
            Self::ActivateCompany { .. } => "activate_company",
            Self::DeactivateCompany { .. } => "deactivate_company",
            Self::VerifyCompany { .. } => "verify_company",
            Self::IssueApiKey { .. } => "issue_api_key",
            Self::ListApiKeys { .. } => "list_api_keys",
            Self::RevokeApiKey { .. } => "revoke_api_key",
            Self::LimitApiKey { .. } => "limit_api_key",
            Self::FindApiKey { .. } => "find_api_key",
            Self::CreateRange(_) => "create_range",
            Self::ListRanges(_) => "list_ranges",
            Self::ListCertificates(_) => "list_certificates",
            Self::ListWebhooks(_) => "list_webhooks",
            Self::FindReceipts(_) => "find_receipts",
            Self::FindStuck(_) => "find_stuck",
            Self::ShowAuthority {} => "show_authority",
            Self::ShowReceipt(_) => "show_receipt",
            Self::RequeueReceipt(_) => "requeue_receipt",
            Self::RetryFailed(_) => "retry_failed",
            Self::ResolveOutcome { .. } => "resolve_outcome",
            Self::ListDeadLetters { .. } => "list_dead_letters",
            Self::ReplayDeadLetters { .. } => "replay_dead_letters",
            Self::Check(_) => "check",
            Self::CheckSecrets(_) => "check_secrets",
            Self::ExportEvidence(_) => "export_evidence",
            Self::FillInLists(_) => "fill_in_lists",
            Self::LoadRegister(_) => "load_register",
            Self::ShowRegister {} => "show_register",
            Self::CreateInvitation(_) => "create_invitation",
            Self::RevokeInvitation { .. } => "revoke_invitation",
            Self::DraftNotice(_) => "draft_notice",
            Self::ShowNotice { .. } => "show_notice",
            Self::PublishNotice { .. } => "publish_notice",
            Self::UpdateNotice(_) => "update_notice",
            Self::ResolveNotice { .. } => "resolve_notice",
            Self::WithdrawNotice { .. } => "withdraw_notice",
        }
    }

    pub(crate) async fn run(self, app: &App) -> Result<Value, OperatorError> {
        match self {
            Self::ListCompanies(command) => walk::list(app, command).await,
            Self::FillInCompanies(command) => walk::fill_in(app, command).await,
            Self::ExamineCompany { company, environment } => health::examine(app, &company, environment).await,
            Self::CreateCompany(new) => companies::create(app, new).await,
            Self::ShowCompany { company } => companies::show(app, &company).await,
            Self::ActivateCompany { company } => companies::activate(app, &company).await,
            Self::DeactivateCompany { company } => companies::deactivate(app, &company).await,
            Self::VerifyCompany { company } => companies::verify(app, &company).await,
            Self::IssueApiKey {
                company,
                environment,
                scope,
                expires_at,
            } => companies::issue_key(app, &company, environment, scope, expires_at).await,
            Self::ListApiKeys { company } => companies::list_keys(app, &company).await,
            Self::RevokeApiKey {
                company,
                key,
                descendants,
            } => companies::revoke_key(app, &company, &key, descendants).await,
            Self::LimitApiKey {
                company,
                key,
                requests_per_second,
            } => companies::limit_key(app, &company, &key, requests_per_second).await,
            Self::FindApiKey { sha256 } => companies::find_key(app, &sha256).await,
            Self::ListRanges(command) => ending::ranges(app, command).await,
            Self::ListCertificates(command) => ending::certificates(app, command).await,
            Self::ListWebhooks(command) => health::webhooks(app, command).await,
            Self::FindReceipts(command) => finding::find(app, command).await,
            Self::FindStuck(command) => stuck::find(app, command).await,
            Self::ShowAuthority {} => health::authority(app).await,
            Self::CreateRange(new) => companies::open_range(app, new).await,
            Self::ShowReceipt(one) => receipts::show(app, &one).await,
            Self::RequeueReceipt(one) => receipts::requeue(app, &one).await,
            Self::RetryFailed(one) => receipts::retry(app, &one).await,
            Self::ResolveOutcome {
                company,
                environment,
                receipt,
                outcome,
            } => {
                let one = OneReceipt {
                    company,
                    environment,
                    receipt,
                };
                receipts::resolve(app, &one, outcome).await
            }
            Self::ListDeadLetters { queue } => letters::list(app, queue.as_deref()).await,
            Self::ReplayDeadLetters { queue, limit } => letters::replay(app, &queue, limit).await,
            Self::Check(command) => check::run(app, command).await,
            Self::CheckSecrets(command) => secrets::check(app, command).await,
            Self::ExportEvidence(command) => evidence::export(app, command).await,
            Self::FillInLists(command) => lists::fill_in(app, command).await,
            Self::LoadRegister(command) => register::load(app, command).await,
            Self::ShowRegister {} => register::show(app).await,
            Self::CreateInvitation(new) => invitations::create(app, new).await,
            Self::RevokeInvitation { code } => invitations::revoke(app, &code).await,
            Self::DraftNotice(new) => notices::draft(app, new).await,
            Self::ShowNotice { notice } => notices::show(app, &notice).await,
            Self::PublishNotice { notice } => notices::publish(app, &notice).await,
            Self::UpdateNotice(changed) => notices::update(app, changed).await,
            Self::ResolveNotice { notice, note } => notices::resolve(app, &notice, note).await,
            Self::WithdrawNotice { notice } => notices::withdraw(app, &notice).await,
        }
    }
}
