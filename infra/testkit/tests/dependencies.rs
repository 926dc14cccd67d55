//! `docs/dependencies.md` has exactly one row for every direct dependency of the deployed programs.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::collections::BTreeSet;
use std::fs;

use ecf_testkit::{documented_codes, repository};

#[test]
fn every_dependency_of_the_deployed_programs_has_a_row() {
    let workspace = section(
        &fs::read_to_string(repository("Cargo.toml")).unwrap(),
        "[workspace.dependencies]",
    );
    let ours = |name: &String| {
        workspace
            .iter()
            .any(|(own, value)| own == name && value.contains("path = "))
    };
    let mut used = BTreeSet::new();
    for folder in ["functions", "lib"] {
        for package in fs::read_dir(repository(folder)).unwrap() {
            let manifest = fs::read_to_string(package.unwrap().path().join("Cargo.toml")).unwrap();
            used.extend(section(&manifest, "[dependencies]").into_iter().map(|(name, _)| name));
        }
    }
    used.retain(|name| !ours(name));
    assert!(used.len() > 30, "{used:?}");
    let documented = documented_codes("docs/dependencies.md");
    let missing: Vec<_> = used.difference(&documented).collect();
    assert!(missing.is_empty(), "without a row: {missing:?}");
    let gone: Vec<_> = documented.difference(&used).collect();
    assert!(gone.is_empty(), "rows without a dependency: {gone:?}");
}

#[test]
fn a_release_build_of_everything_links_no_test_feature() {
    let mut seen = 0;
    for folder in ["functions", "lib", "infra"] {
        for package in fs::read_dir(repository(folder)).unwrap() {
            let package = package.unwrap();
            let Ok(manifest) = fs::read_to_string(package.path().join("Cargo.toml")) else {
                continue;
            };
            seen += 1;
            for (name, value) in section(&manifest, "[dependencies]") {
                let is_for_tests = value.contains("\"testing\"") || value.contains("\"fuzzing\"");
                assert!(!is_for_tests, "{:?}: {name} ={value}", package.path());
                // Generates unprotected keys.
                let may_make_certificates = folder == "infra";
                let is_optional = value.contains("optional = true");
                assert!(
                    name != "test-certificates" || may_make_certificates || is_optional,
                    "{:?}: {name}",
                    package.path()
                );
            }
        }
    }
    assert!(seen > 30, "{seen}");
}

/// Names and values of a section of a manifest.
fn section(manifest: &str, heading: &str) -> Vec<(String, String)> {
    let lines = manifest.lines().skip_while(|line| *line != heading).skip(1);
    lines
        .take_while(|line| !line.starts_with('['))
        .filter_map(|line| line.split_once('='))
        .map(|(name, value)| (name.trim().trim_end_matches(".workspace").to_owned(), value.to_owned()))
        .collect()
}
