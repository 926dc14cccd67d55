use ecf::{Environment, rules::OnConditional};
use ecf_store::{
    ApiKeyId, FieldEdit, Profiles,
    api_keys::{ApiKey, ApiKeyCreated, KeyScope, NewApiKey},
    companies::{
        CertificateOwner, CompanyChanges, CompanyCreated, CompanySettings, NewCompany, NewSignup, SettingsChanges,
        SignupRecord,
    },
    tokens::StoredToken,
};
use jiff::SignedDuration;

use crate::support::{app, at, bytes, company, noon};

pub(crate) fn new_company(name: &str, rnc: &str, verified: bool) -> NewCompany {
    NewCompany {
        id: company(name),
        rnc: rnc.parse().unwrap(),
        name: name.to_owned(),
        email: "dte@example.do".to_owned(),
        trade_name: None,
        address: Some("Calle El Conde 1".to_owned()),
        phone: None,
        default_environment: Environment::TesteCF,
        verified,
        certificate: None,
        signup: None,
        invitation: None,
        created_at: noon(),
    }
}

fn new_key(name: &str, owner: &str) -> NewApiKey {
    NewApiKey {
        company: company(owner),
        environment: Environment::TesteCF,
        rnc: "131880681".parse().unwrap(),
        id: ApiKeyId::from_random(bytes(name)),
        hash: bytes(name),
        prefix: "ecf_test_ab".to_owned(),
        name: None,
        created_at: noon(),
        expires_at: None,
        scope: KeyScope::Full,
        created_by: None,
    }
}

#[tokio::test]
async fn an_rnc_belongs_to_one_verified_company_and_to_no_unverified_one() {
    let app = app("rnc").await;
    let create = async |new| app.table.create_company(new, None).await.unwrap();
    assert_eq!(
        create(new_company("rnc-a", "101000001", false)).await,
        CompanyCreated::New
    );
    assert_eq!(
        create(new_company("rnc-b", "101000001", true)).await,
        CompanyCreated::New
    );
    assert_eq!(
        create(new_company("rnc-c", "101000001", true)).await,
        CompanyCreated::RncTaken
    );
    assert_eq!(
        create(new_company("rnc-d", "101000001", false)).await,
        CompanyCreated::New
    );
    assert_eq!(
        create(new_company("rnc-d", "101000001", false)).await,
        CompanyCreated::IdTaken
    );
    assert_eq!(app.table.company(&company("rnc-c")).await.unwrap(), None);
    let owner = app.table.company_by_rnc(&"101000001".parse().unwrap()).await.unwrap();
    assert_eq!(owner, Some(company("rnc-b")));

    let read = app.table.company(&company("rnc-a")).await.unwrap().unwrap();
    assert_eq!((read.name.as_str(), read.verified, read.phone), ("rnc-a", false, None));
    assert_eq!(read.address.as_deref(), Some("Calle El Conde 1"));
    assert_eq!((read.created_at, read.certificate), (noon(), None));
}

#[tokio::test]
async fn a_key_is_found_by_its_hash_until_long_after_its_revocation() {
    let app = app("api keys").await;
    let new = NewApiKey {
        expires_at: Some(at("2027-01-01T00:00:00Z")),
        ..new_key("key-a", "keys")
    };
    let created = async |new: &NewApiKey| app.table.create_api_key(new.clone()).await.unwrap();
    assert_eq!(created(&new).await, ApiKeyCreated::New);
    assert_eq!(created(&new).await, ApiKeyCreated::Taken);
    let key = ApiKey {
        id: new.id,
        company: company("keys"),
        environment: Environment::TesteCF,
        rnc: new.rnc.clone(),
        revoked_at: None,
        expires_at: new.expires_at,
        scope: KeyScope::Full,
        requests_per_second: None,
    };
    assert_eq!(app.table.api_key_by_hash(&new.hash).await.unwrap(), Some(key.clone()));
    assert_eq!(app.table.api_key_by_hash(&bytes("another")).await.unwrap(), None);

    assert!(
        !app.table
            .revoke_api_key(&company("somebody else"), &new.id, noon())
            .await
            .unwrap()
    );
    assert!(
        app.table
            .revoke_api_key(&company("keys"), &new.id, noon())
            .await
            .unwrap()
    );
    let later = noon() + SignedDuration::from_hours(1);
    assert!(
        app.table
            .revoke_api_key(&company("keys"), &new.id, later)
            .await
            .unwrap()
    );
    let revoked = ApiKey {
        revoked_at: Some(noon()),
        ..key
    };
    assert_eq!(app.table.api_key_by_hash(&new.hash).await.unwrap(), Some(revoked));
    let listed = app.table.api_keys(&company("keys")).await.unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!((listed[0].id, listed[0].revoked_at), (new.id, Some(noon())));
    assert_eq!(listed[0].prefix, "ecf_test_ab");
}

#[tokio::test]
async fn a_repeated_sign_up_replaces_the_first_key_for_an_hour() {
    let app = app("sign-up").await;
    let first_key = new_key("signup-key-1", "signup-a");
    let signup = NewSignup {
        key: bytes("idempotency"),
        body_hash: bytes("body"),
        api_key: first_key.id,
    };
    let new = NewCompany {
        signup: Some(signup),
        ..new_company("signup-a", "101000003", false)
    };
    let outcome = app
        .table
        .create_company(new.clone(), Some(first_key.clone()))
        .await
        .unwrap();
    assert_eq!(outcome, CompanyCreated::New);
    assert!(app.table.api_key_by_hash(&first_key.hash).await.unwrap().is_some());

    let rival = NewCompany {
        id: company("signup-b"),
        ..new.clone()
    };
    assert_eq!(
        app.table.create_company(rival.clone(), None).await.unwrap(),
        CompanyCreated::SignupRepeated
    );
    assert_eq!(app.table.company(&company("signup-b")).await.unwrap(), None);

    let half_an_hour_on = noon() + SignedDuration::from_mins(30);
    let record = app
        .table
        .signup(&bytes("idempotency"), half_an_hour_on)
        .await
        .unwrap()
        .unwrap();
    let expected = SignupRecord {
        key: bytes("idempotency"),
        body_hash: bytes("body"),
        company: company("signup-a"),
        api_key: first_key.id,
    };
    assert_eq!(record, expected);
    let second_key = new_key("signup-key-2", "signup-a");
    assert!(
        app.table
            .replace_signup_key(&record, second_key.clone(), half_an_hour_on)
            .await
            .unwrap()
    );
    let read = async |hash| app.table.api_key_by_hash(hash).await.unwrap().unwrap();
    assert_eq!(read(&first_key.hash).await.revoked_at, Some(half_an_hour_on));
    assert_eq!(read(&second_key.hash).await.revoked_at, None);
    // Of two concurrent retries, the slower one finds that the key to revoke was replaced.
    let third_key = new_key("signup-key-3", "signup-a");
    assert!(
        !app.table
            .replace_signup_key(&record, third_key.clone(), half_an_hour_on)
            .await
            .unwrap()
    );
    assert_eq!(app.table.api_key_by_hash(&third_key.hash).await.unwrap(), None);

    let an_hour_on = noon() + SignedDuration::from_hours(1);
    assert_eq!(app.table.signup(&bytes("idempotency"), an_hour_on).await.unwrap(), None);
    let late = NewCompany {
        created_at: an_hour_on,
        ..rival
    };
    assert_eq!(app.table.create_company(late, None).await.unwrap(), CompanyCreated::New);
}

#[tokio::test]
async fn a_token_is_refreshed_by_one_and_dropped_only_by_its_own_refusal() {
    let app = app("tokens").await;
    let certificate = bytes("certificate of tokens");
    let environment = Environment::CerteCF;
    let lease = SignedDuration::from_secs(20);
    let table = &app.table;
    let claim = async |now| {
        table
            .claim_token_refresh(&certificate, environment, now, lease)
            .await
            .unwrap()
    };
    assert_eq!(table.token(&certificate, environment, noon()).await.unwrap(), None);
    assert!(claim(noon()).await);
    assert!(!claim(noon() + SignedDuration::from_secs(19)).await);
    assert!(claim(noon() + lease).await);
    table.release_token_refresh(&certificate, environment).await.unwrap();
    assert!(claim(noon() + lease).await);

    let expires_at = noon() + SignedDuration::from_hours(1);
    let token = StoredToken {
        sealed: b"first".to_vec(),
        expires_at,
    };
    table.store_token(&certificate, environment, &token).await.unwrap();
    assert_eq!(
        table.token(&certificate, environment, noon()).await.unwrap(),
        Some(token.clone())
    );
    assert_eq!(table.token(&certificate, environment, expires_at).await.unwrap(), None);
    assert_eq!(table.token(&certificate, Environment::Ecf, noon()).await.unwrap(), None);
    assert!(claim(noon() + lease).await, "storing ends the refresh");

    table
        .invalidate_token(&certificate, environment, b"an older one")
        .await
        .unwrap();
    assert_eq!(
        table.token(&certificate, environment, noon()).await.unwrap(),
        Some(token)
    );
    table
        .invalidate_token(&certificate, environment, b"first")
        .await
        .unwrap();
    assert_eq!(table.token(&certificate, environment, noon()).await.unwrap(), None);
}

#[tokio::test]
async fn settings_have_defaults_and_two_changes_of_different_ones_both_last() {
    let app = app("settings").await;
    let id = company("settings");
    assert_eq!(
        app.table
            .update_company(&id, CompanyChanges::default(), noon())
            .await
            .unwrap(),
        None
    );
    app.table
        .create_company(new_company("settings", "101000001", false), None)
        .await
        .unwrap();
    let read = async || app.table.company(&id).await.unwrap().unwrap();
    assert_eq!(read().await.settings, CompanySettings::default());

    let first = CompanyChanges {
        phone: FieldEdit::Set("809-555-0100".to_owned()),
        settings: SettingsChanges {
            on_conditional: FieldEdit::Set(OnConditional::Warn),
            hold_notes: FieldEdit::Set(false),
            hold_notes_hours: FieldEdit::Set(1),
            ..SettingsChanges::default()
        },
        ..CompanyChanges::default()
    };
    let second = CompanyChanges {
        email: Some("otra@example.do".to_owned()),
        address: FieldEdit::Clear,
        default_environment: Some(Environment::Ecf),
        settings: SettingsChanges {
            certificate_owner: FieldEdit::Set(CertificateOwner::Refuse),
            sequence_alert_remaining: FieldEdit::Set(7),
            sequence_alert_days: FieldEdit::Set(8),
            reception_token: FieldEdit::Set(true),
            deliver_45: FieldEdit::Set(true),
            approve_accepted_only: FieldEdit::Set(false),
            ..SettingsChanges::default()
        },
        ..CompanyChanges::default()
    };
    let later = noon() + SignedDuration::from_mins(5);
    let (one, two) = tokio::join!(
        app.table.update_company(&id, first, later),
        app.table.update_company(&id, second, later)
    );
    assert!(one.unwrap().is_some() && two.unwrap().is_some());
    let changed = read().await;
    let expected = CompanySettings {
        on_conditional: Some(OnConditional::Warn),
        hold_notes: false,
        hold_notes_hours: 1,
        certificate_owner: CertificateOwner::Refuse,
        sequence_alert_remaining: 7,
        sequence_alert_days: 8,
        reception_token: true,
        deliver_45: true,
        approve_accepted_only: false,
    };
    assert_eq!(changed.settings, expected);
    assert_eq!(changed.phone.as_deref(), Some("809-555-0100"));
    assert_eq!(
        (changed.email.as_str(), changed.address.as_deref()),
        ("otra@example.do", None)
    );
    assert_eq!(
        (changed.default_environment, changed.updated_at),
        (Environment::Ecf, later)
    );

    let cleared = CompanyChanges {
        settings: SettingsChanges {
            on_conditional: FieldEdit::Clear,
            hold_notes: FieldEdit::Clear,
            ..SettingsChanges::default()
        },
        ..CompanyChanges::default()
    };
    let cleared = app.table.update_company(&id, cleared, later).await.unwrap().unwrap();
    assert_eq!(
        (cleared.settings.on_conditional, cleared.settings.hold_notes),
        (None, true)
    );
}

#[tokio::test]
async fn a_company_is_remembered_for_a_minute_and_then_read_again() {
    let app = app("profiles").await;
    let id = company("profiles");
    let profiles = Profiles::new(app.table.clone());
    assert_eq!(profiles.of(&id, noon()).await.unwrap(), None);
    app.table
        .create_company(new_company("profiles", "101000001", false), None)
        .await
        .unwrap();
    let minute = |minutes| noon() + SignedDuration::from_mins(minutes);
    let active = async |now| profiles.of(&id, now).await.unwrap().unwrap().is_active();
    assert!(active(noon()).await);

    let since = app
        .table
        .deactivate_company(&id, minute(1))
        .await
        .unwrap()
        .unwrap()
        .deactivated_at;
    assert_eq!(since, Some(minute(1)));
    let again = app.table.deactivate_company(&id, minute(2)).await.unwrap().unwrap();
    assert_eq!(again.deactivated_at, since);
    assert!(active(noon() + SignedDuration::from_secs(59)).await);
    assert!(!active(noon() + SignedDuration::from_secs(60)).await);

    assert!(
        app.table
            .activate_company(&id, minute(3))
            .await
            .unwrap()
            .unwrap()
            .is_active()
    );
    assert!(active(noon() + SignedDuration::from_secs(120)).await);
}
