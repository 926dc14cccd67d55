//! `GET /api/v1/ecf/states`.

use serde_json::Value;

use crate::Api;

#[tokio::test]
async fn the_state_contract_lists_every_state_and_its_ways() {
    let api = Api::start().await;
    let contract = api.get("/api/v1/ecf/states").await.expect(200);
    assert!(contract["source_of_truth"].is_string());
    assert!(contract["mutation_policy"].is_string());
    let states = contract["states"].as_array().unwrap();
    let names: Vec<&str> = states.iter().map(|state| state["name"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        [
            "received",
            "deferred",
            "validated",
            "signed",
            "contingency",
            "submitted",
            "failed",
            "accepted",
            "conditionally_accepted",
            "rejected",
            "cancelled",
            "incapacity",
        ]
    );
    for state in states {
        assert!(state["type"].is_string(), "{state}");
        let transitions = state["transitions"].as_array().unwrap();
        assert_eq!(state["terminal"], transitions.is_empty(), "{state}");
        for next in transitions {
            assert!(names.contains(&next.as_str().unwrap()), "{state}");
        }
    }
    let stages = contract["event_derived_stages"].as_array().unwrap();
    let named = |stage: &Value| [&stage["name"], &stage["event"]].map(|text| text.as_str().unwrap().to_owned());
    assert_eq!(
        stages.iter().map(named).collect::<Vec<_>>(),
        [
            ["notified", "accepted"],
            ["notified", "conditionally_accepted"],
            ["notified", "rejected"],
            ["buyer_approved", "approval.received"],
            ["buyer_rejected", "approval.received"],
        ]
    );
    for stage in stages {
        assert!(stage["description"].is_string(), "{stage}");
    }
    assert_eq!(api.get("/api/v1/eCF/states").await.expect(200), contract);
}
