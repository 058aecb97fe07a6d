import { openProxied, type Proxied } from './proxied.ts';
import { getting, open } from './requests.ts';

// Ways around the filter with plain HTTP. The host behind the proxy must receive nothing, and no connection may lead
// elsewhere.

let proxied: Proxied;
beforeAll(async () => {
  proxied = await openProxied();
});
afterAll(() => proxied.close());

test.each([
  [
    'a host that is not in the list',
    getting('http://example.com/', 'example.com'),
    403,
    /host example.com is not allowed; add/,
  ],
  ['an allowed Host header for another host', getting('http://example.com/'), 403, /host example.com is not allowed/],
  ['another Host header for an allowed host', getting(`http://${open}/`, 'example.com'), 403, /Host header must name/],
  ['a Host header with another port', getting(`http://${open}/`, `${open}:8080`), 403, /Host header must name/],
  ['two Host headers', getting(`http://${open}/`, open, 'Host: example.com\r\n'), 403, /Host header must name/],
  ['no Host header', `GET http://${open}/ HTTP/1.0\r\n\r\n`, 403, /Host header must name/],
  [
    'POST',
    getting(`http://${open}/`).replace('GET', 'POST'),
    403,
    /only GET and HEAD are allowed on port 80, not POST/,
  ],
  ['PUT', getting(`http://${open}/`).replace('GET', 'PUT'), 403, /only GET and HEAD/],
  ['DELETE', getting(`http://${open}/`).replace('GET', 'DELETE'), 403, /only GET and HEAD/],
  ['OPTIONS', getting(`http://${open}/`).replace('GET', 'OPTIONS'), 403, /only GET and HEAD/],
  ['TRACE', getting(`http://${open}/`).replace('GET', 'TRACE'), 403, /only GET and HEAD/],
  ['PROPFIND', getting(`http://${open}/`).replace('GET', 'PROPFIND'), 403, /only GET and HEAD/],
  ['a body', `${getting(`http://${open}/`, open, 'Content-Length: 6\r\n')}secret`, 403, /must not have a body/],
  [
    'a body in chunks',
    `${getting(`http://${open}/`, open, 'Transfer-Encoding: chunked\r\n')}6\r\nsecret\r\n0\r\n\r\n`,
    403,
    /body/,
  ],
  ['two lengths', getting(`http://${open}/`, open, 'Content-Length: 0\r\nContent-Length: 6\r\n'), 400, /^$/],
  [
    'a length and chunks',
    getting(`http://${open}/`, open, 'Content-Length: 6\r\nTransfer-Encoding: chunked\r\n'),
    400,
    /^$/,
  ],
  ['an upgrade to WebSocket', getting(`http://${open}/`, open, 'Upgrade: websocket\r\n'), 403, /cannot be upgraded/],
  [
    'an upgrade to HTTP/2',
    getting(`http://${open}/`, open, 'Upgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n'),
    403,
    /upgraded/,
  ],
  ['https without TLS', getting(`https://${open}/`), 400, /this is a proxy/],
  ['ftp', getting(`ftp://${open}/`), 400, /this is a proxy/],
  ['another port', getting(`http://${open}:8080/`), 403, /only ports 443 and 80/],
  ['plain HTTP on the port of TLS', getting(`http://${open}:443/`), 403, /port 443 is for TLS/],
  ['a request for the proxy itself', getting('/', open), 400, /this is a proxy/],
  ['an allowed host as user name', getting(`http://${open}@example.com/`), 400, /this is a proxy/],
  ['an allowed host as password', getting(`http://x:${open}@example.com/`), 400, /this is a proxy/],
  ['a backslash', getting(`http://${open}\\@example.com/`), 400, /^$/],
  ['a fragment', getting(`http://example.com#${open}/`), 400, /^$/],
  ['no host', getting('http:///etc/passwd'), 400, /this is a proxy/],
  ['an address', getting('http://127.0.0.1/', '127.0.0.1'), 403, /only names/],
  ['a name with the metadata address', getting('http://metadata.example.org/', 'metadata.example.org'), 403, /private/],
])('HTTP: %s is refused', async (_what, request, status, says) => {
  const [head = '', body = ''] = (await proxied.attack(request)).split('\r\n\r\n');
  expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(body).toMatch(says);
});

test('HTTP: each request of a connection is checked, including pipelined ones', async () => {
  const keeping = getting(`http://${open}/first`).replace('Connection: close\r\n', '');
  const reply = await proxied.say(`${keeping}${getting('http://example.com/second', 'example.com')}`);
  expect(reply).toMatch(/GET \/first from the host.*HTTP\/1.1 403 .*host example.com is not allowed/s);
  expect(proxied.received()).not.toContain('/second');
});

test('a name is looked up once, so it cannot change its address between the check and the connection', async () => {
  const own = await openProxied({ answers: { 'rebound.example.org': [['127.0.0.1'], ['10.0.0.1']] } });
  const attack = () => own.say(getting('http://rebound.example.org/', 'rebound.example.org'));
  expect([await attack(), await attack()]).toEqual(Array(2).fill(expect.stringContaining('GET / from the host')));
  expect(own.lookedUp).toEqual(['rebound.example.org']);
  await own.close();
});

test('a redirect is not followed, and its target is refused', async () => {
  const other = await openProxied({
    answer: (_req, res) => res.writeHead(302, { Location: 'http://169.254.169.254/latest' }).end(),
  });
  expect(await other.say(getting(`http://${open}/`))).toMatch(/^HTTP\/1.1 302 .*169.254.169.254/s);
  expect(await other.say(getting('http://169.254.169.254/latest', '169.254.169.254'))).toMatch(/^HTTP\/1.1 403 /);
  expect(other.dialled).toEqual([`${open}:80`]);
  await other.close();
});
