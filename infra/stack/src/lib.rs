//! The deployment's template, read and carried out without CloudFormation.
//!
//! `template.yaml` and the stacks it nests are the only description of tables, queues, bucket, secrets, routes, schedules and
//! environment variables. [`Stack::read`] turns them into a typed model and [`Stack::provision`] makes the resources with the
//! AWS SDK on whatever endpoint it is given, so the local system and the tests run what would be deployed.
//!
//! What is not understood is an error that names file, resource and property: a construct that were silently left out would
//! make the local system differ from the deployed one. The properties that are known and deliberately have no effect here
//! (encryption keys, log groups, alarms, roles…) are listed where they are read, in [`model`](crate::model).
//!
//! Start with [`Stack`]; `evaluate` resolves intrinsic functions, `load` walks the nested stacks.

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

/// What a template describes, as far as the local system carries it out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Stack {
    /// DynamoDB tables.
    pub tables: Vec<Table>,
    /// SQS queues, dead-letter queues included.
    pub queues: Vec<Queue>,
    /// Logical ids of the S3 buckets.
    pub buckets: Vec<String>,
    /// Logical ids of the KMS keys. Nothing is encrypted with them; what names one does so by an ARN.
    pub keys: Vec<String>,
    /// Secrets that the template itself makes.
    pub secrets: Vec<Secret>,
    /// Lambda functions with everything that triggers them.
    pub functions: Vec<Function>,
    /// The REST API.
    pub api: Api,
}

impl Stack {
    /// Reads `template.yaml` in `folder` and the stacks it nests; `parameters` replace the template's defaults.
    ///
    /// # Errors
    /// When a file is missing or no YAML, a construct is not supported, or a parameter is unknown or has a value that is not allowed.
    pub fn read(folder: &Path, parameters: BTreeMap<String, String>) -> Result<Self, StackError> {
        load::stack(&Source::Folder(folder.to_owned()), parameters)
    }

    /// Reads the template that this program was built with, so that it can be started in any folder.
    ///
    /// # Errors
    /// As [`Stack::read`].
    pub fn embedded(parameters: BTreeMap<String, String>) -> Result<Self, StackError> {
        load::stack(&Source::Embedded, parameters)
    }

    /// The function whose crate has this name.
    pub fn function(&self, name: &str) -> Option<&Function> {
        self.functions.iter().find(|function| function.name == name)
    }

    /// The queue with this logical id.
    pub fn queue(&self, logical_id: &str) -> Option<&Queue> {
        self.queues.iter().find(|queue| queue.logical_id == logical_id)
    }

    /// Makes tables, queues, buckets and secrets, their names beginning with `prefix` (the stack's name). What is there already
    /// is kept, with its contents.
    ///
    /// # Errors
    /// When a call fails, or a table is there with other keys or indexes than the template's.
    pub async fn provision(&self, config: &aws_config::SdkConfig, prefix: &str) -> Result<Provisioned, ProvisionError> {
        provision::provision(self, config, prefix).await
    }
}
