//! A certificate that we read, OpenSSL reads too, and the key, the numbers and the dates in it are the same.

#![no_main]

use libfuzzer_sys::fuzz_target;
use openssl::x509::X509;
use xmldsig::{Certificate, PublicKey};

fuzz_target!(|der: &[u8]| {
    let Ok(ours) = Certificate::from_der(der) else { return };
    // OpenSSL refuses more: strings of the wrong alphabet, numbers with leading zeros. What it reads must say the same.
    let Ok(theirs) = X509::from_der(der) else { return };
    if let (PublicKey::Rsa { bits }, Ok(key)) = (&ours.public_key, theirs.public_key()) {
        assert_eq!(*bits, key.bits());
    }
    let serial = theirs.serial_number().to_bn().unwrap();
    if !serial.is_negative() {
        let printed = serial.to_hex_str().unwrap();
        assert_eq!(ours.serial_number.trim_start_matches('0'), printed.trim_start_matches('0'));
    }
    let seconds = |time: &openssl::asn1::Asn1TimeRef| {
        let since = openssl::asn1::Asn1Time::from_unix(0).unwrap().diff(time).unwrap();
        i64::from(since.days) * 86_400 + i64::from(since.secs)
    };
    assert_eq!(ours.not_before.as_second(), seconds(theirs.not_before()));
    assert_eq!(ours.not_after.as_second(), seconds(theirs.not_after()));
});
