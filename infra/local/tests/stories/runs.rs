//! Certification runs: the authority's workbooks to the end, a rejection, kills, and workbooks that cannot be sent.

use std::collections::BTreeMap;
use std::io::{Cursor, Read as _};
use std::path::Path;
use std::time::Duration;

use ecf::Environment;
use ecf_workbook::{Approvals, Criteria, Suite, approvals, receipts};
use http::Method;
use serde_json::{Value, json};
use zip::ZipArchive;

use crate::program::Program;
use crate::support::{Answer, ApiClient, eventually};

const RUNS: &str = "/client/certification/runs";
/// Upper bound of a run on a busy machine; a row takes about three seconds.
const RUN_LIMIT: Duration = Duration::from_secs(600);

/// A workbook of the authority; `None` without the folder beside this repository.
fn workbook(name: &str) -> Option<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/certification");
    let bytes = std::fs::read(folder.join(name)).ok();
    if bytes.is_none() {
        eprintln!("skipped: {name} (../shared is not there)");
    }
    bytes
}

/// The path of a workbook of the authority; `None` without the folder beside this repository.
fn path(name: &str) -> Option<String> {
    workbook(name)?;
    Some(format!(
        "{}/../../../shared/certification/{name}",
        env!("CARGO_MANIFEST_DIR")
    ))
}

/// The program, whose waits for verdicts are a fifth.
fn start(folder: &Path) -> Program {
    Program::with(folder, &["--speed", "5"])
}

/// The workbooks of one company.
struct Books {
    rnc: String,
    ecf: Vec<u8>,
    acecf: Vec<u8>,
    suite: Suite,
    approvals: Approvals,
}

impl Books {
    fn read(name: &str) -> Option<Self> {
        let (ecf, acecf) = (
            workbook(&format!("{name}-ecf.xlsx"))?,
            workbook(&format!("{name}-acecf.xlsx"))?,
        );
        let criteria = Criteria {
            company: None,
            environment: Environment::CerteCF,
            today: "27-11-2026".parse().unwrap(),
        };
        let suite = receipts(&ecf, &criteria).unwrap();
        let approvals = approvals(&acecf, &criteria).unwrap();
        let emisor = &suite.receipts[0].numbered().document().encabezado.emisor;
        let rnc = emisor.rnc_emisor.as_ref().unwrap().to_string();
        Some(Self {
            rnc,
            ecf,
            acecf,
            suite,
            approvals,
        })
    }

    /// What the simulated portal prescribes.
    fn data_test(&self) -> Value {
        ecf_local::data_test(&self.suite, Some(&self.approvals)).unwrap()
    }
}

/// A company in CerteCF, with the authority's portal.
struct Office {
    caller: ApiClient,
}

impl Office {
    /// Signs a company up that has these workbooks.
    async fn open(program: &Program, folder: &Path, books: &Books) -> Self {
        let demo = program.caller();
        let p12 = ecf_local::certificate(&books.rnc, folder).unwrap();
        let request = json!({
            "rnc": books.rnc, "name": "Empresa en Certificación SRL", "email": "e@certificacion.example",
            "p12_base64": base64::Engine::encode(&base64::prelude::BASE64_STANDARD, p12),
            "pin": demo.ready["test_p12_pin"],
        });
        let url = format!("{}/api/v1/public/register", demo.base_url);
        let registered = demo.send(Method::POST, &url, None, Some(&request)).await.expect(201);
        let issued = program.operator(&json!({
            "command": "issue_api_key", "company": registered["company"]["public_id"], "environment": "CerteCF",
        }));
        let key = issued["api_key"]["key"].as_str().unwrap();
        Self {
            caller: demo.of_company(key, &books.rnc),
        }
    }

    /// The same company after a restart of the program.
    fn after_restart(self, program: &Program) -> Self {
        let demo = program.caller();
        Self {
            caller: demo.of_company(&self.caller.key, &self.caller.rnc),
        }
    }

    async fn prescribe(&self, books: &Books) {
        let what = format!("data-tests/{}", books.rnc);
        self.caller.control(Method::PUT, &what, &books.data_test()).await;
    }

    async fn portal(&self) -> Value {
        let url = format!("{}/_control/data-tests/{}", self.caller.simulator_url, self.caller.rnc);
        self.caller.send(Method::GET, &url, None, None).await.expect(200)
    }

    async fn begin(&self, key: &str, ecf: &[u8], acecf: Option<&[u8]>) -> Answer {
        let mut form = vec![
            ("\"idempotency_key\"", key.as_bytes()),
            ("\"workbook\"; filename=\"ecf.xlsx\"", ecf),
        ];
        form.extend(acecf.map(|acecf| ("\"approvals\"; filename=\"acecf.xlsx\"", acecf)));
        self.caller.send_form(&format!("/api/v1{RUNS}"), &form).await
    }

    async fn run(&self, run: &Value) -> Value {
        let path = format!("{RUNS}/{}", run["run_id"].as_str().unwrap());
        self.caller.get(&path).await.expect(200)
    }

    async fn wait(&self, run: &Value, status: &str) -> Value {
        eventually(&format!("the run is {status}"), RUN_LIMIT, async || {
            let now = self.run(run).await;
            assert!(now["status"] == "running" || now["status"] == status, "{now:#}");
            (now["status"] == status).then_some(now)
        })
        .await
    }

    async fn command(&self, run: &Value, what: &str) -> Answer {
        let path = format!("{RUNS}/{}/{what}", run["run_id"].as_str().unwrap());
        self.caller.post(&path, &json!({})).await
    }

    /// The files that a person uploads, by name.
    async fn files(&self, run: &Value) -> BTreeMap<String, Vec<u8>> {
        let path = format!("{RUNS}/{}/files", run["run_id"].as_str().unwrap());
        let mut archive = ZipArchive::new(Cursor::new(self.caller.download(&path).await)).unwrap();
        let mut files = BTreeMap::new();
        for index in 0..archive.len() {
            let mut file = archive.by_index(index).unwrap();
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes).unwrap();
            files.insert(file.name().unwrap().into_owned(), bytes);
        }
        files
    }

    /// Uploads the full invoices like a person, after comparing them with their rows.
    async fn upload(&self, run: &Value, books: &Books) {
        let mut files = self.files(run).await;
        let read_me = String::from_utf8(files.remove("LEEME.txt").unwrap()).unwrap();
        assert!(read_me.contains("Portal de Certificación"), "{read_me}");
        let summaries = books.suite.summaries.iter();
        let mut expected: Vec<_> = summaries
            .map(|summary| format!("{}{}.xml", books.rnc, summary.encf()))
            .collect();
        expected.sort();
        assert_eq!(files.keys().cloned().collect::<Vec<_>>(), expected);
        for (name, xml) in files {
            let row = books
                .suite
                .receipts
                .iter()
                .find(|row| name.contains(&row.encf().to_string()));
            assert_eq!(row.unwrap().differences(&xml).unwrap(), [], "{name}");
            let url = format!(
                "{}/_control/data-tests/{}/uploads",
                self.caller.simulator_url, books.rnc
            );
            let uploaded = self.caller.send_bytes(Method::POST, &url, None, "text/xml", xml).await;
            assert_eq!(uploaded.status, 204, "{name}: {}", uploaded.body);
        }
    }

    /// Compares every signed document with its row.
    async fn compare(&self, run: &Value, books: &Books) {
        for row in run["rows"].as_array().unwrap() {
            let (encf, id) = (row["encf"].as_str().unwrap(), &row["public_id"]);
            let path = |what: &str| format!("/ecf/{}/{what}", id.as_str().unwrap());
            match row["document"].as_str().unwrap() {
                "ecf" => {
                    let xml = self.caller.download(&path("xml")).await;
                    let row = books.suite.receipts.iter().find(|row| row.encf().to_string() == encf);
                    assert_eq!(row.unwrap().differences(&xml).unwrap(), [], "{encf}");
                }
                "rfce" => {
                    let xml = self.caller.download(&path("rfce")).await;
                    let row = books.suite.summaries.iter().find(|row| row.encf().to_string() == encf);
                    assert_eq!(row.unwrap().differences(&xml).unwrap(), [], "{encf}");
                }
                _ => {}
            }
        }
    }

    /// The run to its end, uploads included.
    async fn to_the_end(&self, run: &Value, books: &Books) {
        let waiting = self.wait(run, "awaits_uploads").await;
        self.compare(&waiting, books).await;
        self.upload(run, books).await;
        assert_eq!(
            self.command(run, "confirm-uploads").await.expect(200)["status"],
            "running"
        );
        let finished = self.wait(run, "finished").await;
        assert_eq!(finished["progress"], 100, "{finished:#}");
        let rows = finished["counts"]["rows"].as_u64().unwrap();
        assert_eq!(finished["counts"]["accepted"], rows);
        let portal = self.portal().await;
        assert_eq!(portal["estado"], "completado", "{portal}");
        self.each_was_sent_once().await;
    }

    async fn documents(&self) -> Vec<Value> {
        let url = format!(
            "{}/_control/documents?ambiente=certecf&rnc={}",
            self.caller.simulator_url, self.caller.rnc
        );
        let documents = self.caller.send(Method::GET, &url, None, None).await.expect(200);
        documents.as_array().unwrap().clone()
    }

    /// Does what the operator does about a send that a kill cut off: CerteCF has no look-up, but the portal shows the
    /// track id of what arrived.
    async fn decide_lost_sends(&self, program: &Program, begun: &Value) {
        let run = self.run(begun).await;
        let lost = |row: &&Value| row["error_code"] == "outcome_unknown";
        for row in run["rows"].as_array().unwrap().iter().filter(lost) {
            let found = program.operator(&json!({ "command": "find_receipts", "encf": row["encf"] }));
            let receipt = &found["receipts"][0];
            let documents = self.documents().await;
            let arrived = documents.iter().find(|document| document["encf"] == row["encf"]);
            let outcome = arrived.map_or(
                json!("not_arrived"),
                |document| json!({ "track_id": document["trackIds"][0] }),
            );
            let resolved = program.operator(&json!({
                "command": "resolve_outcome", "company": receipt["company"], "environment": receipt["environment"],
                "receipt": receipt["public_id"], "outcome": outcome,
            }));
            assert!(resolved["error"].is_null(), "{resolved}");
        }
    }

    async fn each_was_sent_once(&self) {
        let documents = self.documents().await;
        assert!(documents.len() >= 25, "{documents:#?}");
        for document in &documents {
            assert_eq!(document["times"], 1, "{document}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn both_suites_run_to_the_end() {
    for name in ["suite-1", "suite-2"] {
        let Some(books) = Books::read(name) else { return };
        let folder = tempfile::tempdir().unwrap();
        let program = start(folder.path());
        let office = Office::open(&program, folder.path(), &books).await;
        office.prescribe(&books).await;
        // A conditional acceptance is valid and resets nothing: the run goes on.
        let conditional = books.suite.order()[2].encf.to_string();
        let fault = json!({ "service": "recepcion", "encf": conditional, "fault": "conditional", "times": 1 });
        office.caller.control(Method::POST, "faults", &fault).await;
        let begun = office.begin("run-1", &books.ecf, Some(&books.acecf)).await.expect(201);
        assert_eq!(begun["status"], "running", "{begun:#}");
        let again = office.begin("run-1", &books.ecf, Some(&books.acecf)).await.expect(200);
        assert_eq!(again["run_id"], begun["run_id"]);
        let other = office.begin("run-2", &books.ecf, None).await.expect(409);
        assert_eq!(other["detail"]["code"], "run_open", "{other}");
        office.to_the_end(&begun, &books).await;
        let finished = office.run(&begun).await;
        assert_eq!(finished["counts"]["conditionally_accepted"], 1, "{finished:#}");
        assert_eq!(
            (&finished["rows"][2]["row_state"], &finished["rows"][2]["status"]),
            (&json!("accepted"), &json!("conditionally_accepted"))
        );
        let runs = office.caller.get(RUNS).await.expect(200);
        assert_eq!(
            (&runs["total"], &runs["items"][0]["status"]),
            (&json!(1), &json!("finished"))
        );
        program.interrupt();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rejection_in_row_17_stops_the_run_and_a_new_workbook_begins_anew() {
    let Some(books) = Books::read("suite-1") else { return };
    let folder = tempfile::tempdir().unwrap();
    let program = start(folder.path());
    let office = Office::open(&program, folder.path(), &books).await;
    office.prescribe(&books).await;
    let rejected = books.suite.order()[16].encf.to_string();
    let fault = json!({
        "service": "recepcion", "encf": rejected, "fault": "reject", "codigo": "1209",
        "mensaje": "La secuencia ya fue utilizada.", "times": 1,
    });
    office.caller.control(Method::POST, "faults", &fault).await;
    let begun = office.begin("run-1", &books.ecf, Some(&books.acecf)).await.expect(201);
    let stopped = office.wait(&begun, "stopped").await;
    assert_eq!(stopped["stop"]["place"], 16, "{stopped:#}");
    assert_eq!(stopped["stop"]["cause"], "rejected");
    let row = &stopped["rows"][16];
    assert_eq!(
        (&row["encf"], &row["row_state"]),
        (&json!(rejected), &json!("rejected"))
    );
    assert_eq!(stopped["counts"]["accepted"], 16);
    assert_eq!(
        stopped["counts"]["waiting"].as_u64().unwrap() + 17,
        stopped["counts"]["rows"].as_u64().unwrap()
    );
    assert!(
        stopped["next"].as_str().unwrap().contains("new workbooks"),
        "{stopped:#}"
    );
    assert_eq!(office.portal().await["estado"], "reiniciado");
    let refused = office.command(&begun, "continue").await.expect(409);
    assert_eq!(refused["detail"]["code"], "run_reset", "{refused}");

    // The numbers of the new workbook repeat.
    office.prescribe(&books).await;
    let anew = office.begin("run-2", &books.ecf, Some(&books.acecf)).await.expect(201);
    assert_eq!(office.run(&begun).await["status"], "abandoned");
    office.to_the_end(&anew, &books).await;
    program.interrupt();
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_kills_in_the_middle_send_nothing_twice() {
    let Some(books) = Books::read("suite-2") else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut program = start(folder.path());
    let mut office = Office::open(&program, folder.path(), &books).await;
    office.prescribe(&books).await;
    let begun = office.begin("run-1", &books.ecf, Some(&books.acecf)).await.expect(201);
    for kill in 1..=10 {
        // Between two kills at least one more row is accepted, so that the kills hit different rows.
        let accepted = async || office.run(&begun).await["counts"]["accepted"].as_u64().unwrap();
        let before = accepted().await;
        eventually("another row is accepted", RUN_LIMIT, async || {
            office.decide_lost_sends(&program, &begun).await;
            let is_over = office.run(&begun).await["status"] == "awaits_uploads";
            (is_over || accepted().await > before).then_some(())
        })
        .await;
        // A fast machine may end the run earlier.
        if office.run(&begun).await["status"] == "awaits_uploads" {
            assert!(kill > 5, "only {} kills", kill - 1);
            break;
        }
        tokio::time::sleep(Duration::from_millis(37 * kill)).await;
        program.kill();
        program = start(folder.path());
        office = office.after_restart(&program);
    }
    eventually("the rows are accepted", RUN_LIMIT, async || {
        office.decide_lost_sends(&program, &begun).await;
        (office.run(&begun).await["status"] == "awaits_uploads").then_some(())
    })
    .await;
    office.to_the_end(&begun, &books).await;
    program.interrupt();
}

#[tokio::test(flavor = "multi_thread")]
async fn one_command_runs_both_suites_to_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let program = start(folder.path());
    for name in ["suite-1", "suite-2"] {
        let (Some(ecf), Some(acecf)) = (path(&format!("{name}-ecf.xlsx")), path(&format!("{name}-acecf.xlsx"))) else {
            return;
        };
        let out = folder.path().join(format!("{name}.zip"));
        let arguments = [&ecf, "--approvals", &acecf, "--out", out.to_str().unwrap()];
        let (code, printed) = program.certify(&arguments);
        assert_eq!(code, Some(0), "{printed}");
        assert!(printed.contains("full invoices in the portal; done"), "{printed}");
        let rows: Vec<_> = printed.lines().filter(|line| line.contains("  accepted  ")).collect();
        assert!(
            printed.contains(&format!("{0} of {0} rows accepted", rows.len())),
            "{printed}"
        );
        let files = ZipArchive::new(Cursor::new(std::fs::read(&out).unwrap())).unwrap();
        assert!(files.len() > 4, "{}", files.len());

        // The same command shows the run that has ended.
        let (code, printed) = program.certify(&arguments);
        assert_eq!(code, Some(0), "{printed}");
        assert!(printed.contains("of these files goes on"), "{printed}");
    }
    program.interrupt();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_command_says_why_a_run_stopped_and_begins_anew() {
    let Some(books) = Books::read("suite-1") else { return };
    let ecf = path("suite-1-ecf.xlsx").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let program = start(folder.path());
    let rejected = books.suite.order()[16].encf.to_string();
    let fault = json!({
        "service": "recepcion", "encf": rejected, "fault": "reject", "codigo": "1209",
        "mensaje": "La secuencia ya fue utilizada.", "times": 1,
    });
    program.caller().control(Method::POST, "faults", &fault).await;
    let out = folder.path().join("files.zip");
    let arguments = [&ecf, "--out", out.to_str().unwrap()];
    for _ in 0..2 {
        let (code, printed) = program.certify(&arguments);
        assert_eq!(code, Some(1), "{printed}");
        assert!(printed.contains("16 of "), "{printed}");
        assert!(
            printed.contains(&format!("stopped (rejected) at ecf {rejected}")),
            "{printed}"
        );
        assert!(
            printed.contains("La secuencia ya fue utilizada.") && printed.contains("--again"),
            "{printed}"
        );
    }
    let (code, printed) = program.certify(&[&arguments[..], &["--again"]].concat());
    assert_eq!(code, Some(0), "{printed}");
    assert!(out.exists());
    program.interrupt();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_command_names_the_cells_of_a_broken_workbook() {
    let Some(ecf) = path("suite-1-ecf.xlsx") else { return };
    let folder = tempfile::tempdir().unwrap();
    let program = start(folder.path());
    let text = folder.path().join("suite.xlsx");
    std::fs::write(&text, "a,b,c").unwrap();
    let (code, printed) = program.certify(&[text.to_str().unwrap()]);
    assert_eq!(code, Some(1), "{printed}");
    assert!(
        printed.contains("suite.xlsx: 1 finding; nothing was sent") && printed.contains("[LIBRO-02]"),
        "{printed}"
    );
    // The service refuses the workbook of another company: the demo company's.
    let demo = program.caller();
    let (code, printed) = program.certify(&[&ecf, "--url", &demo.base_url, "--key", &demo.key]);
    assert_eq!(code, Some(1), "{printed}");
    assert!(
        printed.contains("sheet ECF, row 2, ") && printed.contains("[FILA-08]"),
        "{printed}"
    );
    program.interrupt();
}

#[tokio::test(flavor = "multi_thread")]
async fn one_command_makes_the_receipts_of_the_simulation_and_their_prints() {
    let folder = tempfile::tempdir().unwrap();
    let program = start(folder.path());
    let (data, out) = (folder.path().join("data.json"), folder.path().join("files.zip"));
    let own = json!({
        "buyer": { "rnc": "101672919", "name": "CLIENTE DE PRUEBA SRL" }, "foreign_buyer": "CLIENT INC",
        "items": [
            { "name": "Asesoría", "price": "1500.00" },
            { "name": "Silla", "price": "8999.50", "is_service": false, "is_taxed": false },
        ],
    });
    std::fs::write(&data, own.to_string()).unwrap();
    let arguments = ["--simulation", data.to_str().unwrap(), "--out", out.to_str().unwrap()];
    let (code, printed) = program.certify(&arguments);
    assert_eq!(code, Some(0), "{printed}");
    assert!(printed.contains("25 of 25 rows accepted"), "{printed}");
    let mut archive = ZipArchive::new(Cursor::new(std::fs::read(&out).unwrap())).unwrap();
    let mut names = Vec::new();
    for index in 0..archive.len() {
        let mut file = archive.by_index(index).unwrap();
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).unwrap();
        let name = file.name().unwrap().into_owned();
        assert_eq!(name.ends_with(".pdf"), bytes.starts_with(b"%PDF"), "{name}");
        names.push(name);
    }
    let count = |end: &str| names.iter().filter(|name| name.ends_with(end)).count();
    assert_eq!((count(".xml"), count(".pdf"), count(".txt")), (4, 11, 1), "{names:?}");
    let types = names.iter().filter_map(|name| name.strip_prefix("RI/130000001E"));
    let types: std::collections::BTreeSet<_> = types.map(|name| name[..2].to_owned()).collect();
    assert_eq!(types.len(), 10, "{names:?}");
    program.interrupt();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_command_signs_a_form_of_the_portal_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let program = start(folder.path());
    let (form, signed) = (
        folder.path().join("solicitud.xml"),
        folder.path().join("solicitud-signed.xml"),
    );
    std::fs::write(&form, "<Solicitud><RNC>130000001</RNC></Solicitud>").unwrap();
    let (code, printed) = program.certify(&["--sign", form.to_str().unwrap()]);
    assert_eq!(code, Some(0), "{printed}");
    assert!(printed.contains("solicitud-signed.xml: signed"), "{printed}");
    let bytes = std::fs::read(&signed).unwrap();
    let verified = xmldsig::verify(&bytes, &xmldsig::Limits::default());
    assert!(verified.is_ok(), "{:?}", verified.err());

    // A signed document and one of the scheme are refused in words.
    std::fs::write(&form, "<SemillaModel><valor>1</valor></SemillaModel>").unwrap();
    for (path, why) in [
        (&signed, "the document has a signature"),
        (&form, "SemillaModel is not signed here"),
    ] {
        let (code, printed) = program.certify(&["--sign", path.to_str().unwrap()]);
        assert_eq!(code, Some(1), "{printed}");
        assert!(printed.contains(why), "{printed}");
    }
    assert_eq!(std::fs::read(&signed).unwrap(), bytes);
    program.interrupt();
}
