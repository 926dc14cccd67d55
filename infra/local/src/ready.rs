//! The output when the system is ready, for a person and for a script.

use std::collections::BTreeMap;
use std::path::Path;

use ecf::Fecha;
use ecf_store::ReceiptId;
use serde_json::json;

use crate::folder;
use crate::start::Local;

impl Local {
    /// One line of JSON: `base_url`, `api_key`, `company_rnc`, `simulator_url`, `test_p12`, `test_p12_pin`, and with `--portal` the
    /// `portal_secret`.
    pub fn ready_json(&self) -> String {
        let demo = self.demo();
        let mut ready = json!({
            "base_url": self.base_url(),
            "api_key": demo.api_key,
            "company_rnc": demo.company_rnc,
            "simulator_url": demo.simulator_url,
            "test_p12": demo.test_p12,
            "test_p12_pin": demo.test_p12_pin,
        });
        if let Some((_, secret)) = self.portal() {
            ready["portal_secret"] = secret.into();
        }
        ready.to_string()
    }

    /// The console, signed in, the URL, the API key, and two curl lines.
    pub fn ready_text(&self) -> String {
        let (base, demo) = (self.base_url(), self.demo());
        let key = format!("demo-{}", self.clock().now().as_second());
        let id = ReceiptId::of_receipt(&demo.scope(), &key);
        let portal = self.portal().map_or_else(String::new, |(url, secret)| {
            format!("portal          {url}, notified of new companies; secret {secret}\n")
        });
        format!(
            "\n\
             console         {base}/console#key={api_key}\n\
             e-CF service    {base}/api/v1\n\
             tax authority   {simulator} (simulated)\n\
             demo company    {name}, RNC {rnc}, environment TesteCF\n\
             API key         {api_key}\n\
             {portal}\n\
             Issue a receipt (type 31):\n\n{issue}\n\n\
             Read its verdict a few seconds later:\n\n{read}\n\n\
             Ctrl-C stops; the state is kept.\n",
            simulator = demo.simulator_url,
            name = demo.company_name,
            rnc = demo.company_rnc,
            api_key = demo.api_key,
            issue = demo.issue_line(base, &Fecha::at(self.clock().now()), &key),
            read = demo.read_line(base, &id.to_string()),
        )
    }
}

/// A function's variables as `NAME=value` lines, for `cargo lambda --env-file`. The system must be running.
///
/// # Errors
///
/// When the state folder has no variables yet, or the template does not have the function.
pub fn variables(function: &str, folder: &Path) -> Result<String, ecf_runtime::Error> {
    let variables = environment_of(function, folder)?;
    Ok(variables
        .iter()
        .map(|(name, value)| format!("{name}={value}\n"))
        .collect())
}

/// A variable of a function.
pub(crate) fn variable(function: &str, name: &str, folder: &Path) -> Result<String, ecf_runtime::Error> {
    let value = environment_of(function, folder)?.remove(name);
    Ok(value.ok_or_else(|| format!("the function {function} has no {name}"))?)
}

/// A function's variables by name.
pub(crate) fn environment_of(function: &str, folder: &Path) -> Result<BTreeMap<String, String>, ecf_runtime::Error> {
    let file = folder::environment(folder);
    let kept = std::fs::read(&file).map_err(|error| format!("{}: {error}; start the system first", file.display()))?;
    let mut functions: BTreeMap<String, BTreeMap<String, String>> = serde_json::from_slice(&kept)?;
    let variables = functions.remove(function).ok_or_else(|| {
        let known: Vec<_> = functions.keys().map(String::as_str).collect();
        format!("`{function}` is not one of {}", known.join(", "))
    })?;
    Ok(variables)
}
