//! The REST API in front of the functions.

use std::collections::BTreeMap;

use crate::{error::StackError, fields::Fields};

/// The REST API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Api {
    /// Its name in the template.
    pub logical_id: String,
    /// The stage that its address ends in.
    pub stage: String,
    /// Media types that are handed over as base64, such as `*/*`.
    pub binary_media_types: Vec<String>,
    /// What the gateway answers by itself, by its own name for the case (`THROTTLED`…).
    pub gateway_responses: BTreeMap<String, GatewayResponse>,
}

/// An answer of the gateway itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GatewayResponse {
    /// Its status, where it differs from the gateway's own.
    pub status: Option<u16>,
    /// Headers, without the quotes that the template needs.
    pub headers: BTreeMap<String, String>,
    /// Its JSON body; `$context.error.messageString` stands for the gateway's words, quotes included.
    pub body: String,
}

impl Api {
    pub(crate) fn read(logical_id: &str, mut fields: Fields) -> Result<Self, StackError> {
        // One process on loopback needs neither logs, traces, throttling nor a place in the world.
        fields.without_effect(&[
            "AccessLogSetting",
            "DisableExecuteApiEndpoint",
            "EndpointConfiguration",
            "MethodSettings",
            "Name",
            "TracingEnabled",
        ]);
        let binary = fields.list_of_literals("BinaryMediaTypes")?;
        let mut gateway_responses = BTreeMap::new();
        if let Some(responses) = fields.optional_fields("GatewayResponses")? {
            for (name, response) in responses.all_fields()? {
                gateway_responses.insert(name, GatewayResponse::read(response)?);
            }
        }
        let api = Self {
            logical_id: logical_id.to_owned(),
            stage: fields.literal("StageName")?,
            binary_media_types: binary.iter().map(|media_type| media_type.replace("~1", "/")).collect(),
            gateway_responses,
        };
        fields.finish()?;
        Ok(api)
    }
}

impl GatewayResponse {
    fn read(mut fields: Fields) -> Result<Self, StackError> {
        let status = fields.optional_integer("StatusCode")?;
        let mut headers = BTreeMap::new();
        if let Some(mut parameters) = fields.optional_fields("ResponseParameters")? {
            for (name, value) in parameters.fields("Headers")?.all_texts()? {
                headers.insert(name, value.to_string().trim_matches('\'').to_owned());
            }
            parameters.finish()?;
        }
        let mut templates = fields.fields("ResponseTemplates")?;
        let body = templates.literal("application/json")?;
        templates.finish()?;
        fields.finish()?;
        Ok(Self { status, headers, body })
    }
}
