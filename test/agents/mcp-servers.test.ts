import { randomUUID } from 'node:crypto';
import { revealMcpServers } from '../../src/agents/mcp.ts';
import type { AboutRun } from '../../src/conversation/about-run.ts';
import { openMcpTools } from '../../src/conversation/mcp/mcp-tools.ts';
import { openProject } from '../support/project.ts';
import { startMcpServer } from '../support/stand-ins/mcp-server.ts';

const { service, call, createProject } = await openProject();
let path: string;
let projectId: string;
beforeEach(async () => {
  projectId = await createProject();
  path = `/projects/${projectId}/mcp-servers`;
});

const put = (body: unknown) => call('PUT', path, body);
const reveal = (id = 'any') => revealMcpServers(service.app, { id, projectId });
const url = 'https://mcp.example.com/mcp';

test('servers are stored in their order, and the values of headers are never shown', async () => {
  expect((await call('GET', path)).body).toEqual([]);
  const servers = [
    { name: 'tracker', url, headers: [{ name: 'Authorization', value: 'Bearer s3cret-value' }], tools: ['search'] },
    { name: 'docs', url: 'https://docs.example.com/', headers: { 'X-Team': 'blue', 'X-Key': 's3cret-key' } },
  ];
  const shown = [
    { name: 'tracker', url, headers: [{ name: 'Authorization' }], tools: ['search'] },
    { name: 'docs', url: 'https://docs.example.com/', headers: [{ name: 'X-Key' }, { name: 'X-Team' }], tools: null },
  ];
  const answer = await put(servers);
  expect([answer.status, answer.body]).toEqual([200, shown]);
  expect((await call('GET', path)).body).toEqual(shown);
  const rows = await service.app.db.manager.query('select t::text from mcp_headers t');
  expect(JSON.stringify(rows)).not.toContain('s3cret');
});

test('a header without a value keeps the one it had; one that is not named is removed', async () => {
  await put([{ name: 'a', url, headers: { Authorization: 'Bearer one', 'X-Old': 'old', 'X-New': 'new' } }]);
  const kept = [{ name: 'authorization' }, { name: 'X-Old', value: null }, { name: 'X-New', value: 'newer' }];
  expect((await put([{ name: 'A', url: `${url}/v2`, headers: kept }])).status).toBe(200);
  expect(await reveal()).toMatchObject([
    { name: 'A', headers: { authorization: 'Bearer one', 'X-Old': 'old', 'X-New': 'newer' } },
  ]);
  // What GET shows can be sent back.
  const { body } = await call('GET', path);
  expect((await put(body)).body).toEqual(body);
  expect((await put([{ name: 'A', url, headers: { 'X-Old': '' } }])).body[0].headers).toEqual([{ name: 'X-Old' }]);
  expect(await reveal()).toMatchObject([{ headers: { 'X-Old': 'old' } }]);
});

test('a value is not kept for a server at another origin, which would learn it', async () => {
  await put([{ name: 'a', url, headers: { 'X-Key': 'secret' } }]);
  const moved = await put([{ name: 'a', url: 'https://evil.example.com/mcp', headers: [{ name: 'X-Key' }] }]);
  expect([moved.status, moved.body.message]).toEqual([
    400,
    'a: The value of the header X-Key is required, because the server has moved to another origin',
  ]);
  const unknown = await put([{ name: 'b', url, headers: [{ name: 'X-Key' }] }]);
  expect(unknown.body.message).toBe('b: The value of the header X-Key is required, because none is stored');
  expect((await call('GET', path)).body).toMatchObject([{ name: 'a', url }]);
});

test.each([
  [[{ name: 'a' }], '0.url is required'],
  [[{ name: 'a b', url }], /^0\.name must have 1 to 32 letters/],
  [
    [
      { name: 'a', url },
      { name: 'A', url },
    ],
    'Two servers have the name A. Rename one.',
  ],
  [[{ name: 'a', url: 'http://mcp.example.com/' }], 'a: URL must begin with https://'],
  [[{ name: 'a', url: 'https://127.0.0.1/mcp' }], /^a: URL must not name a private, loopback/],
  [[{ name: 'a', url: 'https://user@mcp.example.com/' }], /^a: URL must not contain a user name/],
  [[{ name: 'a', url: 'https://mcp.example.com/?key=x' }], /^a: URL must not contain a query/],
  [[{ name: 'a', url: 'mcp' }], /^a: URL must be an https address such as https:\/\/example\.com\/mcp/],
  [[{ name: 'a', url, headers: { Host: 'x' } }], 'a: The header Host is set by HTTP or MCP. Choose another one.'],
  [
    [
      {
        name: 'a',
        url,
        headers: [
          { name: 'X-A', value: '1' },
          { name: 'x-a', value: '2' },
        ],
      },
    ],
    'a: The header x-a is given twice. Remove one of them.',
  ],
  [[{ name: 'a', url, headers: { 'X-A': 'two\nlines' } }], /^0\.headers\.X-A must be printable ASCII/],
  [[{ name: 'a', url, headers: { 'X A': 'x' } }], /^0\.headers must be a list of at most 20 headers/],
  [[{ name: 'a', url, tools: 'search' }], '0.tools must be a list'],
  [[{ name: 'a', url, extra: 1 }], '0.extra is not a known field'],
  [{ name: 'a', url }, 'The body must be a list'],
  [Array.from({ length: 21 }, (_, i) => ({ name: `s${i}`, url })), 'The body must have at most 20 entries'],
])('%j is refused', async (body, message) => {
  const answer = await put(body);
  expect([answer.status, answer.body.message]).toEqual([
    400,
    typeof message === 'string' ? message : expect.stringMatching(message),
  ]);
});

describe('a server that is not saved yet', () => {
  const tryServer = (body: object) => call('POST', `${path}/try`, body);

  test('is tried with the headers that are given or stored, and nothing is saved', async () => {
    const tracker = await startMcpServer();
    Object.assign(service.app.config, { ALLOW_PRIVATE_HOSTS: true });
    try {
      const headers = [{ name: 'Authorization', value: 'Bearer the-value-that-is-stored' }];
      const { status, body } = await tryServer({ name: 'tracker', url: tracker.url, headers });
      expect([status, body.problem, body.tools.map((tool: { name: string }) => tool.name)]).toEqual([
        200,
        null,
        ['search', 'fail', 'echo_headers'],
      ]);
      expect(body.tools[0].description).toBe('Search the tracker.');
      expect((await call('GET', path)).body).toEqual([]);
      const records = (await call('GET', `/projects/${projectId}/audit?action=project.try_mcp_server`)).body;
      expect(records[0].detail).toEqual({ server: [null, `tracker (${new URL(tracker.url).host})`] });
      await put([{ name: 'tracker', url: tracker.url, headers }]);
      await tryServer({ name: 'Tracker', url: `${tracker.url}/`, headers: [{ name: 'authorization' }] });
      expect(tracker.requests.at(-1)?.headers.authorization).toBe('Bearer the-value-that-is-stored');
      const moved = { name: 'tracker', url: 'http://127.0.0.2/mcp', headers: [{ name: 'Authorization' }] };
      expect((await tryServer(moved)).body.message).toMatch(/is required, because the server has moved/);
    } finally {
      Object.assign(service.app.config, { ALLOW_PRIVATE_HOSTS: false });
      tracker.close();
    }
  });

  test('is not contacted at a closed address, and the reason for a failure has no stored value', async () => {
    const closed = await tryServer({ name: 'tracker', url: 'https://127.0.0.1/mcp' });
    expect([closed.status, closed.body.message]).toEqual([
      400,
      expect.stringMatching(/^URL must not name a private, loopback/),
    ]);
    const value = 'Bearer an-invalid-value-of-a-header';
    const lost = await tryServer({ name: 'tracker', url: 'https://mcp.invalid/mcp', headers: { 'X-Key': value } });
    expect([lost.status, lost.body.tools]).toEqual([200, []]);
    expect(lost.body.problem).toMatch(/^The server could not be reached/);
  });
});

const connect = async (name: string): Promise<string> => {
  const id = randomUUID();
  await service.app.db.manager.query(
    `insert into repositories (id, project_id, name, url) values ($1, $2, $3, 'https://example.com/' || $3)`,
    [id, projectId, name],
  );
  return id;
};

describe('the repositories that may use a server', () => {
  const offered = async (id: string) => (await reveal(id)).filter((each) => each.isOffered).map(({ name }) => name);

  test('are the only repository of the project, or those that an admin chose', async () => {
    const shop = await connect('shop');
    await put([{ name: 'tracker', url }]);
    expect(await offered(shop)).toEqual(['tracker']);
    const vault = await connect('vault');
    // Nobody has said whose server it is.
    expect([await offered(shop), await offered(vault)]).toEqual([[], []]);
    const chosen = [{ name: 'tracker', url, headers: [], tools: null, repositories: [vault] }];
    expect((await put(chosen)).body).toEqual(chosen);
    expect((await call('GET', path)).body).toEqual(chosen);
    expect([await offered(shop), await offered(vault)]).toEqual([[], ['tracker']]);
  });

  test('are none after the chosen ones have left, even if one repository remains', async () => {
    const [shop, vault] = [await connect('shop'), await connect('vault')];
    await put([{ name: 'tracker', url, repositories: [vault] }]);
    await call('DELETE', `/repositories/${vault}`);
    expect(await offered(shop)).toEqual([]);
    const { body } = await call('GET', path);
    expect(body).toMatchObject([{ repositories: [] }]);
    expect((await put(body)).status).toBe(200);
  });

  test('must belong to the project', async () => {
    const answer = await put([{ name: 'tracker', url, repositories: ['elsewhere'] }]);
    expect([answer.status, answer.body.message]).toEqual([400, 'tracker: elsewhere is no repository of the project']);
  });
});

test('a run that waited does not call a tool that an admin has taken away since', async () => {
  const tracker = await startMcpServer();
  Object.assign(service.app.config, { ALLOW_PRIVATE_HOSTS: true });
  try {
    const stored = new Map<string, object>();
    const journal = {
      once: async (name: string, make: () => Promise<object>) => {
        stored.set(name, stored.get(name) ?? (await make()));
        return stored.get(name);
      },
      note: async () => {},
    };
    const repository = { id: await connect('shop'), projectId, isPrivate: true };
    const about = { run: { projectId }, repository, journal, secrets: [], objectionToSending: () => undefined };
    const echoed = async () => {
      const tools = await openMcpTools(service.app, about as unknown as AboutRun, new AbortController().signal);
      const { text } = await tools.call('tracker__echo_headers', '{}');
      await tools.close();
      return text;
    };
    await put([{ name: 'tracker', url: tracker.url, tools: ['search', 'echo_headers'] }]);
    expect(await echoed()).toContain('accept');
    await put([{ name: 'tracker', url: tracker.url, tools: ['search'] }]);
    expect(await echoed()).toBe(
      'the tool echo_headers of the MCP server tracker is no longer offered to this repository',
    );
  } finally {
    Object.assign(service.app.config, { ALLOW_PRIVATE_HOSTS: false });
    tracker.close();
  }
});
