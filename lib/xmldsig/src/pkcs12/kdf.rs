//! Key derivation: that of PKCS#12 (RFC 7292, appendix B.2) and PBKDF2, within a bound on the work that one file may ask for.

use hmac::{Hmac, KeyInit, Mac};
use pbkdf2::pbkdf2_hmac;
use sha1::Sha1;
use sha2::{Sha224, Sha256, Sha384, Sha512};
use zeroize::{Zeroize, Zeroizing};

use super::P12Error;
use super::password::Secret;

/// Firefox asks for 600,000 iterations for each of three keys; this is some seconds of work at worst.
const MOST_ITERATIONS: u32 = 6_000_000;

/// How many iterations one file may still ask for.
pub(super) struct Work {
    left: u32,
}

impl Work {
    pub(super) fn new() -> Self {
        Self { left: MOST_ITERATIONS }
    }

    fn spend(&mut self, iterations: u32, blocks: usize) -> Result<(), P12Error> {
        let wanted = u32::try_from(blocks).unwrap_or(u32::MAX).saturating_mul(iterations);
        self.left = self
            .left
            .checked_sub(wanted)
            .ok_or(P12Error::TooManyIterations { limit: MOST_ITERATIONS })?;
        Ok(())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Digest {
    Sha1,
    Sha224,
    Sha256,
    Sha384,
    Sha512,
}

impl Digest {
    pub(super) fn output_size(self) -> usize {
        match self {
            Self::Sha1 => 20,
            Self::Sha224 => 28,
            Self::Sha256 => 32,
            Self::Sha384 => 48,
            Self::Sha512 => 64,
        }
    }

    fn block_size(self) -> usize {
        match self {
            Self::Sha1 | Self::Sha224 | Self::Sha256 => 64,
            Self::Sha384 | Self::Sha512 => 128,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Sha1 => "SHA-1",
            Self::Sha224 => "SHA-224",
            Self::Sha256 => "SHA-256",
            Self::Sha384 => "SHA-384",
            Self::Sha512 => "SHA-512",
        }
    }

    /// The digest of `first` and `second` together, then of the result, `iterations` times in all.
    fn repeated(self, first: &[u8], second: &[u8], iterations: u32) -> Secret {
        fn repeated<D: sha2::Digest>(first: &[u8], second: &[u8], iterations: u32) -> Secret {
            let mut digest = D::new().chain_update(first).chain_update(second).finalize();
            for _ in 1..iterations {
                digest = D::digest(&digest);
            }
            let kept = Zeroizing::new(digest.to_vec());
            digest.zeroize();
            kept
        }
        match self {
            Self::Sha1 => repeated::<Sha1>(first, second, iterations),
            Self::Sha224 => repeated::<Sha224>(first, second, iterations),
            Self::Sha256 => repeated::<Sha256>(first, second, iterations),
            Self::Sha384 => repeated::<Sha384>(first, second, iterations),
            Self::Sha512 => repeated::<Sha512>(first, second, iterations),
        }
    }

    /// HMAC of `data`.
    pub(super) fn hmac(self, key: &[u8], data: &[u8]) -> Secret {
        fn hmac<M: KeyInit + Mac>(key: &[u8], data: &[u8]) -> Secret {
            // HMAC takes keys of every length.
            let code = M::new_from_slice(key).map(|mac| mac.chain_update(data).finalize().into_bytes().to_vec());
            Zeroizing::new(code.unwrap_or_default())
        }
        match self {
            Self::Sha1 => hmac::<Hmac<Sha1>>(key, data),
            Self::Sha224 => hmac::<Hmac<Sha224>>(key, data),
            Self::Sha256 => hmac::<Hmac<Sha256>>(key, data),
            Self::Sha384 => hmac::<Hmac<Sha384>>(key, data),
            Self::Sha512 => hmac::<Hmac<Sha512>>(key, data),
        }
    }
}

/// What the derived bytes are for (RFC 7292, appendix B.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Key = 1,
    InitializationVector = 2,
    Mac = 3,
}

/// The key derivation of PKCS#12.
pub(super) fn pkcs12(
    digest: Digest,
    purpose: Purpose,
    password: &[u8],
    salt: &[u8],
    iterations: u32,
    length: usize,
    work: &mut Work,
) -> Result<Secret, P12Error> {
    let block = digest.block_size();
    work.spend(iterations, length.div_ceil(digest.output_size()))?;
    let diversifier = vec![purpose as u8; block];
    let mut input = Zeroizing::new([repeated_to_blocks(salt, block), repeated_to_blocks(password, block)].concat());
    let mut output = Secret::default();
    while output.len() < length {
        let derived = digest.repeated(&diversifier, &input, iterations);
        output.extend_from_slice(&derived);
        for chunk in input.chunks_mut(block) {
            // The chunk, the derived bytes repeated, and one are added as big-endian numbers.
            let mut carry = 1_u16;
            for at in (0..block).rev() {
                carry += u16::from(chunk[at]) + u16::from(derived[at % derived.len()]);
                let [high, low] = carry.to_be_bytes();
                chunk[at] = low;
                carry = u16::from(high);
            }
        }
    }
    output.truncate(length);
    Ok(output)
}

fn repeated_to_blocks(bytes: &[u8], block: usize) -> Vec<u8> {
    bytes
        .iter()
        .copied()
        .cycle()
        .take(bytes.len().div_ceil(block) * block)
        .collect()
}

/// PBKDF2 with HMAC.
pub(super) fn pbkdf2(
    digest: Digest,
    password: &[u8],
    salt: &[u8],
    iterations: u32,
    length: usize,
    work: &mut Work,
) -> Result<Secret, P12Error> {
    work.spend(iterations, length.div_ceil(digest.output_size()))?;
    let mut output = Zeroizing::new(vec![0; length]);
    if iterations == 0 {
        return Err(P12Error::Damaged("a key derivation with impossible parameters"));
    }
    let derive = match digest {
        Digest::Sha1 => pbkdf2_hmac::<Sha1>,
        Digest::Sha224 => pbkdf2_hmac::<Sha224>,
        Digest::Sha256 => pbkdf2_hmac::<Sha256>,
        Digest::Sha384 => pbkdf2_hmac::<Sha384>,
        Digest::Sha512 => pbkdf2_hmac::<Sha512>,
    };
    derive(password, salt, iterations, &mut output);
    Ok(output)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    /// Known answers that circulate with several implementations of the derivation ("smeg", "queeg").
    #[test]
    fn the_derivation_gives_known_answers() {
        let smeg = b"\0s\0m\0e\0g\0\0";
        let queeg = b"\0q\0u\0e\0e\0g\0\0";
        let mut work = Work::new();
        let mut derive = |purpose, password: &[u8], salt: &[u8], iterations, length| {
            pkcs12(Digest::Sha1, purpose, password, salt, iterations, length, &mut work)
                .unwrap()
                .to_vec()
        };
        let hex = |text: &str| -> Vec<u8> {
            (0..text.len())
                .step_by(2)
                .map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap())
                .collect()
        };
        assert_eq!(
            derive(Purpose::Key, smeg, &hex("0A58CF64530D823F"), 1, 24),
            hex("8AAAE6297B6CB04642AB5B077851284EB7128F1A2A7FBCA3")
        );
        assert_eq!(
            derive(Purpose::InitializationVector, smeg, &hex("0A58CF64530D823F"), 1, 8),
            hex("79993DFE048D3B76")
        );
        assert_eq!(
            derive(Purpose::Key, queeg, &hex("05DEC959ACFF72F7"), 1000, 24),
            hex("ED2034E36328830FF09DF1E1A07DD357185DAC0D4F9EB3D4")
        );
        assert_eq!(
            derive(Purpose::Mac, smeg, &hex("3D83C0E4546AC140"), 1, 20),
            hex("8D967D88F6CAA9D714800AB3D48051D63F73A312")
        );
    }

    #[test]
    fn work_is_bounded_over_the_whole_file() {
        let mut work = Work::new();
        assert!(work.spend(MOST_ITERATIONS / 2, 2).is_ok());
        assert_eq!(
            work.spend(1, 1),
            Err(P12Error::TooManyIterations { limit: MOST_ITERATIONS })
        );
        assert!(pkcs12(Digest::Sha1, Purpose::Key, b"", b"", u32::MAX, 24, &mut Work::new()).is_err());
    }
}
