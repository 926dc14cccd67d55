//! The simulator is a second opinion, so it must not depend on any crate of the workspace.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

#[test]
fn no_crate_of_the_workspace_is_a_dependency() {
    let own = include_str!("../Cargo.toml");
    let workspace = include_str!("../../../Cargo.toml");
    let members: Vec<&str> = workspace
        .lines()
        .filter(|line| line.contains("path = \""))
        .map(|line| line.split(['=', ' ']).next().unwrap())
        .collect();
    assert!(members.contains(&"ecf") && members.contains(&"xmldsig"), "{members:?}");
    for line in own.lines().skip_while(|line| !line.starts_with("[dependencies]")) {
        let dependency = line.split(['.', '=', ' ']).next().unwrap();
        assert!(!members.contains(&dependency) && !line.contains("path"), "{line}");
    }
}
