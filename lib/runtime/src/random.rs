//! The source of random values.

/// Returns `N` bytes from the operating system's generator, suitable for keys.
///
/// # Panics
/// Panics when the operating system provides no random bytes: no secret may be made then.
pub fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the operating system gives random bytes");
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_draws_differ() {
        assert_ne!(random::<20>(), random::<20>());
    }
}
