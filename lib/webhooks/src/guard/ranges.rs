//! The address ranges that are not public internet.
//!
//! From the IANA registries of special-purpose addresses. The IPv4 table lists what is blocked. For IPv6, only global
//! unicast addresses (2000::/3) are public, except the special-purpose ranges inside; an address that embeds an IPv4
//! address is judged by that one.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The kind of address that the local system may call.
pub(super) const LOOPBACK: &str = "a loopback address";

/// First address, prefix length, kind.
const V4: [(Ipv4Addr, u32, &str); 17] = [
    (Ipv4Addr::new(0, 0, 0, 0), 8, "an address of this network"),
    (Ipv4Addr::new(10, 0, 0, 0), 8, "a private address"),
    (Ipv4Addr::new(100, 64, 0, 0), 10, "an address behind a carrier's NAT"),
    (Ipv4Addr::new(127, 0, 0, 0), 8, LOOPBACK),
    // The metadata services of most clouds.
    (Ipv4Addr::new(169, 254, 0, 0), 16, "a link-local address"),
    (Ipv4Addr::new(172, 16, 0, 0), 12, "a private address"),
    (Ipv4Addr::new(192, 0, 0, 0), 24, "an address for protocols"),
    (Ipv4Addr::new(192, 0, 2, 0), 24, "an address for documentation"),
    (Ipv4Addr::new(192, 88, 99, 0), 24, "a relay address"),
    (Ipv4Addr::new(192, 168, 0, 0), 16, "a private address"),
    (Ipv4Addr::new(198, 18, 0, 0), 15, "an address for benchmarks"),
    (Ipv4Addr::new(198, 51, 100, 0), 24, "an address for documentation"),
    (Ipv4Addr::new(203, 0, 113, 0), 24, "an address for documentation"),
    (Ipv4Addr::new(224, 0, 0, 0), 4, "a multicast address"),
    (Ipv4Addr::new(240, 0, 0, 0), 4, "a reserved address"),
    // The metadata and DHCP service of one cloud, at a public address.
    (Ipv4Addr::new(168, 63, 129, 16), 32, "a metadata address"),
    (Ipv4Addr::new(255, 255, 255, 255), 32, "the broadcast address"),
];

/// First address, prefix length, kind; all within 2000::/3.
const V6: [(Ipv6Addr, u32, &str); 4] = [
    (
        Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0),
        23,
        "an address for protocols",
    ),
    (
        Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0),
        32,
        "an address for documentation",
    ),
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16, "a relay address"),
    (
        Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0),
        20,
        "an address for documentation",
    ),
];

/// What kind of special-purpose address it is, or `None` for a public one.
pub(super) fn refusal(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(address) => v4(address),
        IpAddr::V6(address) => v6(address),
    }
}

fn v4(address: Ipv4Addr) -> Option<&'static str> {
    let bits = address.to_bits();
    V4.iter()
        .find(|(first, length, _)| (bits ^ first.to_bits()) >> (32 - length) == 0)
        .map(|(_, _, kind)| *kind)
}

fn v6(address: Ipv6Addr) -> Option<&'static str> {
    let bits = address.to_bits();
    let embedded = Ipv4Addr::from_bits((bits & u128::from(u32::MAX)) as u32);
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0] => Some("the unspecified address"),
        [0, 0, 0, 0, 0, 0, 0, 1] => Some(LOOPBACK),
        // Mapped addresses connect over IPv4.
        [0, 0, 0, 0, 0, 0xffff, _, _] => v4(embedded),
        // Translated by NAT64, on IPv6-only networks.
        [0x64, 0xff9b, 0, 0, 0, 0, _, _] => v4(embedded),
        [0, 0, 0, 0, 0, 0, _, _] => Some("a version 4 address in disguise"),
        [0xfc00..=0xfdff, ..] => Some("a private address"),
        [0xfe80..=0xfebf, ..] => Some("a link-local address"),
        [0xff00..=0xffff, ..] => Some("a multicast address"),
        [0x2000..=0x3fff, ..] => V6
            .iter()
            .find(|(first, length, _)| (bits ^ first.to_bits()) >> (128 - length) == 0)
            .map(|(_, _, kind)| *kind),
        _ => Some("a reserved address"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_edges_of_every_range_are_refused_and_their_neighbours_are_not() {
        // (first, last, the public address before, the public address after)
        let ranges = [
            ("0.0.0.0", "0.255.255.255", None, Some("1.0.0.0")),
            ("10.0.0.0", "10.255.255.255", Some("9.255.255.255"), Some("11.0.0.0")),
            (
                "100.64.0.0",
                "100.127.255.255",
                Some("100.63.255.255"),
                Some("100.128.0.0"),
            ),
            (
                "127.0.0.0",
                "127.255.255.255",
                Some("126.255.255.255"),
                Some("128.0.0.0"),
            ),
            (
                "168.63.129.16",
                "168.63.129.16",
                Some("168.63.129.15"),
                Some("168.63.129.17"),
            ),
            (
                "169.254.0.0",
                "169.254.255.255",
                Some("169.253.255.255"),
                Some("169.255.0.0"),
            ),
            (
                "172.16.0.0",
                "172.31.255.255",
                Some("172.15.255.255"),
                Some("172.32.0.0"),
            ),
            ("192.0.0.0", "192.0.0.255", Some("191.255.255.255"), Some("192.0.1.0")),
            ("192.0.2.0", "192.0.2.255", Some("192.0.1.255"), Some("192.0.3.0")),
            (
                "192.88.99.0",
                "192.88.99.255",
                Some("192.88.98.255"),
                Some("192.88.100.0"),
            ),
            (
                "192.168.0.0",
                "192.168.255.255",
                Some("192.167.255.255"),
                Some("192.169.0.0"),
            ),
            (
                "198.18.0.0",
                "198.19.255.255",
                Some("198.17.255.255"),
                Some("198.20.0.0"),
            ),
            (
                "198.51.100.0",
                "198.51.100.255",
                Some("198.51.99.255"),
                Some("198.51.101.0"),
            ),
            (
                "203.0.113.0",
                "203.0.113.255",
                Some("203.0.112.255"),
                Some("203.0.114.0"),
            ),
            ("224.0.0.0", "255.255.255.255", Some("223.255.255.255"), None),
            ("::", "::1", None, None),
            ("::2", "::ffff:fffe", None, None),
            (
                "::ffff:10.0.0.0",
                "::ffff:10.255.255.255",
                Some("::ffff:9.255.255.255"),
                Some("::ffff:11.0.0.0"),
            ),
            (
                "64:ff9b::a00:0",
                "64:ff9b::aff:ffff",
                Some("64:ff9b::9ff:ffff"),
                Some("64:ff9b::b00:0"),
            ),
            ("64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff", None, None),
            ("100::", "100::ffff:ffff:ffff:ffff", None, None),
            (
                "2001::",
                "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff",
                Some("2000:ffff::"),
                Some("2001:200::"),
            ),
            (
                "2001:db8::",
                "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff",
                Some("2001:db7::"),
                Some("2001:db9::"),
            ),
            (
                "2002::",
                "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
                Some("2001:ffff::"),
                Some("2003::"),
            ),
            (
                "3fff::",
                "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff",
                Some("3ffe:ffff::"),
                Some("3fff:1000::"),
            ),
            ("4000::", "fbff::", Some("3fff:ffff::"), None),
            ("fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", None, None),
            ("fe80::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", None, None),
        ];
        let kind = |text: &str| refusal(text.parse().unwrap());
        for (first, last, before, after) in ranges {
            assert!(kind(first).is_some(), "{first}");
            assert!(kind(last).is_some(), "{last}");
            for neighbour in [before, after].into_iter().flatten() {
                assert_eq!(kind(neighbour), None, "{neighbour}");
            }
        }
    }

    #[test]
    fn loopback_is_told_from_other_inner_addresses_also_when_mapped() {
        for text in ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"] {
            assert_eq!(refusal(text.parse().unwrap()), Some(LOOPBACK), "{text}");
        }
        for text in [
            "0.0.0.0",
            "::",
            "10.0.0.1",
            "::ffff:10.0.0.1",
            "::127.0.0.1",
            "169.254.169.254",
        ] {
            assert_ne!(refusal(text.parse().unwrap()), Some(LOOPBACK), "{text}");
        }
    }
}
