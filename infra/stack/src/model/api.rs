//! The REST API in front of the functions.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};

use super::Properties;
use crate::text::Text;

/// The REST API.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct Api {
    /// The stage that its address ends in.
    #[serde(rename = "StageName")]
    pub stage: String,
    /// Media types that are handed over as base64, such as `*/*`.
    #[serde(deserialize_with = "media_types")]
    pub binary_media_types: Vec<String>,
    /// What the gateway answers by itself, by its own name for the case (`THROTTLED`…).
    pub gateway_responses: BTreeMap<String, GatewayResponse>,
}

impl Properties for Api {
    /// One process on loopback needs neither logs, traces, throttling nor a place in the world.
    const WITHOUT_EFFECT: &'static [&'static str] = &[
        "AccessLogSetting",
        "DisableExecuteApiEndpoint",
        "EndpointConfiguration",
        "MethodSettings",
        "Name",
        "TracingEnabled",
    ];
}

/// An answer of the gateway itself.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct GatewayResponse {
    /// Its status, where it differs from the gateway's own.
    #[serde(rename = "StatusCode")]
    pub status: Option<u16>,
    /// Headers, without the quotes that the template needs.
    #[serde(rename = "ResponseParameters", default, deserialize_with = "headers")]
    pub headers: BTreeMap<String, String>,
    /// Its JSON body; `$context.error.messageString` stands for the gateway's words, quotes included.
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
