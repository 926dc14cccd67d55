# `just` lists the recipes. Everything here also runs without `just`: see CONTRIBUTING.md.

_default:
    @just --list

# Before each commit: format, lints, tests. No root; no network once the crates are downloaded.
fast:
    cargo fmt --all --check
    cargo clippy -q --workspace --all-targets -- -D warnings
    cargo test -q
    cargo run -q -- openapi --check
    infra/checks/circles/run
    infra/checks/words/run

# One wider check, or several, by name: `just wide "published client" schemathesis`.
[positional-arguments]
wide +steps:
    .ci/run "$@"

# The names of the wider checks.
steps:
    .ci/run --list

# Some tests, with the arguments of `cargo test`: `just one --test api -- a_replay`.
[positional-arguments]
one +arguments:
    cargo test --workspace "$@"

# The whole system on http://127.0.0.1:8080.
[positional-arguments]
run *options:
    cargo run -- "$@"
