import { helloOf, madeHello, nameList, record } from './hello.ts';
import { openProxied, type Proxied } from './proxied.ts';
import { connecting, getting, open } from './requests.ts';

// Ways around the filter with tunnels and other protocols. The host behind the proxy must receive nothing, and no
// connection may lead elsewhere.

let proxied: Proxied;
beforeAll(async () => {
  proxied = await openProxied();
});
afterAll(() => proxied.close());

const long = (length: number) => 'a'.repeat(length);

test.each([
  [
    'a host that is not in the list',
    'example.com:443',
    403,
    /^host example.com is not allowed; add it to network.agent in/,
  ],
  ['a name that ends like an allowed one', 'notallowed.example.org:443', 403, /add it to network.agent/],
  ['a name that begins like an allowed one', 'allowed.example.org.example.com:443', 403, /add it to network.agent/],
  ['the parent of a wildcard', 'wild.example.org:443', 403, /add it to network.agent/],
  ['a name that ends like a wildcard', 'awild.example.org:443', 403, /add it to network.agent/],
  ['an IPv4 address', '127.0.0.1:443', 403, /only names can be allowed, not addresses/],
  ['an IPv6 address', '[::1]:443', 403, /only names/],
  ['an IPv4 address in IPv6', '[::ffff:127.0.0.1]:443', 403, /only names/],
  ['an IPv6 address with a zone', '[fe80::1%lo]:443', 403, /only names/],
  ['an IPv6 address without brackets', '::1:443', 400, /must name a host and a port/],
  ['an address as one number', '2130706433:443', 403, /only names/],
  ['an address in hex', '0x7f000001:443', 403, /only names/],
  ['an address in octal', '0177.0.0.1:443', 403, /only names/],
  ['a short address', '127.1:443', 403, /only names/],
  ['zero', '0:443', 403, /only names/],
  ['localhost', 'localhost:443', 403, /add it to network.agent/],
  ['another port of an allowed host', `${open}:22`, 403, /only ports 443 and 80 are open, not 22/],
  ['a port of the service', `${open}:3000`, 403, /only ports 443 and 80/],
  ['port 0', `${open}:0`, 400, /host and a port/],
  ['a port that is 443 in 16 bits', `${open}:65979`, 400, /host and a port/],
  ['no port', open, 400, /host and a port/],
  ['a port with a sign', `${open}:+443`, 400, /host and a port/],
  ['two ports', `${open}:443:443`, 400, /host and a port/],
  ['an allowed host as user name', `${open}@example.com:443`, 400, /host and a port/],
  ['an allowed host and port as user name', `${open}:443@example.com:443`, 400, /host and a port/],
  ['a trailing dot', `${open}.:443`, 403, /not a valid host name/],
  ['an empty label', 'allowed..example.org:443', 403, /not a valid host name/],
  ['an ideographic full stop', Buffer.from('allowed。example.org:443').toString('latin1'), 400, /^$/],
  ['a full-width letter', Buffer.from('ａllowed.example.org:443').toString('latin1'), 400, /^$/],
  ['a Cyrillic letter', Buffer.from('аllowed.example.org:443').toString('latin1'), 400, /^$/],
  ['the punycode of a look-alike', 'xn--llowed-1nf.example.org:443', 403, /add it to network.agent/],
  ['a percent-encoded dot', 'allowed%2eexample.org:443', 403, /not a valid host name/],
  ['a percent-encoded zero byte', `${open}%00.example.com:443`, 403, /not a valid host name/],
  ['a path', `${open}/:443`, 403, /not a valid host name/],
  ['a name of 254 characters', `${long(60)}.${long(60)}.${long(60)}.${long(59)}.example.org:443`, 403, /not a valid/],
  ['a label of 64 characters', `${long(64)}.wild.example.org:443`, 403, /not a valid host name/],
  ['a name with a private address', 'private.example.org:443', 403, /it has a private or reserved address/],
  ['a name with the metadata address', 'metadata.example.org:443', 403, /private or reserved/],
  ['a name with an open and a private address', 'mixed.example.org:443', 403, /private or reserved/],
  ['a name with an IPv4 address in IPv6', 'mapped.example.org:443', 403, /private or reserved/],
  ['a name with a local IPv6 address', 'unique.example.org:443', 403, /private or reserved/],
  ['a name without any address', 'empty.example.org:443', 403, /private or reserved/],
])('CONNECT: %s is refused', async (_what, authority, status, says) => {
  const [head = '', body = ''] = (await proxied.attack(connecting(authority))).split('\r\n\r\n');
  expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(body).toMatch(says);
});

test.each([
  ['a target of 20 kB', `CONNECT ${long(20_000)}:443 HTTP/1.1\r\n\r\n`, 431],
  ['headers of 20 kB', `CONNECT ${open}:443 HTTP/1.1\r\nX: ${long(20_000)}\r\n\r\n`, 431],
  ['a zero byte', `CONNECT ${open}\0.example.com:443 HTTP/1.1\r\n\r\n`, 400],
  ['a line without a carriage return', `CONNECT ${open}:443 HTTP/1.1\nHost: x\n\n`, 400],
  ['a folded header', getting(`http://${open}/`, open, 'X: a\r\n b\r\n').replace('X: a\r\n b', 'Host:\r\n x'), 400],
  ['a SOCKS 5 greeting', Buffer.from([5, 1, 0]), 400],
  ['a SOCKS 4 request', Buffer.from([4, 1, 1, 187, 127, 0, 0, 1, 0]), 400],
  ['a DNS query over TCP', Buffer.from('001c000001000001000000000000076578616d706c6503636f6d0000010001', 'hex'), 400],
  ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
  ['a banner of SSH', 'SSH-2.0-OpenSSH_9.2\r\n', 400],
  [
    'MASQUE, which carries QUIC',
    getting('/.well-known/masque/udp/example.com/443/', open, 'Upgrade: connect-udp\r\n'),
    400,
  ],
])('another protocol: %s is refused', async (_what, bytes, status) => {
  expect(await proxied.attack(bytes)).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
});

test('TLS to the proxy itself is refused', async () => {
  expect(await proxied.attack(await helloOf(open))).toMatch(/^HTTP\/1.1 400 /);
});

const established = 'HTTP/1.1 200 Connection established\r\n\r\n';
/** `access_denied` */
const alert = Buffer.of(21, 3, 3, 0, 2, 2, 49).toString('latin1');

const named = (...hosts: string[]) => madeHello([[0, nameList(...hosts)]]);
const cut = (hello: Buffer, at: number[]) =>
  Buffer.concat([0, ...at].map((from, i) => record(hello.subarray(5).subarray(from, at[i] ?? hello.length - 5))));

test.each<[string, Buffer | string, RegExp, string?]>([
  ['names another server', named('example.com'), /names another server/],
  ['names a sibling that is allowed too', named('b.wild.example.org'), /names another server/, 'a.wild.example.org'],
  ['names no server', madeHello([]), /must name the server/],
  ['has no extensions', madeHello([]).fill(0, 51), /must name the server|well-formed/],
  ['names the server with a dot', named(`${open}.`), /names another server/],
  ['names the server with a zero byte', named(`${open}\0.example.com`), /names another server/],
  ['names two servers', named(open, 'example.com'), /well-formed/],
  ['has two lists of names', madeHello([0, 0].map((type) => [type, nameList(open)])), /well-formed/],
  ['has an empty list of names', madeHello([[0, nameList()]]), /well-formed/],
  ['has bytes after the list', madeHello([[0, Buffer.concat([nameList(open), Buffer.of(0)])]]), /well-formed/],
  [
    'hides a name (ECH)',
    madeHello([
      [0, nameList(open)],
      [0xfe0d, Buffer.alloc(40)],
    ]),
    /must not be encrypted/,
  ],
  ['names another server in two records', cut(named('example.com'), [60]), /names another server/],
  [
    'is cut into 50 records',
    cut(
      named(open),
      Array.from({ length: 50 }, (_, i) => i + 1),
    ),
    /well-formed/,
  ],
  [
    'is followed by another message',
    record(Buffer.concat([named(open).subarray(5), Buffer.from('0000')])),
    /well-formed/,
  ],
  [
    'is interrupted by data',
    Buffer.concat([cut(named(open), [60]).subarray(0, 65), Buffer.of(23, 3, 1, 0, 1, 0)]),
    /well-formed/,
  ],
  ['claims to have 16 MB', record(Buffer.concat([Buffer.of(1, 255, 255, 255), Buffer.alloc(60)])), /well-formed/],
  ['has lengths beyond its end', named(open).fill(255, 44, 46), /well-formed/],
  ['is of SSL 2', Buffer.of(0x80, 0x2e, 1, 3, 1), /well-formed/],
  ['is plain HTTP', 'GET / HTTP/1.1\r\nHost: example.com\r\n\r\n', /well-formed/],
  ['is a second CONNECT', connecting('example.com:443'), /well-formed/],
  ['is SSH', 'SSH-2.0-OpenSSH_9.2\r\n', /well-formed/],
])('TLS: a hello that %s is refused', async (_what, hello, reason, host = open) => {
  const before = proxied.received();
  proxied.egress.news();
  const reply = await proxied.say(connecting(`${host}:443`), hello);
  // The tunnel is open, and ends with a fatal alert of TLS.
  expect(reply).toBe(`${established}${alert}`);
  expect(proxied.egress.news()).toMatch(reason);
  expect(proxied.received()).toBe(before);
});

test('TLS: a hello that arrives with the request is refused too', async () => {
  const before = proxied.received();
  const early = Buffer.concat([Buffer.from(connecting(`${open}:443`)), named('example.com')]);
  expect(await proxied.say(early)).toBe(`${established}${alert}`);
  expect(proxied.received()).toBe(before);
});

test.each([
  ['another Host header', getting('/secret', 'example.com'), / 403 .*Host header/s],
  ['an absolute address', getting('http://example.com/secret', 'example.com'), / 400 /],
  ['a second CONNECT', connecting('example.com:443'), / 400 /],
  ['POST', getting('/secret').replace('GET', 'POST'), / 403 .*only GET and HEAD/s],
  ['an upgrade', getting('/secret', open, 'Upgrade: websocket\r\n'), / 403 .*upgraded/s],
  ['another protocol', 'SSH-2.0-secret\r\n', / 400 /],
])('CONNECT to port 80: %s is refused', async (_what, inside, says) => {
  const reply = await proxied.attack(connecting(`${open}:80`), inside);
  expect(reply.startsWith(established)).toBe(true);
  expect(reply.slice(established.length)).toMatch(says);
});

test('EGRESS=off and an empty list let nothing through', async () => {
  for (const [given, says] of [
    [{ settings: { EGRESS: 'off' } }, 'the operator has switched the network off (EGRESS=off)'],
    [{ hosts: [] }, 'add it to network.agent in .deckhand.yml'],
  ] as const) {
    const closed = await openProxied({ ...given, hosts: 'hosts' in given ? [] : [open] });
    for (const attack of [connecting(`${open}:443`), connecting(`${open}:80`), getting(`http://${open}/`)])
      expect(await closed.say(attack)).toContain(`host ${open} is not allowed; ${says}`);
    expect([closed.dialled, closed.lookedUp]).toEqual([[], []]);
    await closed.close();
  }
});
