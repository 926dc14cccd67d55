//! The command line as it is read, and answers as they are printed.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;

use clap::CommandFactory as _;
use serde_json::{Value, json};

use super::{Arguments, text};

/// Every task, with the members that it can have.
const LINES: &[&str] = &[
    "companies --rnc 131000013",
    "examine --rnc 131000013 --environment ecf",
    "receipts --encf E310000000001",
    "receipts --track-id t-1 --company ID --part 7",
    "ranges --ending --environment TesteCF",
    "certificates --expiring 30",
    r#"webhooks --failing --at {"partition":3,"after":null}"#,
    "stuck",
    "stuck --company ID",
    "authority",
    "check --rnc 131000013 --environment ecf --from 2026-11-01 --to 2026-11-30 --repair-counters",
    "create-company --rnc 131000013 --name N --email e@x.do --environment TesteCF --verified",
    "show-company --company ID",
    "activate-company --company ID",
    "deactivate-company --company ID",
    "verify-company --company ID",
    "keys --rnc 131000013",
    "find-key --sha256 00",
    "issue-key --company ID --environment ecf --scope read",
    "revoke-key --company ID --key K --descendants",
    "limit-key --company ID --key K",
    "limit-key --company ID --key K --rate 200",
    "create-range --company ID --environment ecf --type 31 --start 1 --end 100 --valid-until 2028-12-31 --numbering service",
    "show-receipt --encf E310000000001",
    "requeue --receipt R",
    "retry --rnc 131000013 --environment ecf --encf E310000000001",
    "resolve --receipt R --outcome not_arrived",
    "resolve --receipt R --track-id t-1",
    "resolve --receipt R --outcome rejected --number-used true",
    "resolve --receipt R --outcome rejected",
    "dead-letters",
    "replay --queue exchange --limit 10",
    "export --company ID --environment ecf --from 2026-01-01",
    "fill-in-lists --company ID --environment ecf",
    "fill-in-companies --part 100",
    r#"check-secrets --repair --at "page""#,
    "load-register --object DGII_RNC.zip --as-of 2026-11-30",
    "load-register --path R.zip",
    "show-register",
    "create-invitation --uses 3",
    "revoke-invitation --code C",
    "draft-notice --category announcement --severity info --title T --body B",
    r#"draft-notice --category announcement --severity info --title T --body B --audience {"companies":["ID"]} --about ecf,CerteCF"#,
    "show-notice --notice N",
    "publish-notice --notice N",
    "update-notice --notice N --title T --clear source,expires_at",
    "resolve-notice --notice N --note over",
    "withdraw-notice --notice N",
];

fn read(line: &str) -> Result<Arguments, clap::Error> {
    let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
    Arguments::read(&words)
}

fn command(line: &str) -> Value {
    read(line)
        .unwrap_or_else(|error| panic!("{line}: {error}"))
        .task
        .command()
        .unwrap()
}

#[test]
fn o3_each_task_becomes_its_command() {
    let lines = LINES.iter().map(|line| format!("{line}\n    {}\n", command(line)));
    insta::assert_snapshot!("tasks", lines.collect::<String>());
}

/// `events/operator` has a payload for each command; a test of it holds them against the function.
#[test]
fn o3_every_command_of_the_function_has_a_task() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../events/operator");
    let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let name = |command: &Value| command["command"].as_str().unwrap().to_owned();
    let payloads = files.map(|file| name(&serde_json::from_slice(&fs::read(file).unwrap()).unwrap()));
    let tasks: BTreeSet<String> = LINES.iter().map(|line| name(&command(line))).collect();
    assert_eq!(tasks, payloads.collect());
    let known: BTreeSet<String> = LINES
        .iter()
        .map(|line| line.split(' ').next().unwrap().to_owned())
        .collect();
    let offered = Arguments::command();
    let offered = offered.get_subcommands().filter(|task| !task.is_hide_set());
    assert_eq!(known, offered.map(|task| task.get_name().to_owned()).collect());
}

#[test]
fn o3_the_command_line_is_consistent_and_helps() {
    Arguments::command().debug_assert();
    let help = |line| read(line).unwrap_err().to_string();
    insta::assert_snapshot!("help", help("--help"));
    insta::assert_snapshot!("help-check", help("check --help"));
}

#[test]
fn o3_wrong_arguments_name_what_is_wrong() {
    for (line, named) in [
        ("stuk", "stuck"),
        ("receipts", "--encf"),
        ("receipts --encf E310000000001 --track-id t", "cannot be used with"),
        ("issue-key --rnc 131000013", "--environment"),
        ("check --rnc 131000013 --environment prod", "CerteCF"),
        ("show-company --rnc 131000013 --company ID", "cannot be used with"),
        ("stuck --at here", "not JSON"),
        ("stuck --profile ops", "--stack"),
        ("requeue --rnc 131000013", "--encf"),
    ] {
        let error = read(line).unwrap_err();
        assert_eq!(error.exit_code(), 2, "{line}");
        assert!(error.to_string().contains(named), "{line}: {error}");
    }
}

#[test]
fn a_json_object_is_sent_as_it_is() {
    for words in [
        vec![r#"{"command": "show_register"}"#],
        vec!["--data", "x", "\u{feff} {\"command\": \"show_register\"}"],
        vec![r#"{"command": "show_register"}"#, "--data", "x"],
    ] {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        let read = Arguments::read(&words).unwrap();
        assert_eq!(read.task.command(), Ok(json!({ "command": "show_register" })));
    }
}

#[test]
fn o3_what_needs_a_person_is_told_from_what_is_well() {
    let found = |line: &str, answer: Value| read(line).unwrap().task.found(&answer);
    assert!(found("stuck", json!({ "stuck": [{}] })) && !found("stuck", json!({ "stuck": [] })));
    assert!(found("authority", json!({ "agrees": false })) && !found("authority", json!({ "agrees": true })));
    let certificates = json!({ "certificates": [{}] });
    assert!(found("certificates --expiring 5", certificates.clone()) && !found("certificates", certificates));
    assert!(!found("show-register", json!({ "register": null })));
}

#[test]
fn o3_answers_are_lines_and_tables() {
    let answer = json!({
        "agrees": false, "next": null, "environment": "ecf",
        "company": { "public_id": "0m5c", "rnc": "131000013", "name": "Ferretería Ñandú SRL", "verified": true, "certificate_until": null },
        "findings": [
            { "finding": "no_range", "detail": "no range has numbers left" },
            { "finding": "webhook_fails", "detail": "x".repeat(80) },
        ],
        "open_receipts": { "states": { "signed": 3, "contingency": 12 }, "is_complete": true },
        "ranges": [], "added": [],
        "receipts": [
            { "public_id": "a", "rnc": "131000013", "encf": "E310000000001", "track_id": null, "error_code": null },
            { "public_id": "b", "rnc": "1", "encf": null, "track_id": null, "error_code": "x\ny" },
        ],
    });
    insta::assert_snapshot!("answer", text::of(&answer));
    assert_eq!(
        text::of(&json!({ "moved": 2, "queue": "exchange" })),
        "queue  exchange\nmoved  2"
    );
    let progress = json!({ "found": { "numbers": 400, "problems": [1] }, "agrees": false, "next": { "day": 3 } });
    assert_eq!(text::counts(&progress), "400 numbers, 1 problems");
}
