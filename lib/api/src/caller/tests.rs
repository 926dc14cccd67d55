use super::*;

#[test]
fn a_new_key_shows_its_environment_and_is_found_by_its_hash() {
    let key = ApiKeySecret::generate(Environment::CerteCF, [0xab; 24]);
    assert_eq!(key.text(), format!("ecf_cert_{}", "ab".repeat(24)));
    assert_eq!(key.prefix(), "ecf_cert_abababab");
    assert_eq!(ApiKeySecret::hash_of(key.text()), Some(key.hash()));
}

#[test]
fn a_key_does_not_show_itself_in_a_log() {
    let key = ApiKeySecret::generate(Environment::Ecf, [0xcd; 24]);
    assert_eq!(format!("{key:?}"), "ApiKeySecret(ecf_prod_cdcdcdcd***)");
}

#[test]
fn what_cannot_be_a_key_is_not_looked_up() {
    for text in ["", "Bearer ecf_test_1", "sk_live_1"] {
        assert_eq!(ApiKeySecret::hash_of(text), None, "{text}");
    }
    assert_eq!(ApiKeySecret::hash_of(&format!("ecf_test_{}", "a".repeat(1_000))), None);
}

#[test]
fn a_body_may_name_the_keys_own_environment_only() {
    let caller = Caller {
        scope: Scope {
            company: CompanyId::from_random([1; 20]),
            environment: Environment::TesteCF,
        },
        rnc: "131880681".parse().unwrap(),
        key_id: ApiKeyId::from_random([2; 20]),
        key_scope: KeyScope::Full,
    };
    assert_eq!(caller.check_environment(None).unwrap(), Environment::TesteCF);
    assert_eq!(
        caller.check_environment(Some(Environment::TesteCF)).unwrap(),
        Environment::TesteCF
    );
    let refusal = caller.check_environment(Some(Environment::Ecf)).unwrap_err();
    assert_eq!(refusal.status(), http::StatusCode::UNPROCESSABLE_ENTITY);
}
