//! An operator at the command line, on the local system and on a deployed stack.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Output;

use serde_json::{Value, json};

use crate::payloads::payload;
use crate::program::{Program, run_with, text};

/// A program that answers as `aws` 2 does, and writes down its arguments and the payload.
const AWS: &str = r#"#!/bin/sh
folder=$(dirname "$0")
echo "$*" >> "$folder/calls"
case "$1 $2" in
"cloudformation describe-stacks")
    stack=${*#*--stack-name }
    stack=${stack%% *}
    case "$stack" in
    ecf-*) echo "$stack-Operator-ABC" ;;
    old) echo "None" ;;
    *) echo "An error occurred (ValidationError) when calling the DescribeStacks operation: Stack with id $stack does not exist" >&2
       exit 254 ;;
    esac ;;
"lambda invoke")
    for last; do :; done
    case "$*" in *file://*) payload=${*#*file://}; payload=${payload%% *} ;; esac
    cat "$payload" >> "$folder/payloads"
    echo >> "$folder/payloads"
    cp "$folder/answer" "$last"
    [ ! -f "$folder/answer.next" ] || mv "$folder/answer.next" "$folder/answer"
    cat "$folder/told" ;;
esac
"#;

fn value(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", text(&output.stderr)))
}

#[tokio::test(flavor = "multi_thread")]
async fn o3_an_operator_finds_and_repairs_at_the_command_line() {
    let folder = tempfile::tempdir().unwrap();
    let program = Program::start(folder.path());
    let data = folder.path().to_str().unwrap();
    let task = |words: &str| {
        let words = words.split(' ');
        run_with(["operator", "--data", data].into_iter().chain(words), |_| {})
    };
    let caller = program.caller();
    let invoice = payload(&caller.rnc, &caller.today(), "31", 1_000);
    let issued = caller.issue("o-1", "31", &invoice).await.expect(201);
    caller.wait_for_state(&issued, "accepted").await;
    let encf = issued["encf"].as_str().unwrap();

    // A second company, whose data is in no answer about the first.
    let new = "create-company --rnc 101000001 --name Vecina --email v@x.do --environment TesteCF --json";
    let second = value(&task(new))["company"]["public_id"].as_str().unwrap().to_owned();
    let companies = task("companies");
    let shown = text(&companies.stdout);
    assert!(
        companies.status.success() && shown.contains("101000001") && shown.contains(&caller.rnc),
        "{shown}"
    );

    let found = task(&format!("receipts --encf {encf}"));
    let shown = text(&found.stdout);
    assert!(
        shown.contains(issued["public_id"].as_str().unwrap()) && shown.contains(&caller.rnc),
        "{shown}"
    );
    let none = value(&task(&format!("receipts --encf {encf} --company {second} --json")));
    assert_eq!(none["receipts"], json!([]));

    // The receipt's company and environment are looked up.
    let shown = value(&task(&format!("show-receipt --encf {encf} --json")));
    assert_eq!(shown["receipt"]["public_id"], issued["public_id"]);
    // A command that changes something chooses neither a company nor a receipt.
    let impostor = format!(
        "create-company --rnc {} --name Otra --email o@x.do --environment TesteCF",
        caller.rnc
    );
    assert!(task(&impostor).status.success());
    for (line, code) in [
        (format!("requeue --encf {encf}"), "company_needed"),
        (format!("verify-company --rnc {}", caller.rnc), "company_needed"),
        (format!("deactivate-company --rnc {}", caller.rnc), "several_companies"),
    ] {
        let refused = task(&line);
        let error = text(&refused.stderr);
        assert!(
            refused.status.code() == Some(1) && error.contains(code),
            "{line}: {error}"
        );
    }
    let own = value(&task(&format!("show-company --rnc {} --json", caller.rnc)));
    let own = own["company"]["public_id"].as_str().unwrap();
    let refused = task(&format!("requeue --encf {encf} --company {own}"));
    assert_eq!(refused.status.code(), Some(1));
    let error = text(&refused.stderr);
    assert!(
        refused.stdout.is_empty() && error.contains("refused, nothing_to_do") && error.contains("show-receipt"),
        "{error}"
    );
    let unknown = task("show-receipt --encf E310000999999");
    assert!(unknown.status.code() == Some(1) && text(&unknown.stderr).contains("not_found"));

    // A check goes on to its end; what it finds is status 3.
    let checked = task(&format!("check --rnc {} --part 1", caller.rnc));
    assert!(
        checked.status.success(),
        "{} {}",
        text(&checked.stdout),
        text(&checked.stderr)
    );
    assert!(
        text(&checked.stdout).starts_with("agrees  yes"),
        "{}",
        text(&checked.stdout)
    );
    let examined = task(&format!("examine --company {second}"));
    assert_eq!(examined.status.code(), Some(3));
    assert!(
        text(&examined.stdout).contains("no_certificate"),
        "{}",
        text(&examined.stdout)
    );
    let healthy = task(&format!("examine --rnc {}", caller.rnc));
    assert!(healthy.status.success(), "{}", text(&healthy.stdout));
    for line in [
        "stuck",
        "authority",
        "webhooks --failing",
        "dead-letters",
        "certificates --expiring 1",
    ] {
        let done = task(line);
        assert!(
            done.status.success(),
            "{line}: {} {}",
            text(&done.stdout),
            text(&done.stderr)
        );
    }
    assert_eq!(task("stuk").status.code(), Some(2));
    assert_eq!(task("examine --rnc 401506254").status.code(), Some(1));

    // A key is found by its text, which the command does not contain.
    let key = caller.key.clone();
    let whose = run_with(["operator", "--data", data, "find-key", "--json"], move |input| {
        use std::io::Write as _;
        input.write_all(key.as_bytes()).unwrap();
    });
    assert_eq!(value(&whose)["company"]["rnc"], json!(caller.rnc));
    // A refused JSON command prints the refusal, as ever, and ends with status 1.
    let raw = task(r#"{"command":"show_notice","notice":"0123456789abcdefghjkmnpqrstvwxyz"}"#);
    assert_eq!(
        (raw.status.code(), &value(&raw)["error"]["code"]),
        (Some(1), &json!("not_found"))
    );
    program.interrupt();
}

/// Runs a task on a stack, with the program above as `aws`.
fn on_stack(folder: &Path, words: &str) -> Output {
    let path = format!("{}:/usr/bin:/bin", folder.display());
    let words: Vec<&str> = std::iter::once("operator").chain(words.split(' ')).collect();
    crate::program::command(&words).env("PATH", path).output().unwrap()
}

#[test]
fn o3_a_stack_is_operated_through_the_program_aws() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let write = |name: &str, content: &str| fs::write(folder.join(name), content).unwrap();
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    write("aws", AWS);
    fs::set_permissions(folder.join("aws"), fs::Permissions::from_mode(0o755)).unwrap();
    write("told", r#"{"StatusCode": 200, "ExecutedVersion": "$LATEST"}"#);
    write("answer", r#"{"queues": [{"queue": "exchange", "messages": 2}]}"#);

    let done = on_stack(
        folder,
        "dead-letters --stack ecf-production --profile ops --region us-east-1",
    );
    assert!(done.status.success(), "{}", text(&done.stderr));
    assert_eq!(text(&done.stdout), "queues (1)\n  queue     messages\n  exchange  2\n");
    assert_eq!(read("payloads"), "{\"command\":\"list_dead_letters\"}\n");
    let calls = read("calls");
    assert!(
        calls
            .lines()
            .all(|call| call.contains("--profile ops --region us-east-1")),
        "{calls}"
    );
    assert!(
        calls.contains("--function-name ecf-production-Operator-ABC --cli-binary-format raw-in-base64-out"),
        "{calls}"
    );

    write(
        "answer",
        r#"{"error": {"code": "not_found", "message": "there is no company x"}}"#,
    );
    let refused = on_stack(folder, "show-company --company x --stack ecf-production");
    assert_eq!(refused.status.code(), Some(1));
    assert!(text(&refused.stderr).contains("refused, not_found: there is no company x"));

    // A check that stops says where it continues, after what it found.
    let place = r#"{"number":{"ecf_type":"31","sequence":7}}"#;
    write(
        "answer",
        &format!(r#"{{"found": {{"numbers": 200, "problems": []}}, "agrees": true, "next": {place}}}"#),
    );
    write(
        "answer.next",
        r#"{"error": {"code": "try_again", "message": "the store failed"}}"#,
    );
    let stopped = on_stack(folder, "check --company x --environment ecf --stack ecf-production");
    assert_eq!(stopped.status.code(), Some(1));
    assert!(
        text(&stopped.stdout).contains("numbers   200"),
        "{}",
        text(&stopped.stdout)
    );
    let error = text(&stopped.stderr);
    assert!(
        error.contains("refused, try_again") && error.contains(&format!("continue with --at '{place}'")),
        "{error}"
    );
    assert!(read("payloads").trim_end().lines().last().unwrap().contains(place));

    // A function that breaks answers 200 too.
    write(
        "told",
        r#"{"StatusCode": 200, "FunctionError": "Unhandled", "ExecutedVersion": "$LATEST"}"#,
    );
    write(
        "answer",
        r#"{"errorType": "Sandbox.Timedout", "errorMessage": "Task timed out after 900.00 seconds"}"#,
    );
    let broken = on_stack(folder, "stuck --stack ecf-production");
    let error = text(&broken.stderr);
    assert!(
        broken.status.code() == Some(1) && error.contains("Task timed out"),
        "{error}"
    );
    for (stack, said) in [("nothing", "does not exist"), ("old", "has no output OperatorFunction")] {
        let failed = on_stack(folder, &format!("stuck --stack {stack}"));
        let error = text(&failed.stderr);
        assert!(failed.status.code() == Some(1) && error.contains(said), "{error}");
    }
    fs::remove_file(folder.join("aws")).unwrap();
    let missing = crate::program::command(&["operator", "stuck", "--stack", "ecf-production"])
        .env("PATH", folder)
        .output()
        .unwrap();
    assert!(
        text(&missing.stderr).contains("the program `aws` does not start"),
        "{}",
        text(&missing.stderr)
    );
}
