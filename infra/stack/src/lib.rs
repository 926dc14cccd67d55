//! Reads the deployment's template and creates its resources without CloudFormation.
//!
//! `template.yaml` and its nested stacks are the only description of tables, queues, bucket, secrets, routes, schedules
//! and environment variables. [`Stack::read`] parses them into a typed model. [`Stack::provision`] creates the
//! resources with the AWS SDK on the endpoint of its configuration, so the local system and the tests run what would be
//! deployed.
//!
//! An unsupported construct is an error that names file, resource and property: a silently ignored one would make the
//! local system differ from the deployed one. Known properties without effect here (encryption keys, log groups,
//! alarms, roles…) are listed where they are read, in [`model`](crate::model).
//!
//! Start reading at [`Stack`]; `evaluate` resolves intrinsic functions, `load` reads the nested stacks.

mod error;
mod evaluate;
mod load;
mod model;
mod provision;
mod text;

use std::{collections::BTreeMap, path::Path};

use crate::load::Source;
pub use crate::{
    error::{Place, StackError},
    model::{
        api::{Api, GatewayResponse},
        function::{Function, QueueSource, Route, Schedule},
        queue::{Queue, Redrive},
        secret::{Generate, Secret},
        table::{Attribute, BillingMode, Index, KeyAttribute, Projection, Table, TimeToLive},
    },
    provision::{ProvisionError, Provisioned},
    text::Text,
};

/// The resources of a template that the local system creates.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Stack {
    /// DynamoDB tables.
    pub tables: Vec<Table>,
    /// SQS queues, dead-letter queues included.
    pub queues: Vec<Queue>,
    /// Logical ids of the S3 buckets.
    pub buckets: Vec<String>,
    /// Logical ids of the KMS keys. They encrypt nothing here; other resources refer to their ARNs.
    pub keys: Vec<String>,
    /// Secrets that the template generates.
    pub secrets: Vec<Secret>,
    /// Lambda functions with their triggers.
    pub functions: Vec<Function>,
    /// The REST API.
    pub api: Api,
}

impl Stack {
    /// Reads `template.yaml` in `folder` and its nested stacks; `parameters` override the template's defaults.
    ///
    /// # Errors
    ///
    /// When a file is missing or not valid YAML, a construct is not supported, or a parameter is unknown or has a value
    /// that is not allowed.
    pub fn read(folder: &Path, parameters: BTreeMap<String, String>) -> Result<Self, StackError> {
        load::stack(&Source::Folder(folder.to_owned()), parameters)
    }

    /// Reads the template that is compiled into this program, which can therefore start in any folder.
    ///
    /// # Errors
    ///
    /// As [`Stack::read`].
    pub fn embedded(parameters: BTreeMap<String, String>) -> Result<Self, StackError> {
        load::stack(&Source::Embedded, parameters)
    }

    /// The function with this crate name.
    pub fn function(&self, name: &str) -> Option<&Function> {
        self.functions.iter().find(|function| function.name == name)
    }

    /// The queue with this logical id.
    pub fn queue(&self, logical_id: &str) -> Option<&Queue> {
        self.queues.iter().find(|queue| queue.logical_id == logical_id)
    }

    /// Creates tables, queues, buckets and secrets, with names that begin with `prefix` (the stack's name). Existing
    /// resources and their content stay unchanged.
    ///
    /// # Errors
    ///
    /// When a call fails, or a table exists with other keys or indexes than the template's.
    pub async fn provision(&self, config: &aws_config::SdkConfig, prefix: &str) -> Result<Provisioned, ProvisionError> {
        provision::provision(self, config, prefix).await
    }
}
