import { execFileSync } from 'node:child_process';
import { composeServices, neededServices } from '../../src/environment/draft/needed-services.ts';
import { readCompose } from '../../src/environment/draft/read-compose.ts';

test.each([
  ['Error: connect ECONNREFUSED 127.0.0.1:5432', [5432]],
  ['could not connect to server: Connection refused\n\tIs the server running on host "localhost" and port 5432?', []],
  ['connection to server at "localhost" (127.0.0.1), port 5432 failed: Connection refused', [5432]],
  ["Can't reach database server at `localhost:5432`", [5432]],
  ['Error 111 connecting to localhost:6379. Connection refused.', [6379]],
  ['Could not connect to Redis at 127.0.0.1:6379: Connection refused', [6379]],
  ['dial tcp [::1]:27017: connect: connection refused', [27017]],
  ['connect ECONNREFUSED 127.0.0.1:54321', []],
  ['connect ECONNREFUSED 192.0.2.1:5432', []],
])('%s asks for the services at %j', (output, ports) => {
  const { services, hosts } = neededServices([output]);
  expect([services.map(({ port }) => port), hosts]).toEqual([ports, []]);
});

test.each([
  ['Error: getaddrinfo ENOTFOUND postgres', ['postgres'], [5432]],
  ['getaddrinfo EAI_AGAIN redis redis:6379', ['redis'], [6379]],
  ['could not translate host name "db" to address: Name or service not known', ['db'], [5432]],
  [
    'redis.exceptions.ConnectionError: Error -2 connecting to redis:6379. Name or service not known.',
    ['redis'],
    [6379],
  ],
  ['(2005, "Unknown MySQL server host \'db\' (-2)")', ['db'], [3306]],
  ['php_network_getaddresses: getaddrinfo for mysql failed: Name or service not known', ['mysql'], [3306]],
  ['dial tcp: lookup mongo on 127.0.0.1:53: no such host', ['mongo'], [27017]],
  ['dial tcp: lookup db: no such host', ['db'], []],
  ["Can't reach database server at `database:5432`", ['database'], [5432]],
  ['java.net.UnknownHostException: memcached', ['memcached'], [11211]],
  ['getaddrinfo ENOTFOUND db.example.org', [], []],
  ['redis://cache.example.org:6379: Name or service not known', [], []],
  ['getaddrinfo ENOTFOUND registry', [], []],
  ['the host redis has no tests', [], []],
  ['dial tcp: lookup db on [::1]:53: read udp [::1]:1->[::1]:53: read: connection refused', ['db'], []],
  ['curl: (6) Could not resolve host: redis', ['redis'], [6379]],
])('%s: the hosts %j', (output, hosts, ports) => {
  const needed = neededServices([`one\n${output}\n`]);
  expect([needed.hosts, needed.services.map(({ port }) => port)]).toEqual([hosts, ports]);
});

const compose = `
x-common: &common
  environment: [PGHOST=store, "CACHE_URL=redis://:pass@cache:6379/0", CACHE_DRIVER=cache, BARE]
services:
  app:
    <<: *common
    build: .
  worker:
    image: registry.example.org/app:1
    environment:
      DATABASE_URL: postgres://cache:cache@store:5432/cache?x=1
      REMOTE_URL: https://store.example.org/
      PORT: 80
      GIVEN: postgres://\${USER}@store/
      MAIL: other:25
  store:
    image: docker.io/postgis/postgis:16-3.4@sha256:0123
    environment: { POSTGRES_USER: app, POSTGRES_DB: app_test, POSTGRES_PASSWORD: x }
  cache: { image: "valkey/valkey:8" }
  proxy: { image: nginx }
`;

test('a compose file says which services its names are, with their accounts and the variables that name them', () => {
  const services = readCompose(Buffer.from(compose));
  expect(neededServices([], services)).toEqual({ services: [], hosts: [], env: {} });
  const needed = neededServices(['getaddrinfo ENOTFOUND store'], services);
  expect(needed.hosts).toEqual(['store']);
  expect(needed.services).toEqual([
    { port: 5432, run: expect.stringMatching(/ -U app .*create database "app_test"/) },
    { port: 6379, run: expect.stringContaining('redis-server') },
  ]);
  expect(needed.env).toEqual({
    PGHOST: 'localhost',
    CACHE_URL: 'redis://:pass@localhost:6379/0',
    DATABASE_URL: 'postgres://cache:cache@localhost:5432/cache?x=1',
  });
});

test.each([
  ['at GetAddrInfoReqWrap.onlookupall (node:dns:122:26)', []],
  ['(2005, "Unknown MySQL server host \'base\' (-2)")', ['base']],
  ['/app/x.rb:12: could not translate host name "base" to address: Name or service not known', ['base']],
  ['app.js:12:3: getaddrinfo ENOTFOUND registry.example.org', []],
  ['node: Name or service not known', ['node']],
  ['getaddrinfo ENOTFOUND app', ['app']],
  ['getaddrinfo EAI_AGAIN server server:8080', ['server']],
  ['Cannot reach the server of node: getaddrinfo ENOTFOUND x.example.org', []],
  ["HTTPConnectionPool(host='base', port=9200): Failed to resolve (Name or service not known)", ['base']],
  ['pymongo: base:27017: [Errno -2] Name or service not known', ['base']],
  ['amqp://user:pass@base:5672/: no such host', ['base']],
  ['curl: (6) getaddrinfo: could not resolve host: base', ['base']],
  ['tcp connect (base:5432): unknown host', ['base']],
])('%s: the services %j of a compose file', (output, hosts) => {
  const services = ['node', 'server', 'app', 'base', 'at', 'the'].map((name) => ({ name, image: 'x', variables: [] }));
  expect(neededServices([output], services).hosts).toEqual(hosts);
});

test.each([
  ['{ POSTGRES_USER: app }', '-U app ', 'create database "app"'],
  ['{ POSTGRES_USER: app, POSTGRES_DB: my-shop }', '-U app ', 'create database "my-shop"'],
  [`{ POSTGRES_DB: "${'$'}{DB:-shop}", POSTGRES_USER: "${'$'}{DB_USER-mona}" }`, '-U mona ', 'create database "shop"'],
  ['[POSTGRES_USER=my-app]', '-U my-app ', 'create database "my-app"'],
  ['{ POSTGRES_USER: postgres }', '-U postgres ', undefined],
  [`{ POSTGRES_DB: "${'$'}{DB}" }`, '-U postgres ', undefined],
])('an account %s makes PostgreSQL start with %s, and %s', (environment, user, database) => {
  const file = `services: { db: { image: postgres, environment: ${environment} } }`;
  const run = neededServices(['failed'], readCompose(Buffer.from(file))).services[0]?.run ?? '';
  expect(run).toContain(user);
  expect(/create database "[^"]*"/.exec(run)?.[0]).toBe(database);
});

test('each database that the compose file names is made, and each address names localhost', () => {
  const file = `services:
  db: { image: "${'$'}{DB_IMAGE:-postgres:16}", environment: { POSTGRES_DB: one } }
  tests: { image: postgres, environment: { POSTGRES_DB: two } }
  my: { image: mysql, environment: { MYSQL_DATABASE: shop } }
  more: { image: mariadb, environment: { MARIADB_DATABASE: a-b } }
  app:
    environment: { A: "jdbc:mysql://my:3306/shop", B: "postgres://u:p@ss@tests/two" }`;
  const { services, env } = neededServices(['failed'], readCompose(Buffer.from(file)));
  expect(services.map(({ run }) => run.match(/create database [^;&']*/g))).toEqual([
    ['create database "one"', 'create database "two"'],
    ['create database if not exists `shop`', 'create database if not exists `a-b`'],
  ]);
  // One statement on each line, because MariaDB reads no more of a line.
  const [writes = ''] = /printf '%s\\n' .* >/.exec(services[1]?.run ?? '') ?? [];
  expect(execFileSync('sh', ['-c', writes.slice(0, -1)]).toString()).toBe(
    'create database if not exists `shop`;\ncreate database if not exists `a-b`;\n',
  );
  expect(env).toEqual({ A: 'jdbc:mysql://localhost:3306/shop', B: 'postgres://u:p@ss@localhost/two' });
});

test('an account in a compose file that is no ordinary name does not become a part of a command', () => {
  const given = (user: string) =>
    `services: { db: { image: postgres, environment: { POSTGRES_USER: ${JSON.stringify(user)}, POSTGRES_DB: "x\\"; drop" } } }`;
  for (const user of ['$(touch x)', 'a b', "'", `${'$'}{DB_USER:-a b}`, `${'$'}{DB_USER}`, '-c']) {
    const [service] = neededServices(['failed'], readCompose(Buffer.from(given(user)))).services;
    expect(service?.run).toContain(' -U postgres ');
    expect(service?.run).not.toContain('create database');
  }
});

test.each([
  ['nothing', ''],
  ['text', 'hello'],
  ['a list', '- a'],
  ['no map of services', 'services: [a, b]'],
  ['what is no YAML', '{ a: [ }'],
  ['too many aliases', `a: &a [1]\n${'b: &b [*a, *a, *a, *a, *a, *a]\n'}services: { x: [${'*b, '.repeat(50)}] }`],
])('a compose file with %s has no services that count', (_what, text) => {
  expect(readCompose(Buffer.from(text)).filter(({ image }) => image !== '')).toEqual([]);
});

test('the first compose file in the root counts, and a hostile one has no services', async () => {
  const bomb = `services: ${'['.repeat(60_000)}`;
  const files: Record<string, string> = { 'docker-compose.yml': compose, 'compose.yml': bomb };
  const read = (names: string[]) =>
    composeServices(
      { readFile: async (_: string, path: string) => Buffer.from(files[path] ?? '') } as never,
      'commit',
      new Map(names.map((name) => [name, ''])),
    );
  expect((await read(['docker-compose.yml'])).map(({ name }) => name)).toEqual([
    'app',
    'worker',
    'store',
    'cache',
    'proxy',
  ]);
  expect(await read(['compose.yml', 'docker-compose.yml'])).toEqual([]);
  expect(await read(['deploy/compose.yml'])).toEqual([]);
});
