//! A bounded cache of values that are valid for a fixed time after they were read.

use std::hash::Hash;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::{SignedDuration, Timestamp};
use lru::LruCache;

/// The values that were used last, each with the time at which it was inserted. Clones share them.
#[derive(Debug, Clone)]
pub struct Recent<K: Hash + Eq, V> {
    max_age: SignedDuration,
    entries: Arc<Mutex<Entries<K, V>>>,
}

type Entries<K, V> = LruCache<K, (V, Timestamp)>;

impl<K: Hash + Eq, V: Clone> Recent<K, V> {
    /// An empty cache. When it is full, the value that was not used for the longest time is evicted.
    pub fn new(capacity: NonZeroUsize, max_age: SignedDuration) -> Self {
        Self {
            max_age,
            entries: Arc::new(Mutex::new(LruCache::new(capacity))),
        }
    }

    /// The value of a key, unless it is too old. One that is too old is removed.
    pub fn get(&self, key: &K, now: Timestamp) -> Option<V> {
        let mut entries = self.entries();
        let (value, since) = entries.get(key)?;
        if now.duration_since(*since) < self.max_age {
            return Some(value.clone());
        }
        entries.pop(key);
        None
    }

    /// Inserts a value, or replaces the key's.
    pub fn insert(&self, key: K, value: V, now: Timestamp) {
        self.entries().put(key, (value, now));
    }

    /// Inserts a value unless the key has one that is not too old. Returns whether it was inserted.
    pub fn insert_new(&self, key: K, value: V, now: Timestamp) -> bool {
        let mut entries = self.entries();
        let is_known = |(_, since): &(V, Timestamp)| now.duration_since(*since) < self.max_age;
        let is_new = !entries.get(&key).is_some_and(is_known);
        if is_new {
            entries.put(key, (value, now));
        }
        is_new
    }

    /// Removes the value of a key.
    pub fn remove(&self, key: &K) {
        self.entries().pop(key);
    }

    /// Removes every value.
    pub fn clear(&self) {
        self.entries().clear();
    }

    fn entries(&self) -> MutexGuard<'_, Entries<K, V>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_795_795_200 + second).unwrap()
    }

    fn cache() -> Recent<u32, &'static str> {
        Recent::new(NonZeroUsize::new(2).unwrap(), SignedDuration::from_secs(60))
    }

    #[test]
    fn a_value_is_valid_for_less_than_its_maximum_age() {
        let cache = cache();
        cache.insert(1, "a", at(0));
        assert_eq!(cache.get(&1, at(59)), Some("a"));
        assert_eq!(cache.get(&1, at(60)), None);
        assert_eq!(cache.get(&1, at(0)), None, "it was removed");
        assert_eq!(cache.get(&2, at(0)), None);
        cache.insert(1, "b", at(60));
        assert_eq!(cache.clone().get(&1, at(119)), Some("b"), "clones share values");
        cache.remove(&1);
        assert_eq!(cache.get(&1, at(60)), None);
    }

    #[test]
    fn a_value_is_new_again_when_the_last_one_is_too_old() {
        let cache = cache();
        assert!(cache.insert_new(1, "a", at(0)));
        assert!(!cache.insert_new(1, "b", at(59)));
        assert_eq!(cache.get(&1, at(59)), Some("a"));
        assert!(cache.insert_new(2, "b", at(59)));
        assert!(cache.insert_new(1, "c", at(60)));
        assert_eq!(cache.get(&1, at(119)), Some("c"));
    }

    #[test]
    fn a_full_cache_evicts_the_value_that_was_not_used_for_the_longest_time() {
        let cache = cache();
        cache.insert(1, "a", at(0));
        cache.insert(2, "b", at(0));
        cache.get(&1, at(1));
        cache.insert(3, "c", at(2));
        let left = [1, 2, 3].map(|key| cache.get(&key, at(2)));
        assert_eq!(left, [Some("a"), None, Some("c")]);
        cache.clear();
        assert_eq!(cache.get(&3, at(2)), None);
    }
}
