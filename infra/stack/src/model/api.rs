//! The REST API in front of the functions.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};

use super::Properties;
use crate::text::Text;

/// The REST API.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct Api {
    /// The stage, the last segment of the API's URL.
    #[serde(rename = "StageName")]
    pub stage: String,
    /// Media types whose bodies are passed as base64, such as `*/*`.
    #[serde(deserialize_with = "media_types")]
    pub binary_media_types: Vec<String>,
    /// The gateway's own error responses, by the gateway's name for the case (`THROTTLED`…).
    pub gateway_responses: BTreeMap<String, GatewayResponse>,
}

impl Properties for Api {
    /// Logs, traces, throttling and endpoint types have no effect in one process on loopback.
    const WITHOUT_EFFECT: &'static [&'static str] = &[
        "AccessLogSetting",
        "DisableExecuteApiEndpoint",
        "EndpointConfiguration",
        "MethodSettings",
        "Name",
        "TracingEnabled",
    ];
}

/// An error response of the gateway itself.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct GatewayResponse {
    /// Its status, if it differs from the gateway's default.
    #[serde(rename = "StatusCode")]
    pub status: Option<u16>,
    /// Headers, without the quotes that the template requires.
    #[serde(rename = "ResponseParameters", default, deserialize_with = "headers")]
    pub headers: BTreeMap<String, String>,
    /// Its JSON body; `$context.error.messageString` stands for the gateway's message, quotes included.
    #[serde(rename = "ResponseTemplates", deserialize_with = "body")]
    pub body: String,
}

fn media_types<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let types = Vec::<String>::deserialize(deserializer)?;
    Ok(types.iter().map(|media_type| media_type.replace("~1", "/")).collect())
}

fn headers<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(rename_all = "PascalCase", deny_unknown_fields)]
    struct Parameters {
        headers: BTreeMap<String, Text>,
    }
    let headers = Parameters::deserialize(deserializer)?.headers.into_iter();
    let unquoted = headers.map(|(name, text)| (name, text.to_string().trim_matches('\'').to_owned()));
    Ok(unquoted.collect())
}

fn body<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Templates {
        #[serde(rename = "application/json")]
        json: String,
    }
    Ok(Templates::deserialize(deserializer)?.json)
}
