import { BlockList, isIP } from 'node:net';

/** Returns whether a string is a range of addresses such as `10.0.0.0/8` or `fd00::/8`. */
export function isAddressRange(text: string): boolean {
  const [net = '', bits = '', ...more] = text.split('/');
  const family = isIP(net);
  return family !== 0 && more.length === 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= (family === 6 ? 128 : 32);
}

/** Returns a function that tells whether an address is in one of the ranges. @throws RangeError for a malformed range */
export function addressesIn(ranges: readonly string[]): (address: string) => boolean {
  // One list per family, because Node's BlockList treats every IPv4 address as part of the IPv4-mapped IPv6 range.
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() };
  for (const range of ranges) {
    if (!isAddressRange(range)) throw new RangeError(`${range} is not a range of addresses such as 10.0.0.0/8`);
    const [net = '', bits] = range.split('/');
    const family = isIP(net) === 6 ? 'ipv6' : 'ipv4';
    lists[family].addSubnet(net, Number(bits), family);
  }
  return (address) => {
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    return lists[family].check(address, family);
  };
}

/**
 * Addresses that are not on the public internet: IANA's registries of special-purpose addresses (RFC 6890), and all IPv6
 * addresses outside of 2000::/3, the only range from which public addresses are assigned. The latter include those that
 * contain an IPv4 address, such as ::ffff:10.0.0.1, ::ffff:0:10.0.0.1 and 64:ff9b::10.0.0.1. Azure serves each virtual machine its
 * settings and secrets at a public address (learn.microsoft.com, "What is IP address 168.63.129.16?").
 */
const isReserved = addressesIn([
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
  '::/3',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
  '4000::/2',
  '8000::/1',
]);

/**
 * Returns whether an address is closed, that is, not on the public internet. A string that is not an IP address counts
 * as closed.
 */
export function isClosedAddress(address: string): boolean {
  return isIP(address) === 0 || isReserved(address);
}

/** Returns whether a host is a closed address, or a name that is only used inside of a machine or a private network. */
export function isClosedHost(host: string): boolean {
  if (isIP(host)) return isClosedAddress(host);
  return /^(localhost|.*\.(localhost|local|internal|home\.arpa)|metadata)$/.test(host);
}

/**
 * Returns whether a host is closed, judging by its name alone, as is necessary where a proxy resolves it. Names of one
 * label are closed, too, because the proxy would complete them with the domains of its network.
 */
export function isClosedByName(host: string): boolean {
  const name = host.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  return isClosedHost(name) || (isIP(name) === 0 && !name.includes('.'));
}

/**
 * Returns a function that tells whether an address is closed under the operator's settings: `ALLOW_PRIVATE_HOSTS` opens
 * all addresses, `EGRESS_OPEN_ADDRESSES` some ranges.
 */
export function closedExcept(settings: { allowPrivateHosts: boolean; open: string[] }): (address: string) => boolean {
  if (settings.allowPrivateHosts) return (address) => isIP(address) === 0;
  const isOpened = addressesIn(settings.open);
  return (address) => isClosedAddress(address) && (isIP(address) === 0 || !isOpened(address));
}
