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
    /// A stranger chose the address among those that the operator named: not where [`is_off_limits`] says.
    WithinLimits,
    /// A stranger chose the address: only where [`is_public`] says.
    Public,
}

impl Reach {
    fn allows(self, address: IpAddr) -> bool {
        match self {
            Self::Anywhere => true,
            Self::WithinLimits => !is_off_limits(address),
            Self::Public => is_public(address),
        }
    }

    /// An address that is no name is not looked up.
    pub(super) fn allows_host_of(self, uri: &Uri) -> bool {
        uri.host()
            .and_then(literal)
            .is_none_or(|address| self.allows(address))
    }
}

/// The port that a URL leads to: the one that it says, in plain digits, or the usual one of its scheme. `None`
/// where it says one that is none.
pub(crate) fn port(uri: &Uri) -> Option<u16> {
    let usual = match uri.scheme_str()? {
        "http" => 80,
        "https" => 443,
        _ => return None,
    };
    let authority = uri.authority()?;
    let at = authority.as_str();
    let at = at.rsplit_once('@').map_or(at, |(_, at)| at);
    let said = at.strip_prefix(authority.host())?;
    if said.is_empty() {
        return Some(usual);
    }
    let digits = said.strip_prefix(':')?;
    let is_plain = digits.bytes().all(|digit| digit.is_ascii_digit());
    let is_plain = is_plain && (digits == "0" || !digits.starts_with('0'));
    digits.parse().ok().filter(|_| is_plain)
}

/// The address that a host is, where it is no name.
fn literal(host: &str) -> Option<IpAddr> {
    host.trim_start_matches('[')
        .trim_end_matches(']')
        .parse()
        .ok()
}

/// The address that a host plainly leads to, before anything is looked up: a literal in one of the forms that
/// systems read (`127.1`, `0x7f000001`, `2130706433`), or the name of this machine. Where other names lead is seen
/// when they are called.
pub(crate) fn plain_address(host: &str) -> Option<IpAddr> {
    if let Some(address) = literal(host) {
        return Some(address);
    }
    let name = host.trim_end_matches('.').to_ascii_lowercase();
    if name == "localhost" || name.ends_with(".localhost") {
        return Some(Ipv4Addr::LOCALHOST.into());
    }
    old_form(&name).map(IpAddr::V4)
}

/// As `inet_aton` reads it: one to four numbers, of which the last fills the bytes that are left.
fn old_form(name: &str) -> Option<Ipv4Addr> {
    let numbers: Vec<u32> = name.split('.').map(old_number).collect::<Option<_>>()?;
    let (last, first) = numbers.split_last()?;
    let room = 32_u32.checked_sub(8 * u32::try_from(first.len()).ok()?)?;
    if first.iter().any(|number| *number > 255) || room == 0 {
        return None;
    }
    if room < 32 && *last >> room != 0 {
        return None;
    }
    let high = first.iter().fold(0_u32, |high, number| high << 8 | number);
    let high = if room < 32 { high << room } else { 0 };
    Some(Ipv4Addr::from(high | last))
}

fn old_number(text: &str) -> Option<u32> {
    let parse = |digits: &str, radix| {
        let is_plain = digits.chars().all(|digit| digit.is_digit(radix));
        is_plain.then(|| u32::from_str_radix(digits, radix).ok())?
    };
    match text.strip_prefix("0x") {
        Some(digits) => parse(digits, 16),
        None if text.len() > 1 && text.starts_with('0') => parse(text, 8),
        None => parse(text, 10),
    }
}

/// Whether it is an address of the public internet. Everything that a registry sets aside is not: this machine,
/// private and shared networks, link-local and unique local addresses, documentation, benchmarks, multicast.
pub(crate) fn is_public(address: IpAddr) -> bool {
    if is_off_limits(address) {
        return false;
    }
    match address.to_canonical() {
        IpAddr::V4(ip) => is_public_v4(ip),
        IpAddr::V6(ip) => match ip.segments() {
            // NAT64, by which names of older hosts are looked up where there is nothing but IPv6.
            [0x64, 0xff9b, 0, 0, 0, 0, ..] => carried(ip).is_some_and(is_public_v4),
            // Teredo and other protocols, documentation, 6to4.
            [0x2001, 0..=0x1ff | 0xdb8, ..] | [0x2002, ..] | [0x3fff, 0..=0xfff, ..] => false,
            [first, ..] => first & 0xe000 == 0x2000,
        },
    }
}

fn is_public_v4(ip: Ipv4Addr) -> bool {
    let special = match ip.octets() {
        [100, second, ..] => second & 0xc0 == 64,
        [192, 0, 0, _] | [192, 88, 99, _] | [198, 18..=19, ..] => true,
        [first, ..] => first >= 240,
    };
    !special
        && !is_off_limits_v4(ip)
        && !ip.is_loopback()
        && !ip.is_private()
        && !ip.is_documentation()
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
    fn p08_a_port_that_cannot_be_read_is_not_the_usual_one() {
        for (url, expected) in [
            ("http://a", Some(80)),
            ("https://a/x", Some(443)),
            ("http://a:8080/x", Some(8080)),
            ("http://me:1234@a:8080/x", Some(8080)),
            ("http://me:1234@a/x", Some(80)),
            ("http://[::1]:81/x", Some(81)),
            ("http://[::1]/x", Some(80)),
            ("http://a:80800/x", None),
            ("http://a:080/x", None),
            ("http://a:+80/x", None),
            ("http://a:80.b/x", None),
            ("http://a:/x", None),
            ("ws://a/x", None),
        ] {
            let uri = url.parse::<Uri>().ok();
            assert_eq!(uri.as_ref().and_then(port), expected, "{url}");
        }
    }

    #[tokio::test]
    async fn p08_a_name_that_leads_to_this_machine_is_not_called() {
        for name in ["localhost", "2130706433", "0x7f.1"] {
            let name: Name = name.parse().unwrap();
            let found = Resolver::new(Reach::Public).call(name.clone()).await;
            assert!(found.is_err(), "{name}");
            let found = Resolver::new(Reach::WithinLimits).call(name.clone()).await;
            assert!(found.is_ok(), "{name}");
        }
    }

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
    fn p08_only_addresses_of_the_internet_are_public() {
        for public in [
            "8.8.8.8",
            "100.63.255.255",
            "100.128.0.1",
            "172.15.0.1",
            "172.32.0.1",
            "192.0.1.1",
            "192.167.1.1",
            "198.17.1.1",
            "198.20.1.1",
            "223.255.255.255",
            "::ffff:8.8.8.8",
            "64:ff9b::8.8.8.8",
            "2606:4700::1111",
            "2001:4860:4860::8888",
            "2a00:1450::1",
        ] {
            assert!(is_public(public.parse().unwrap()), "{public}");
        }
        for other in [
            "127.0.0.1",
            "127.255.255.254",
            "10.0.0.1",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "100.64.0.1",
            "100.127.255.255",
            "100.100.100.200",
            "169.254.169.254",
            "168.63.129.16",
            "192.0.0.1",
            "192.0.2.1",
            "192.88.99.1",
            "198.18.0.1",
            "198.19.255.255",
            "198.51.100.1",
            "203.0.113.1",
            "0.0.0.0",
            "0.1.2.3",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::127.0.0.1",
            "::8.8.8.8",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::ffff:0:127.0.0.1",
            "64:ff9b::127.0.0.1",
            "64:ff9b::10.0.0.1",
            "64:ff9b::100.64.0.1",
            "64:ff9b:1::8.8.8.8",
            "2002:7f00:1::",
            "2002:0a00:1::",
            "2002:808:808::1",
            "2001::1",
            "2001:0:7f00:1::1",
            "2001:db8::1",
            "2001:1ff::1",
            "3fff::1",
            "fc00::1",
            "fd12:3456::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
            "100::1",
            "5f00::1",
        ] {
            assert!(!is_public(other.parse().unwrap()), "{other}");
        }
    }

    #[test]
    fn p08_old_forms_of_addresses_are_read_as_systems_read_them() {
        for (host, expected) in [
            ("127.0.0.1", Some("127.0.0.1")),
            ("127.1", Some("127.0.0.1")),
            ("127.0.1", Some("127.0.0.1")),
            ("2130706433", Some("127.0.0.1")),
            ("0x7f000001", Some("127.0.0.1")),
            ("0X7F.1", Some("127.0.0.1")),
            ("0177.0.0.01", Some("127.0.0.1")),
            ("017700000001", Some("127.0.0.1")),
            ("127.0.0.1.", Some("127.0.0.1")),
            ("0", Some("0.0.0.0")),
            ("10.258", Some("10.0.1.2")),
            ("[::1]", Some("::1")),
            ("[::ffff:7f00:1]", Some("::ffff:127.0.0.1")),
            ("localhost", Some("127.0.0.1")),
            ("LOCALHOST.", Some("127.0.0.1")),
            ("a.localhost", Some("127.0.0.1")),
            ("example.org", None),
            ("localhost.example.org", None),
            ("1.2.3.4.5", None),
            ("256.1", None),
            ("1.16777216", None),
            ("4294967296", None),
            ("08", None),
            ("+1", None),
            ("", None),
        ] {
            let expected = expected.map(|text| text.parse().unwrap());
            assert_eq!(plain_address(host), expected, "{host}");
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
        assert!(within(Reach::Public, found()).is_err());
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
        assert!(look_up(Reach::Public).await.is_err());
        let anywhere: Vec<_> = look_up(Reach::Anywhere).await.unwrap().collect();
        let metadata = IpAddr::from([169, 254, 169, 254]);
        assert!(
            anywhere.iter().all(|at| at.ip() == metadata),
            "{anywhere:?}"
        );
    }
}
