use ecf::Environment;
use ecf_store::{ApiKeyId, CompanyId, KeyScope};

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

fn hash(number: usize) -> [u8; 32] {
    let mut hash = [0; 32];
    hash[..8].copy_from_slice(&number.to_be_bytes());
    hash
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

#[test]
fn a_key_is_remembered_for_less_than_a_minute() {
    let mut cache = KeyCache::default();
    cache.keep(hash(1), key(), noon());
    assert_eq!(
        cache.find(&hash(1), noon() + SignedDuration::from_secs(59)),
        Some(key())
    );
    assert_eq!(cache.find(&hash(1), noon() + SignedDuration::from_secs(60)), None);
    assert_eq!(cache.find(&hash(2), noon()), None);
}

#[test]
fn the_cache_stays_bounded_and_drops_old_keys_first() {
    let mut cache = KeyCache::default();
    for number in 0..CAPACITY - 1 {
        cache.keep(hash(number), key(), noon());
    }
    let later = noon() + SignedDuration::from_secs(61);
    cache.keep(hash(CAPACITY), key(), later);
    cache.keep(hash(CAPACITY + 1), key(), later);
    assert_eq!(cache.keys.len(), 2);
    for number in 0..3 * CAPACITY {
        cache.keep(hash(number), key(), later);
        assert!(cache.keys.len() <= CAPACITY);
    }
}

#[test]
fn a_use_is_noted_once_an_hour_and_the_memory_of_it_stays_bounded() {
    let id = |number: usize| {
        let mut bytes = [0; 20];
        bytes[..8].copy_from_slice(&number.to_be_bytes());
        ApiKeyId::from_random(bytes)
    };
    let mut cache = KeyCache::default();
    assert!(cache.is_new_use(id(1), noon()));
    assert!(!cache.is_new_use(id(1), noon() + SignedDuration::from_mins(59)));
    assert!(cache.is_new_use(id(2), noon()));
    assert!(cache.is_new_use(id(1), noon() + SignedDuration::from_mins(60)));
    for number in 0..3 * CAPACITY {
        cache.is_new_use(id(number), noon());
        assert!(cache.noted.len() <= CAPACITY);
    }
}
