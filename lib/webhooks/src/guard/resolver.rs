//! DNS resolution that returns checked addresses only.
//!
//! The connection uses exactly the addresses returned here, so no second resolution can return different ones.

use std::net::SocketAddr;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::{Guard, RefusedAddress};

/// The system's resolver, filtered by a [`Guard`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct GuardedResolver(pub(crate) Guard);

impl Resolve for GuardedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let guard = self.0;
        Box::pin(async move {
            let found: Vec<SocketAddr> = tokio::net::lookup_host((name.as_str(), 0)).await?.collect();
            let checked = admit(guard, &found)?;
            Ok(Box::new(checked.into_iter()) as Addrs)
        })
    }
}

/// The addresses that may be called. Fails when all addresses of a name are refused.
fn admit(guard: Guard, found: &[SocketAddr]) -> Result<Vec<SocketAddr>, RefusedAddress> {
    let (mut admitted, mut refused) = (Vec::new(), None);
    for address in found {
        match guard.check_ip(address.ip()) {
            Ok(()) => admitted.push(*address),
            Err(refusal) => refused = Some(refusal),
        }
    }
    match refused {
        Some(refusal) if admitted.is_empty() => Err(refusal),
        _ => Ok(admitted),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::Reach;

    fn addresses(texts: &[&str]) -> Vec<SocketAddr> {
        texts
            .iter()
            .map(|text| SocketAddr::new(text.parse().unwrap(), 0))
            .collect()
    }

    #[test]
    fn only_public_addresses_of_a_name_are_connected_to() {
        let guard = Guard::new(Reach::Public);
        let mixed = addresses(&["10.0.0.1", "93.184.216.34", "::1", "2606:2800::1"]);
        assert_eq!(admit(guard, &mixed), Ok(addresses(&["93.184.216.34", "2606:2800::1"])));
    }

    #[test]
    fn a_name_with_inner_addresses_alone_is_refused() {
        let guard = Guard::new(Reach::Public);
        assert!(admit(guard, &addresses(&["169.254.169.254", "::ffff:10.0.0.1"])).is_err());
        assert_eq!(admit(guard, &[]), Ok(Vec::new()));
    }

    #[tokio::test]
    async fn localhost_resolves_for_the_local_system_alone() {
        let name = || "localhost".parse::<Name>().unwrap();
        assert!(
            GuardedResolver(Guard::new(Reach::Public))
                .resolve(name())
                .await
                .is_err()
        );
        let local: Vec<_> = GuardedResolver(Guard::new(Reach::PublicAndLoopback))
            .resolve(name())
            .await
            .unwrap()
            .collect();
        assert!(!local.is_empty() && local.iter().all(|address| address.ip().is_loopback()));
    }
}
