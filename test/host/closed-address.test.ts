import { closedExcept, isAddressRange, isClosedAddress } from '../../src/host/closed-address.ts';

const full = 'ffff:ffff:ffff:ffff';
test.each([
  ['9.255.255.255', '10.0.0.0', '10.255.255.255', '11.0.0.0'],
  ['100.63.255.255', '100.64.0.0', '100.127.255.255', '100.128.0.0'],
  ['126.255.255.255', '127.0.0.0', '127.255.255.255', '128.0.0.0'],
  ['168.63.129.15', '168.63.129.16', '168.63.129.16', '168.63.129.17'],
  ['169.253.255.255', '169.254.0.0', '169.254.255.255', '169.255.0.0'],
  ['172.15.255.255', '172.16.0.0', '172.31.255.255', '172.32.0.0'],
  ['191.255.255.255', '192.0.0.0', '192.0.0.255', '192.0.1.0'],
  ['192.0.1.255', '192.0.2.0', '192.0.2.255', '192.0.3.0'],
  ['192.88.98.255', '192.88.99.0', '192.88.99.255', '192.88.100.0'],
  ['192.167.255.255', '192.168.0.0', '192.168.255.255', '192.169.0.0'],
  ['198.17.255.255', '198.18.0.0', '198.19.255.255', '198.20.0.0'],
  ['198.51.99.255', '198.51.100.0', '198.51.100.255', '198.51.101.0'],
  ['203.0.112.255', '203.0.113.0', '203.0.113.255', '203.0.114.0'],
  [`2000:ffff:ffff:ffff:${full}`, '2001::', `2001:1ff:ffff:ffff:${full}`, '2001:200::'],
  [`2001:db7:ffff:ffff:${full}`, '2001:db8::', `2001:db8:ffff:ffff:${full}`, '2001:db9::'],
  [`2001:ffff:ffff:ffff:${full}`, '2002::', `2002:ffff:ffff:ffff:${full}`, '2003::'],
  [`3ffe:ffff:ffff:ffff:${full}`, '3fff::', `3fff:fff:ffff:ffff:${full}`, '3fff:1000::'],
])('after %s the addresses %s to %s are closed, and %s is open', (before, first, last, after) => {
  expect([before, first, last, after].map(isClosedAddress)).toEqual([false, true, true, false]);
});

test('the networks at the ends of the address space, and those that touch, are closed', () => {
  expect(['0.0.0.0', '0.255.255.255', '1.0.0.0'].map(isClosedAddress)).toEqual([true, true, false]);
  expect(['223.255.255.255', '224.0.0.0', '255.255.255.255'].map(isClosedAddress)).toEqual([false, true, true]);
  const outside = ['::', `1fff:ffff:ffff:ffff:${full}`, '4000::', `ffff:ffff:ffff:ffff:${full}`];
  expect(outside.map(isClosedAddress)).toEqual([true, true, true, true]);
  expect(['2000::', `3ffe:ffff:ffff:ffff:${full}`, '3fff:1000::'].map(isClosedAddress)).toEqual([false, false, false]);
});

test.each([
  ['IPv4-compatible', '::10.0.0.1'],
  ['IPv4-mapped', '::ffff:169.254.169.254'],
  ['translated (SIIT)', '::ffff:0:10.0.0.1'],
  ['NAT64', '64:ff9b::10.0.0.1'],
  ['local NAT64', '64:ff9b:1::10.0.0.1'],
  ['discard only', '100::1'],
  ['dummy', '100:0:0:1::1'],
  ['segment routing', '5f00::1'],
  ['documentation', '3fff:fff::1'],
  ['unique local', 'fd00:ec2::254'],
  ['link local', 'fe80::1%eth0'],
  ['site local', 'fec0::1'],
  ['multicast', 'ff02::1'],
  ['loopback', '::1'],
])('an address that is %s is closed: %s', (_kind, address) => {
  expect(isClosedAddress(address)).toBe(true);
});

test('a string that is not an IP address counts as closed', () => {
  expect(isClosedAddress('no address')).toBe(true);
  expect(isClosedAddress('1.1.1.1')).toBe(false);
});

test('settings open all closed addresses, or some ranges of one family', () => {
  const addresses = ['10.1.2.3', '192.168.0.1', 'fd00::1', '::ffff:10.1.2.3', '1.1.1.1', 'no address'];
  const closed = (allowPrivateHosts: boolean, open: string[]) =>
    addresses.filter(closedExcept({ allowPrivateHosts, open }));
  expect(closed(false, [])).toEqual(['10.1.2.3', '192.168.0.1', 'fd00::1', '::ffff:10.1.2.3', 'no address']);
  expect(closed(false, ['10.0.0.0/8'])).toEqual(['192.168.0.1', 'fd00::1', '::ffff:10.1.2.3', 'no address']);
  expect(closed(false, ['fd00::/8', '192.168.0.1/32'])).toEqual(['10.1.2.3', '::ffff:10.1.2.3', 'no address']);
  expect(closed(true, [])).toEqual(['no address']);
});

test.each([
  '10.0.0.0',
  '10.0.0.0/',
  '10.0.0.0/33',
  '10.0.0/8',
  'fd00::/129',
  'example.org/8',
  '10.0.0.0/8/8',
  '/8',
  '',
])('"%s" is not a range of addresses', (text) => {
  expect(isAddressRange(text)).toBe(false);
  expect(() => closedExcept({ allowPrivateHosts: false, open: [text] })).toThrow('10.0.0.0/8');
});
