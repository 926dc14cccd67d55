//! Reads the real template.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::{collections::BTreeMap, path::Path, time::Duration};

use ecf_stack::{KeyAttribute, Stack};
use serde_yaml_ng::Value as Yaml;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn stack() -> Stack {
    Stack::read(Path::new(ROOT), BTreeMap::new()).unwrap()
}

/// The raw template, for properties without effect in this crate.
fn written(file: &str) -> Yaml {
    serde_yaml_ng::from_str(&std::fs::read_to_string(Path::new(ROOT).join(file)).unwrap()).unwrap()
}

fn parameters(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

#[test]
fn the_program_carries_the_template_it_was_built_with() {
    assert_eq!(Stack::embedded(BTreeMap::new()).unwrap(), stack());
}

#[test]
fn every_function_is_the_program_of_a_crate() {
    let functions = Path::new(ROOT).join("functions");
    // A crate's second program is in `src/bin`.
    let second = |name: &str| {
        let mut crates = functions.read_dir().unwrap().map(|folder| folder.unwrap().path());
        crates.any(|folder| folder.join(format!("src/bin/{name}.rs")).is_file())
    };
    for function in stack().functions {
        let is_main = functions.join(&function.name).join("src/main.rs").is_file();
        assert!(is_main || second(&function.name), "{} has no program", function.name);
    }
}

#[test]
fn each_route_stands_once_and_has_its_twin() {
    let stack = stack();
    let mut routes: Vec<String> = Vec::new();
    for function in &stack.functions {
        routes.extend(
            function
                .routes
                .iter()
                .map(|route| format!("{} {} {}", route.method, route.path, function.name)),
        );
    }
    routes.sort();
    assert_eq!(
        routes,
        [
            "ANY / pages",
            "ANY /api-reference pages",
            "ANY /api-reference/{proxy+} pages",
            "ANY /api/v1/client/api-keys company",
            "ANY /api/v1/client/api-keys/{proxy+} company",
            "ANY /api/v1/client/audit-export audit-export",
            "ANY /api/v1/client/certificates certificates",
            "ANY /api/v1/client/certification/attempts company",
            "ANY /api/v1/client/certification/runs certification",
            "ANY /api/v1/client/certification/runs/{proxy+} certification",
            "ANY /api/v1/client/company company",
            "ANY /api/v1/client/company/{proxy+} company",
            "ANY /api/v1/client/documents documents",
            "ANY /api/v1/client/documents/{proxy+} documents",
            "ANY /api/v1/client/inbox inbox",
            "ANY /api/v1/client/inbox/{proxy+} inbox",
            "ANY /api/v1/client/sequences company",
            "ANY /api/v1/client/sequences/{proxy+} company",
            "ANY /api/v1/client/summary company",
            "ANY /api/v1/client/tools/{proxy+} certificates",
            "ANY /api/v1/client/webhooks webhooks",
            "ANY /api/v1/client/webhooks/{proxy+} webhooks",
            "ANY /api/v1/dgii/catalogues status",
            "ANY /api/v1/dgii/catalogues/{proxy+} status",
            "ANY /api/v1/dgii/directory directory",
            "ANY /api/v1/dgii/rnc/{proxy+} status",
            "ANY /api/v1/dgii/status status",
            "ANY /api/v1/dgii/status/{proxy+} status",
            "ANY /api/v1/eCF issuing",
            "ANY /api/v1/eCF/acecf approvals",
            "ANY /api/v1/eCF/acecf/{proxy+} approvals",
            "ANY /api/v1/eCF/cancellations approvals",
            "ANY /api/v1/eCF/cancellations/{proxy+} approvals",
            "ANY /api/v1/eCF/{public_id} issuing",
            "ANY /api/v1/eCF/{public_id}/pdf documents",
            "ANY /api/v1/eCF/{public_id}/rfce documents",
            "ANY /api/v1/eCF/{public_id}/xml documents",
            "ANY /api/v1/eCF/{public_id}/{proxy+} issuing",
            "ANY /api/v1/ecf issuing",
            "ANY /api/v1/ecf/acecf approvals",
            "ANY /api/v1/ecf/acecf/{proxy+} approvals",
            "ANY /api/v1/ecf/cancellations approvals",
            "ANY /api/v1/ecf/cancellations/{proxy+} approvals",
            "ANY /api/v1/ecf/{public_id} issuing",
            "ANY /api/v1/ecf/{public_id}/pdf documents",
            "ANY /api/v1/ecf/{public_id}/rfce documents",
            "ANY /api/v1/ecf/{public_id}/xml documents",
            "ANY /api/v1/ecf/{public_id}/{proxy+} issuing",
            "ANY /api/v1/health status",
            "ANY /api/v1/notices/{proxy+} status",
            "ANY /api/v1/public/register signup",
            "ANY /api/v1/taxauth/catalogues status",
            "ANY /api/v1/taxauth/catalogues/{proxy+} status",
            "ANY /api/v1/taxauth/directory directory",
            "ANY /api/v1/taxauth/rnc/{proxy+} status",
            "ANY /api/v1/taxauth/status status",
            "ANY /api/v1/taxauth/status/{proxy+} status",
            "ANY /console pages",
            "ANY /console/{proxy+} pages",
            "ANY /openapi/public-v1.json pages",
            "ANY /{proxy+} reception",
        ]
    );
}

#[test]
fn evidence_alone_is_streamed() {
    let stack = stack();
    let streaming = |function: &&ecf_stack::Function| function.routes.iter().any(|route| route.streams);
    let streaming: Vec<_> = stack.functions.iter().filter(streaming).collect();
    assert_eq!(
        streaming
            .iter()
            .map(|function| function.name.as_str())
            .collect::<Vec<_>>(),
        ["audit-export"]
    );
    // Streaming changes the responses of all routes of a function.
    assert!(streaming[0].routes.iter().all(|route| route.streams));
}

#[test]
fn workers_read_their_queues_with_partial_answers() {
    let stack = stack();
    let worker = stack.function("submission-worker").unwrap();
    let queues: Vec<_> = worker.queues.iter().map(|source| source.queue.as_str()).collect();
    assert_eq!(queues, ["SubmissionCerteCF", "SubmissionEcf", "SubmissionTesteCF"]);
    assert_eq!(stack.function("webhook-worker").unwrap().queues[0].queue, "Webhook");
    for source in stack.functions.iter().flat_map(|function| &function.queues) {
        assert!(source.partial_failures, "{} repeats whole batches", source.queue);
        let queue = stack.queue(&source.queue).unwrap();
        let redrive = queue.redrive_policy.as_ref().unwrap();
        assert!(redrive.max_receive_count > 1, "{}", queue.logical_id);
        let dead = stack.queue(&redrive.dead_letter_queue).unwrap();
        assert!(
            dead.message_retention_period > queue.message_retention_period,
            "dead letters of {} go before they are read",
            queue.logical_id
        );
        assert_eq!(dead.redrive_policy, None);
    }
}

#[test]
fn housekeeping_runs_every_minute() {
    let stack = stack();
    let schedules = &stack.function("housekeeping").unwrap().schedules;
    assert_eq!(
        schedules.iter().map(|schedule| schedule.rate).collect::<Vec<_>>(),
        [Duration::from_secs(60)]
    );
}

#[test]
fn the_table_has_its_keys_and_indexes() {
    let stack = stack();
    let [table] = stack.tables.as_slice() else {
        panic!("one table, found {}", stack.tables.len())
    };
    let names = |key: &[KeyAttribute]| -> Vec<String> {
        let kinds: Vec<_> = key.iter().map(|attribute| attribute.key_type.as_str()).collect();
        assert_eq!(kinds, ["HASH", "RANGE"]);
        key.iter().map(|attribute| attribute.attribute_name.clone()).collect()
    };
    assert_eq!(names(&table.key_schema), ["pk", "sk"]);
    let ttl = &table.time_to_live_specification;
    assert_eq!((ttl.attribute_name.as_str(), ttl.enabled), ("ttl", true));
    assert!(table.deletion_protection_enabled);
    let written = &written("infra/storage.yaml")["Resources"]["Table"]["Properties"];
    assert_eq!(
        written["PointInTimeRecoverySpecification"]["PointInTimeRecoveryEnabled"],
        true
    );
    let indexes = table.global_secondary_indexes.iter();
    let indexes = indexes.map(|index| {
        let key = names(&index.key_schema).join(" ");
        format!("{} {key} {}", index.index_name, index.projection.projection_type)
    });
    assert_eq!(
        indexes.collect::<Vec<_>>(),
        [
            "list lp ls INCLUDE",
            "due dp ds KEYS_ONLY",
            "external xp xs KEYS_ONLY",
            "track tp ts KEYS_ONLY"
        ]
    );
}

#[test]
fn the_bucket_keeps_versions_and_stays_private() {
    assert_eq!(stack().buckets, ["Bucket"]);
    let bucket = &written("infra/storage.yaml")["Resources"]["Bucket"]["Properties"];
    assert_eq!(bucket["VersioningConfiguration"]["Status"], "Enabled");
    for name in [
        "BlockPublicAcls",
        "BlockPublicPolicy",
        "IgnorePublicAcls",
        "RestrictPublicBuckets",
    ] {
        assert_eq!(bucket["PublicAccessBlockConfiguration"][name], true, "{name}");
    }
    let rules = bucket["LifecycleConfiguration"]["Rules"].as_sequence().unwrap();
    assert!(rules.iter().all(|rule| rule["Status"] == "Enabled"));
    let [uploads, exports, documents] = rules.as_slice() else {
        panic!("three rules, found {}", rules.len())
    };
    assert_eq!(uploads["AbortIncompleteMultipartUpload"]["DaysAfterInitiation"], 7);
    // Documents are retained for the legal ten years; exports of them expire.
    assert_eq!(
        (&exports["Prefix"], &exports["ExpirationInDays"]),
        (&"exports/".into(), &30.into())
    );
    assert_eq!(documents["Prefix"], Yaml::Null);
    let days = [
        &documents["ExpirationInDays"],
        &documents["NoncurrentVersionExpiration"]["NoncurrentDays"],
    ];
    for days in days {
        let Yaml::Tagged(reference) = days else {
            panic!("a parameter, found {days:?}")
        };
        assert_eq!(
            (reference.tag.to_string().as_str(), &reference.value),
            ("!Ref", &"DocumentRetentionDays".into())
        );
    }
    let days = &written("template.yaml")["Parameters"]["DocumentRetentionDays"]["Default"];
    assert_eq!(*days, 3_680);
}

#[test]
fn the_data_key_is_made_by_the_template() {
    let stack = stack();
    let [secret] = stack.secrets.as_slice() else {
        panic!("one secret, found {}", stack.secrets.len())
    };
    assert_eq!(secret.name.to_string(), "ecf/${AWS::StackName}/data-key");
    assert_eq!(secret.generate_secret_string.password_length, 64);
    let [key] = stack.keys.as_slice() else {
        panic!("one key, found {}", stack.keys.len())
    };
    assert_eq!(secret.kms_key_id.as_attribute_of("Arn"), Some(key.as_str()));
}

#[test]
fn the_gateway_answers_in_the_shape_of_every_error() {
    let api = stack().api;
    assert_eq!(api.stage, "api");
    assert_eq!(api.binary_media_types, ["*/*"]);
    for (name, response) in &api.gateway_responses {
        let body = response.body.replace("$context.error.messageString", "\"words\"");
        let body: serde_json::Value = serde_json::from_str(&body).unwrap();
        assert!(body["detail"].is_string(), "{name}");
    }
    let unknown_path = &api.gateway_responses["MISSING_AUTHENTICATION_TOKEN"];
    assert_eq!(unknown_path.status, Some(404));
    assert_eq!(api.gateway_responses["THROTTLED"].headers["Retry-After"], "1");
}

#[test]
fn optional_variables_are_there_only_with_a_value() {
    let portal = |stack: &Stack| {
        let url = stack
            .function("webhook-worker")
            .unwrap()
            .environment
            .get("PORTAL_URL")
            .cloned();
        url.map(|url| url.to_string())
    };
    assert_eq!(portal(&stack()), None);
    let with = parameters(&[("PortalUrl", "https://portal.example")]);
    let with = Stack::read(Path::new(ROOT), with).unwrap();
    assert_eq!(portal(&with).as_deref(), Some("https://portal.example"));
}

#[test]
fn a_lock_on_objects_is_read_and_changes_nothing_here() {
    for mode in ["GOVERNANCE", "COMPLIANCE"] {
        let locked = Stack::read(Path::new(ROOT), parameters(&[("ObjectLock", mode)])).unwrap();
        assert_eq!(locked, stack());
    }
    assert!(Stack::read(Path::new(ROOT), parameters(&[("ObjectLock", "on")])).is_err());
}

#[test]
fn pages_that_may_call_can_read_what_the_gateway_answers() {
    let allowed = |stack: &Stack| {
        let responses = stack.api.gateway_responses.values();
        let headers = responses.map(|response| response.headers.get("Access-Control-Allow-Origin").cloned());
        headers.collect::<Vec<_>>()
    };
    let without = stack();
    assert!(allowed(&without).iter().all(Option::is_none));
    assert_eq!(without.api.gateway_responses["THROTTLED"].headers.len(), 1);
    let with = Stack::read(Path::new(ROOT), parameters(&[("CorsOrigins", "https://erp.example")])).unwrap();
    assert!(allowed(&with).iter().all(|origin| origin.as_deref() == Some("*")));
    let throttled = &with.api.gateway_responses["THROTTLED"].headers;
    assert_eq!(throttled["Access-Control-Expose-Headers"], "Retry-After");
}

#[test]
fn a_host_name_a_firewall_and_a_budget_are_there_only_when_asked_for() {
    let asked = [
        ("DomainName", "ecf.example.com"),
        ("WafRequestsPerFiveMinutes", "1000"),
        ("AlarmUrl", "https://oncall.example.com"),
        ("MonthlyBudget", "200"),
    ];
    // All are evaluated, including every reference, and change nothing here.
    assert_eq!(Stack::read(Path::new(ROOT), parameters(&asked)).unwrap(), stack());
}

#[test]
fn a_retained_data_key_is_not_made_again() {
    let with = Stack::read(Path::new(ROOT), parameters(&[("DataKeyOrigin", "retained")])).unwrap();
    assert_eq!(with.secrets, []);
    assert_eq!(with.functions, stack().functions);
}

#[test]
fn unknown_and_impossible_parameters_are_refused() {
    let refused = |name, value| {
        Stack::read(Path::new(ROOT), parameters(&[(name, value)]))
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        refused("PortalUri", "x"),
        "template.yaml: Parameters: there is no PortalUri"
    );
    assert_eq!(
        refused("AllowLoopbackTargets", "yes"),
        "template.yaml: Parameters.AllowLoopbackTargets: expected one of false, true, found yes"
    );
}
