//! The payloads in `events/` match the template: each reaches its function by a route, queue or schedule of the
//! template.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::{collections::BTreeMap, fs, path::Path};

use ecf_stack::{Function, Stack};
use serde_json::Value;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn events_of(function: &Function) -> Vec<(String, Value)> {
    let folder = Path::new(ROOT).join("events").join(&function.name);
    let files = fs::read_dir(&folder).unwrap_or_else(|error| panic!("events/{}: {error}", function.name));
    files
        .map(|file| {
            let path = file.unwrap().path();
            let event = serde_json::from_str(&fs::read_to_string(&path).unwrap());
            (
                path.display().to_string(),
                event.unwrap_or_else(|error| panic!("{}: {error}", path.display())),
            )
        })
        .collect()
}

#[test]
fn each_event_reaches_its_function() {
    let stack = Stack::read(Path::new(ROOT), BTreeMap::new()).unwrap();
    for function in &stack.functions {
        let events = events_of(function);
        assert!(!events.is_empty(), "events/{} is empty", function.name);
        for (file, event) in events {
            if let Some(resource) = event["resource"].as_str() {
                assert!(
                    function.routes.iter().any(|route| route.path == resource),
                    "{file}: no route {resource}"
                );
                assert_eq!(event["requestContext"]["stage"], stack.api.stage.as_str(), "{file}");
            } else if let Some(records) = event["Records"].as_array() {
                for record in records {
                    let arn = record["eventSourceARN"].as_str().unwrap();
                    let known = function
                        .queues
                        .iter()
                        .any(|source| arn.ends_with(&format!("-{}", source.queue)));
                    assert!(known, "{file}: {arn} feeds another function or none");
                }
            } else if event["command"].is_string() {
                let triggers = function.routes.len() + function.queues.len() + function.schedules.len();
                assert_eq!(triggers, 0, "{file}: the function is not invoked by hand");
            } else {
                assert_eq!(event["detail-type"], "Scheduled Event", "{file}");
                assert!(!function.schedules.is_empty(), "{file}: no schedule");
            }
        }
    }
}

#[test]
fn no_folder_of_events_is_left_from_a_function_that_went() {
    let stack = Stack::read(Path::new(ROOT), BTreeMap::new()).unwrap();
    for folder in fs::read_dir(Path::new(ROOT).join("events")).unwrap() {
        let folder = folder.unwrap();
        let name = folder.file_name().into_string().unwrap();
        assert!(
            stack.function(&name).is_some() || folder.file_type().unwrap().is_file(),
            "events/{name}"
        );
    }
}

/// `infra/checks/lambda-invoke` compares the programs' responses with this file.
#[test]
fn each_event_says_what_it_is_answered() {
    let stack = Stack::read(Path::new(ROOT), BTreeMap::new()).unwrap();
    let file = fs::read_to_string(Path::new(ROOT).join("events/expected.json")).unwrap();
    let expected: Vec<Value> = serde_json::from_str(&file).unwrap();
    let mut told: Vec<&str> = expected.iter().map(|line| line["event"].as_str().unwrap()).collect();
    told.sort_unstable();
    let mut there = Vec::new();
    for function in &stack.functions {
        for file in fs::read_dir(Path::new(ROOT).join("events").join(&function.name)).unwrap() {
            there.push(format!(
                "{}/{}",
                function.name,
                file.unwrap().file_name().into_string().unwrap()
            ));
        }
    }
    there.sort_unstable();
    assert_eq!(told, there);
}
