//! The local system in place of a deployment and of the authority's portal: a company for the workbooks' RNC, the
//! prescribed rows, and the uploads of a person.

use std::collections::BTreeMap;
use std::io::{Cursor, Read as _};
use std::path::Path;

use base64::Engine as _;
use ecf::{Environment, Fecha, ReceiptType, Rnc};
use ecf_runtime::{Clock, Error};
use ecf_store::{Clients, CompanyId, Scope, Table, local_config, numbers::Range};
use ecf_workbook::{Approvals, Criteria, Findings, Suite};
use http::Method;
use serde_json::{Value, json};
use zip::ZipArchive;

use super::service::{Cell, Finding, Service, client, message};
use super::{Part, Rows};
use crate::authority::{CERTIFICATE_PIN, certificate};
use crate::demo::RNC as DEMO_RNC;
use crate::folder;
use crate::lapse::Lapse;
use crate::operating::operator;
use crate::options::Certify;
use crate::ready::variable;

/// Upper bound of the receipts of one type in a simulation: consumer invoices.
const MOST_OF_ONE_TYPE: u64 = 6;
/// The numbers that a type gets when it has fewer, and their expiry.
const NEW_NUMBERS: u64 = 100;
const VALID_UNTIL: &str = "2028-12-31";

/// The portal of the simulated authority, for the company of the workbooks.
pub(super) struct Portal {
    simulator_url: String,
    rnc: Rnc,
    environment: Environment,
    /// What the data test prescribes; a simulation has none.
    rows: Option<Value>,
}

impl Portal {
    /// The portal and the service of the system on a state folder. A system that has no company with the workbooks' RNC
    /// gets one, with a test certificate. The inner error is what is wrong with a workbook.
    pub(super) async fn open(
        rows: &Rows,
        options: &Certify,
        data: &Path,
    ) -> Result<Result<(Service, Self), (Part, Vec<Finding>)>, Error> {
        let environment = environment(options);
        let clock = Lapse::kept(&folder::lapse(data))?.map_or_else(Clock::system, Lapse::clock);
        let today = Fecha::at(clock.now());
        let (receipts, approvals) = match rows {
            Rows::Workbooks { receipts, approvals } => (receipts, approvals),
            Rows::Simulation(_) => return Self::of_simulation(options, today, data).await.map(Ok),
        };
        let criteria = Criteria {
            company: None,
            environment,
            today,
        };
        let suite = match ecf_workbook::receipts(&receipts.bytes, &criteria) {
            Ok(suite) => suite,
            Err(findings) => return Ok(Err((receipts.clone(), shown(findings)))),
        };
        let approvals = match approvals {
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
        let rows = data_test(&suite, approvals.as_ref())?;
        Self::of(rnc, environment, Some(rows), data).await.map(Ok)
    }

    /// The portal for the demo company.
    pub(super) async fn of_demo(options: &Certify, data: &Path) -> Result<(Service, Self), Error> {
        Self::of(DEMO_RNC.parse()?, environment(options), None, data).await
    }

    /// The same, with numbers for a simulation in the ranges that have too few.
    async fn of_simulation(options: &Certify, today: Fecha, data: &Path) -> Result<(Service, Self), Error> {
        let opened = Self::of_demo(options, data).await?;
        let environment = opened.1.environment;
        let table = table(data)?;
        let company = table
            .company_by_rnc(&opened.1.rnc)
            .await?
            .ok_or("there is no demo company")?;
        let ranges = table.ranges(&Scope { company, environment }, None).await?;
        for ecf_type in ReceiptType::ALL {
            let of_type = || ranges.iter().filter(|range| range.ecf_type == ecf_type);
            let left: u64 = of_type()
                .filter(|range| range.gives_numbers(today))
                .map(Range::available)
                .sum();
            if left >= MOST_OF_ONE_TYPE {
                continue;
            }
            let start = of_type().map(|range| range.end).max().unwrap_or_default() + 1;
            let command = json!({
                "command": "create_range", "company": company.to_string(), "environment": environment.to_string(),
                "ecf_type": ecf_type.as_str(), "range_start": start, "range_end": start + NEW_NUMBERS - 1,
                "valid_until": VALID_UNTIL, "numbering": "service",
            });
            operator(&command.to_string(), data).await?;
        }
        Ok(opened)
    }

    async fn of(
        rnc: Rnc,
        environment: Environment,
        rows: Option<Value>,
        data: &Path,
    ) -> Result<(Service, Self), Error> {
        let url = variable("company", "PUBLIC_URL", data)?;
        let key = key(&url, &rnc, environment, data).await?;
        let portal = Self {
            simulator_url: variable("submission-worker", "TAXAUTH_ECF_URL", data)?,
            rnc,
            environment,
            rows,
        };
        Ok((Service::new(&url, &key)?, portal))
    }

    /// Hands the workbooks out, as the portal does when the step begins or is reset.
    pub(super) async fn prescribe(&self, service: &Service) -> Result<(), Error> {
        match &self.rows {
            Some(rows) if self.environment == Environment::CerteCF => {
                let request = service.http().request(Method::PUT, self.address("")).json(rows);
                succeed(request).await.map(drop)
            }
            _ => Ok(()),
        }
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

fn environment(options: &Certify) -> Environment {
    options.environment.unwrap_or(Environment::CerteCF)
}

fn table(data: &Path) -> Result<Table, Error> {
    let clients = Clients::new(&local_config(&variable("operator", "AWS_ENDPOINT_URL", data)?));
    Ok(Table::new(clients.dynamodb, variable("operator", "TABLE_NAME", data)?))
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
    let table = table(data)?;
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
    let http = client()?;
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
