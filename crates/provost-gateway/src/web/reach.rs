//! How far connections may go. A name is looked up and judged in one step, right before the connection: what it
//! led to a moment ago does not count.

use std::{
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    pin::Pin,
    task::{Context, Poll},
    vec,
};

use http::Uri;
use hyper_util::client::legacy::connect::dns::{GaiResolver, Name};
use tower::Service;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// Whoever configured the address knows what is there.
    Anywhere,
    /// Not where [`is_off_limits`] says: the address is a stranger's.
    WithinLimits,
}

impl Reach {
    fn allows(self, address: IpAddr) -> bool {
        self == Self::Anywhere || !is_off_limits(address)
    }

    /// An address that is no name is not looked up.
    pub(super) fn allows_host_of(self, uri: &Uri) -> bool {
        uri.host()
            .and_then(literal)
            .is_none_or(|address| self.allows(address))
    }
}

/// The address that a host is, where it is no name.
pub(crate) fn literal(host: &str) -> Option<IpAddr> {
    host.trim_start_matches('[')
        .trim_end_matches(']')
        .parse()
        .ok()
}

/// Where machines of a cloud keep their secrets, and where nobody waits to be called back.
pub(crate) fn is_off_limits(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(ip) => is_off_limits_v4(ip),
        IpAddr::V6(ip) => {
            ip.is_unicast_link_local()
                || ip.is_unspecified()
                || ip.is_multicast()
                || ip == METADATA_V6
                || carried(ip).is_some_and(is_off_limits_v4)
        }
    }
}

fn is_off_limits_v4(ip: Ipv4Addr) -> bool {
    ip.is_link_local()
        || ip.octets().first() == Some(&0)
        || ip.is_multicast()
        || ip.is_broadcast()
        || METADATA_V4.contains(&ip)
}

/// Of Alibaba, Oracle and Azure; the others' are link-local.
const METADATA_V4: [Ipv4Addr; 3] = [
    Ipv4Addr::new(100, 100, 100, 200),
    Ipv4Addr::new(192, 0, 0, 192),
    Ipv4Addr::new(168, 63, 129, 16),
];
/// Of Amazon.
const METADATA_V6: Ipv6Addr = Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254);

/// The older address inside one of NAT64, 6to4, or the form that is out of use.
fn carried(ip: Ipv6Addr) -> Option<Ipv4Addr> {
    let join = |high: u16, low: u16| Ipv4Addr::from(u32::from(high) << 16 | u32::from(low));
    match ip.segments() {
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] | [0, 0, 0, 0, 0, 0, high, low] => {
            (ip != Ipv6Addr::LOCALHOST).then(|| join(high, low))
        }
        [0x2002, high, low, ..] => Some(join(high, low)),
        _ => None,
    }
}

/// Looks names up, and leaves out what is out of reach.
#[derive(Clone)]
pub(super) struct Resolver {
    names: GaiResolver,
    reach: Reach,
}

impl Resolver {
    pub(super) fn new(reach: Reach) -> Self {
        Self {
            names: GaiResolver::new(),
            reach,
        }
    }
}

type Found = Result<vec::IntoIter<SocketAddr>, io::Error>;

impl Service<Name> for Resolver {
    type Response = vec::IntoIter<SocketAddr>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = Found> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.names.poll_ready(context)
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let (found, reach) = (self.names.call(name), self.reach);
        Box::pin(async move { within(reach, found.await?) })
    }
}

fn within(reach: Reach, found: impl Iterator<Item = SocketAddr>) -> Found {
    let allowed: Vec<SocketAddr> = found.filter(|at| reach.allows(at.ip())).collect();
    if allowed.is_empty() {
        return Err(io::Error::other(
            "the name leads to no address that may be called",
        ));
    }
    Ok(allowed.into_iter())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_of_machines_are_off_limits_in_every_form() {
        for (address, off_limits) in [
            ("169.254.169.254", true),
            ("::ffff:169.254.169.254", true),
            ("::169.254.169.254", true),
            ("64:ff9b::169.254.169.254", true),
            ("2002:a9fe:a9fe::1", true),
            ("fe80::1", true),
            ("fd00:ec2::254", true),
            ("100.100.100.200", true),
            ("192.0.0.192", true),
            ("168.63.129.16", true),
            ("0.0.0.0", true),
            ("0.1.2.3", true),
            ("::", true),
            ("224.0.0.1", true),
            ("255.255.255.255", true),
            ("ff02::1", true),
            ("127.0.0.1", false),
            ("::1", false),
            ("10.0.0.1", false),
            ("100.100.100.201", false),
            ("64:ff9b::8.8.8.8", false),
            ("2001:db8::1", false),
        ] {
            let address: IpAddr = address.parse().unwrap();
            assert_eq!(is_off_limits(address), off_limits, "{address}");
        }
    }

    #[test]
    fn what_a_name_leads_to_is_judged() {
        let found = || {
            let at = ["169.254.169.254:80", "127.0.0.1:80", "[fe80::1]:80"];
            at.into_iter().map(|at| at.parse::<SocketAddr>().unwrap())
        };
        let kept: Vec<_> = within(Reach::WithinLimits, found()).unwrap().collect();
        assert_eq!(kept, ["127.0.0.1:80".parse().unwrap()]);
        assert_eq!(within(Reach::Anywhere, found()).unwrap().count(), 3);
        let nothing = within(Reach::WithinLimits, found().take(1));
        assert!(nothing.is_err(), "a name that was rebound is not called");
    }

    #[tokio::test]
    async fn the_resolver_judges_what_the_system_says() {
        // The system reads numbers as addresses, which the connector takes for names.
        let look_up = async |reach| {
            let name: Name = "2852039166".parse().unwrap();
            Resolver::new(reach).call(name).await
        };
        assert!(look_up(Reach::WithinLimits).await.is_err());
        let anywhere: Vec<_> = look_up(Reach::Anywhere).await.unwrap().collect();
        let metadata = IpAddr::from([169, 254, 169, 254]);
        assert!(
            anywhere.iter().all(|at| at.ip() == metadata),
            "{anywhere:?}"
        );
    }
}
