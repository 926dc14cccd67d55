//! Where random values come from.

/// `N` bytes from the operating system's generator, good enough for keys.
///
/// # Panics
///
/// When the operating system has no random bytes to give. Nothing that needs a secret may go on then.
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
