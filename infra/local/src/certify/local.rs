//! The local system in place of a deployment and of the authority's portal: a company for the workbooks' RNC, the
//! prescribed rows, and the uploads of a person.

use std::collections::BTreeMap;
use std::io::{Cursor, Read as _};
use std::path::Path;

use base64::Engine as _;
use ecf::{Environment, Fecha, Rnc};
use ecf_runtime::{Clock, Error};
use ecf_store::{Clients, CompanyId, Table, local_config};
use ecf_workbook::{Approvals, Criteria, Findings, Suite};
use http::Method;
use serde_json::{Value, json};
use zip::ZipArchive;

use super::service::{Cell, Finding, Service, message};
use super::{Part, Workbooks};
use crate::authority::{CERTIFICATE_PIN, certificate};
use crate::folder;
use crate::lapse::Lapse;
use crate::operating::operator;
use crate::options::Certify;
use crate::ready::environment_of;

/// The portal of the simulated authority, for the company of the workbooks.
pub(super) struct Portal {
    simulator_url: String,
    rnc: Rnc,
    environment: Environment,
    rows: Value,
}

impl Portal {
    /// The portal and the service of the system on a state folder. A system that has no company with the workbooks' RNC
    /// gets one, with a test certificate. The inner error is what is wrong with a workbook.
    pub(super) async fn open(
        books: &Workbooks,
        options: &Certify,
        data: &Path,
    ) -> Result<Result<(Service, Self), (Part, Vec<Finding>)>, Error> {
        let environment = options.environment.unwrap_or(Environment::CerteCF);
        let clock = Lapse::kept(&folder::lapse(data))?.map_or_else(Clock::system, Lapse::clock);
        let criteria = Criteria {
            company: None,
            environment,
            today: Fecha::at(clock.now()),
        };
        let suite = match ecf_workbook::receipts(&books.receipts.bytes, &criteria) {
            Ok(suite) => suite,
            Err(findings) => return Ok(Err((books.receipts.clone(), shown(findings)))),
        };
        let approvals = match &books.approvals {
            None => None,
            Some(part) => match ecf_workbook::approvals(&part.bytes, &criteria) {
                Ok(approvals) => Some(approvals),
                Err(findings) => return Ok(Err((part.clone(), shown(findings)))),
            },
        };
        let issuer = suite
            .receipts
            .first()
            .map(|row| &row.numbered().document().encabezado.emisor);
        let rnc = issuer.and_then(|issuer| issuer.rnc_emisor.clone());
        let rnc = rnc.ok_or("the workbook names no issuer")?;
        let variable = |function: &str, name: &str| -> Result<String, Error> {
            let mut variables = environment_of(function, data)?;
            Ok(variables
                .remove(name)
                .ok_or_else(|| format!("the function {function} has no {name}"))?)
        };
        let url = variable("company", "PUBLIC_URL")?;
        let key = key(&url, &rnc, environment, data).await?;
        let portal = Self {
            simulator_url: variable("submission-worker", "TAXAUTH_ECF_URL")?,
            rows: data_test(&suite, approvals.as_ref())?,
            rnc,
            environment,
        };
        Ok(Ok((Service::new(&url, &key)?, portal)))
    }

    /// Hands the workbooks out, as the portal does when the step begins or is reset.
    pub(super) async fn prescribe(&self, service: &Service) -> Result<(), Error> {
        if self.environment != Environment::CerteCF {
            return Ok(());
        }
        let request = service.http().request(Method::PUT, self.address("")).json(&self.rows);
        succeed(request).await.map(drop)
    }

    /// Uploads the full invoices, as a person does; returns their number.
    pub(super) async fn upload(&self, service: &Service, files: &[u8]) -> Result<usize, Error> {
        let mut archive = ZipArchive::new(Cursor::new(files))?;
        let mut count = 0;
        for index in 0..archive.len() {
            let mut file = archive.by_index(index)?;
            let mut xml = Vec::new();
            file.read_to_end(&mut xml)?;
            if !xml.starts_with(b"<") {
                continue;
            }
            count += 1;
            // Only the portal of the data tests has uploads.
            if self.environment == Environment::CerteCF {
                let request = service.http().request(Method::POST, self.address("/uploads"));
                succeed(request.header("Content-Type", "text/xml").body(xml)).await?;
            }
        }
        Ok(count)
    }

    fn address(&self, rest: &str) -> String {
        format!("{}/_control/data-tests/{}{rest}", self.simulator_url, self.rnc)
    }
}

/// A key of the company with this RNC. It is kept in the state folder, so that the command may be repeated.
async fn key(url: &str, rnc: &Rnc, environment: Environment, data: &Path) -> Result<String, Error> {
    let file = folder::certify(data);
    let mut keys: BTreeMap<String, String> = match std::fs::read(&file) {
        Ok(kept) => serde_json::from_slice(&kept)?,
        Err(_) => BTreeMap::new(),
    };
    let name = format!("{rnc} {environment}");
    if let Some(key) = keys.get(&name) {
        return Ok(key.clone());
    }
    let variables = environment_of("operator", data)?;
    let named = |name: &str| {
        variables
            .get(name)
            .ok_or_else(|| format!("the state folder names no {name}"))
    };
    let clients = Clients::new(&local_config(named("AWS_ENDPOINT_URL")?));
    let table = Table::new(clients.dynamodb, named("TABLE_NAME")?.clone());
    let company = match table.company_by_rnc(rnc).await? {
        Some(company) => company.to_string(),
        None => register(url, rnc, data).await?,
    };
    let command = json!({ "command": "issue_api_key", "company": company, "environment": environment.to_string() });
    let issued: Value = serde_json::from_str(&operator(&command.to_string(), data).await?)?;
    let key = issued["api_key"]["key"].as_str().ok_or("the operator issued no key")?;
    keys.insert(name, key.to_owned());
    std::fs::write(&file, serde_json::to_vec_pretty(&keys)?)?;
    Ok(key.to_owned())
}

/// Signs up a company with a test certificate, which proves the RNC on this system only; returns its id.
async fn register(url: &str, rnc: &Rnc, data: &Path) -> Result<String, Error> {
    let p12 = certificate(rnc.as_str(), data)?;
    let request = json!({
        "rnc": rnc.to_string(),
        "name": format!("CONTRIBUYENTE {rnc}"),
        "email": "certificacion@example.com",
        "p12_base64": base64::prelude::BASE64_STANDARD.encode(p12),
        "pin": CERTIFICATE_PIN,
    });
    let http = reqwest::Client::new();
    let answer = succeed(http.post(format!("{url}/api/v1/public/register")).json(&request)).await?;
    let id = answer["company"]["public_id"].as_str();
    Ok(id
        .ok_or("the sign-up made no company")?
        .parse::<CompanyId>()?
        .to_string())
}

async fn succeed(request: reqwest::RequestBuilder) -> Result<Value, Error> {
    let answer = request.send().await?;
    let status = answer.status();
    let bytes = answer.bytes().await?;
    let body = serde_json::from_slice(&bytes).unwrap_or_default();
    if status.is_success() {
        Ok(body)
    } else {
        Err(message(status, &body).into())
    }
}

/// What the simulated portal prescribes: the rows, each with cells that it compares.
///
/// # Errors
///
/// When a summary takes no security code.
pub fn data_test(suite: &Suite, approvals: Option<&Approvals>) -> Result<Value, Error> {
    let text = |value: Option<String>| value.unwrap_or_default();
    let (mut ecf, mut rfce) = (BTreeMap::new(), BTreeMap::new());
    for row in suite.receipts.iter().filter(|row| !row.numbered().goes_as_summary()) {
        let name = row.numbered().document().encabezado.emisor.razon_social_emisor.as_ref();
        let cells = json!({
            "Encabezado/Totales/MontoTotal": row.numbered().monto_total().to_string(),
            "Encabezado/Emisor/RazonSocialEmisor": text(name.map(ToString::to_string)),
        });
        ecf.insert(row.encf().to_string(), cells);
    }
    for summary in &suite.summaries {
        let written = summary.with_security_code("000000")?.encabezado;
        let cells = json!({
            "Encabezado/Totales/MontoTotal": text(written.totales.monto_total.map(|total| total.to_string())),
            // Another one than in the full invoice.
            "Encabezado/Emisor/RazonSocialEmisor": text(written.emisor.razon_social_emisor.map(|name| name.to_string())),
        });
        rfce.insert(summary.encf().to_string(), cells);
    }
    let acecf: BTreeMap<String, Value> = approvals
        .iter()
        .flat_map(|approvals| &approvals.approvals)
        .map(|approval| {
            let details = &approval.acecf().detalle_aprobacion_comercial;
            let at = details
                .fecha_hora_aprobacion_comercial
                .as_ref()
                .map(ToString::to_string);
            let cells = json!({ "DetalleAprobacionComercial/FechaHoraAprobacionComercial": text(at) });
            (approval.encf().to_string(), cells)
        })
        .collect();
    Ok(json!({ "ecf": ecf, "rfce": rfce, "acecf": acecf }))
}

fn shown(findings: Findings) -> Vec<Finding> {
    let shown = |finding: ecf_workbook::Finding| Finding {
        loc: Vec::new(),
        msg: finding.message.en.to_string(),
        ctx: Cell {
            code: Some(finding.code.to_owned()),
            sheet: finding.sheet.map(String::from),
            row: finding.row,
            column: finding.column.map(String::from),
            header: finding.header.map(String::from),
            cell: finding.cell.map(String::from),
        },
    };
    findings.list.into_iter().map(shown).collect()
}
