use ecf::Environment;
use ecf_store::{ApiKeyId, CompanyId, api_keys::KeyScope};

use super::*;

fn key() -> ApiKey {
    ApiKey {
        id: ApiKeyId::from_random([1; 20]),
        company: CompanyId::from_random([2; 20]),
        environment: Environment::TesteCF,
        rnc: "131880681".parse().unwrap(),
        revoked_at: None,
        expires_at: None,
        scope: KeyScope::Full,
        requests_per_second: None,
    }
}

fn noon() -> Timestamp {
    "2026-11-27T16:00:00Z".parse().unwrap()
}

#[test]
fn a_key_opens_until_it_is_revoked_or_expires() {
    assert!(opens(&key(), noon()));
    let revoked = ApiKey {
        revoked_at: Some(noon()),
        ..key()
    };
    assert!(!opens(&revoked, noon()));
    let expiring = ApiKey {
        expires_at: Some(noon()),
        ..key()
    };
    assert!(opens(&expiring, noon() - SignedDuration::from_secs(1)));
    assert!(!opens(&expiring, noon()));
}
