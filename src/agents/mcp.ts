import type { EntityManager } from 'typeorm';
import { z } from 'zod';
import type { App } from '../app.ts';
import type { Sealed, SecretPlace } from '../db/sealed.ts';
import { type McpHeaderRow, McpHeaders, type McpServerRow, McpServers } from '../db/tables/mcp.ts';
import type { RepositoryRow } from '../db/tables/project.ts';
import type { Changes } from '../domain/audit.ts';
import { badRequest, type Problem } from '../errors.ts';
import { serverUrlProblem } from '../git/remote-url.ts';
import { inProject, theProject } from '../http/access/access.ts';
import { IdText, type Route, route } from '../http/route.ts';
import { lockProject } from '../projects/store.ts';
import { hostRules } from '../repositories/credentials.ts';
import { listProjectRepositories } from '../repositories/store.ts';

/** The most servers that a project may have. */
const maxServers = 20;

const serverName = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$/,
    'must have 1 to 32 letters, digits, - or _, and begin with a letter or digit',
  );

const url = z.string().max(2048, 'must have at most 2048 characters');

const headerName = z
  .string()
  .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/, 'must be the name of an HTTP header, at most 100 characters');

/** An empty value counts as none. */
const headerValue = z
  .string()
  .max(4096, 'must have at most 4096 characters')
  .regex(
    /^(?:[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)?$/,
    'must be printable ASCII that neither begins nor ends with a space',
  )
  .nullish();

/** Most programs that use MCP servers write headers as an object. Both forms are accepted. */
const headers = z
  .union(
    [
      z.array(z.strictObject({ name: headerName, value: headerValue })).max(20),
      z.record(headerName, headerValue).refine((given) => Object.keys(given).length <= 20),
    ],
    'must be a list of at most 20 headers { name, value }, with printable ASCII as value',
  )
  .transform((given) =>
    Array.isArray(given) ? given : Object.entries(given).map(([name, value]) => ({ name, value })),
  );

const tools = z
  .array(z.string().min(1).max(128, 'must have at most 128 characters'))
  .max(100)
  .nullable()
  .meta({ description: 'the tools to offer to agents, by the names that the server gives them; null for all' });

const repositories = z.array(IdText).max(1000, 'must have at most 1000 entries').optional().meta({
  description:
    'ids of the repositories whose runs may use the server; without it, the only repository of the project, and none while the project has several',
});

const SetMcpServers = z
  .array(
    z.strictObject({
      name: serverName,
      url,
      headers: headers.default([]),
      tools: tools.default(null),
      repositories,
    }),
  )
  .max(maxServers);

/** What a connection to a server needs. */
export const McpConnection = z.strictObject({ name: serverName, url, headers: headers.default([]) });

const McpServer = z
  .object({
    name: z.string(),
    url: z.string(),
    headers: z.array(z.object({ name: z.string() })).meta({ description: 'values are never shown' }),
    tools,
    repositories,
  })
  .meta({ id: 'McpServer' });

/** Returns the place that a header's value is bound to. Its ciphertext cannot be decrypted in another row. */
function placeOf({ projectId, server, name }: Pick<McpHeaderRow, 'projectId' | 'server' | 'name'>): SecretPlace {
  return { table: 'mcp_headers', row: `${projectId}/${server}/${name}`, column: 'ciphertext', project: projectId };
}

export interface StoredMcpServer extends McpServerRow {
  headers: McpHeaderRow[];
}

/**
 * Returns the MCP servers of a project in their order, with their headers by name. Repositories that have left the
 * project are left out.
 */
async function listMcpServers(em: EntityManager, projectId: string): Promise<StoredMcpServer[]> {
  const servers = await em.find(McpServers, { where: { projectId }, order: { position: 'ASC' } });
  if (servers.length === 0) return [];
  const headers = await em.find(McpHeaders, { where: { projectId }, order: { name: 'ASC' } });
  const ids = await repositoryIds(em, projectId);
  return servers.map((server) => ({
    ...server,
    headers: headers.filter((each) => each.server === server.name),
    repositories: server.repositories?.filter((id) => ids.includes(id)) ?? null,
  }));
}

async function repositoryIds(em: EntityManager, projectId: string): Promise<string[]> {
  return (await listProjectRepositories(em, projectId)).map(({ id }) => id);
}

/** Replaces all MCP servers of a project. The caller has locked the project. */
async function replaceMcpServers(em: EntityManager, projectId: string, servers: StoredMcpServer[]): Promise<void> {
  await em.delete(McpServers, { projectId });
  for (const { headers, ...row } of servers) {
    const [tools, repositories] = [row.tools, row.repositories].map((each) => each && JSON.stringify(each));
    await em.query(
      `insert into mcp_servers (project_id, name, position, url, tools, repositories)
       values ($1, $2, $3, $4, $5, $6)`,
      [projectId, row.name, row.position, row.url, tools, repositories],
    );
    if (headers.length > 0) await em.insert(McpHeaders, headers);
  }
}

async function listHeaderPlaces(em: EntityManager) {
  return em.find(McpHeaders, { select: { projectId: true, server: true, name: true } });
}

/** Locks a header until the end of the transaction. Returns null when it was removed. */
async function lockHeader(
  em: EntityManager,
  { projectId, server, name }: Pick<McpHeaderRow, 'projectId' | 'server' | 'name'>,
): Promise<McpHeaderRow | null> {
  return em.findOne(McpHeaders, { where: { projectId, server, name }, lock: { mode: 'pessimistic_write' } });
}

async function updateHeader(
  em: EntityManager,
  { projectId, server, name }: Pick<McpHeaderRow, 'projectId' | 'server' | 'name'>,
  sealed: Sealed,
): Promise<void> {
  await em.update(McpHeaders, { projectId, server, name }, sealed);
}

type Given = z.output<typeof SetMcpServers>;

/** An MCP server with its headers decrypted, for use in this process only. */
export interface McpServerAccess {
  name: string;
  url: string;
  headers: Record<string, string>;
  tools: string[] | null;
  /** Whether runs in the repository that was asked for may use it. */
  isOffered: boolean;
}

/** Headers that the protocol itself sets, and those that belong to one connection. */
const reserved = new Set([
  ...['accept', 'connection', 'content-length', 'content-type', 'expect', 'host', 'keep-alive', 'mcp-session-id'],
  ...['mcp-protocol-version', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'accept-encoding', 'content-encoding'],
]);

/** Replaces the MCP servers of a project. A header without a value keeps its previous value. @throws AppError 400 */
export async function setMcpServers(app: App, projectId: string, given: Given): Promise<StoredMcpServer[]> {
  const problems = given.flatMap((server, i) => problemsOf(app, given, server, i));
  if (problems.length > 0) throw badRequest(problems);
  return app.db.transaction(async (em) => {
    await lockProject(em, projectId);
    const before = await listMcpServers(em, projectId);
    const ids = await repositoryIds(em, projectId);
    const missing = given.flatMap((server, i) => unknownRepositories(server, ids, i));
    const servers = given.map((server, position) => {
      const known = before.find((each) => isSame(each.name, server.name));
      const headers = server.headers.flatMap(({ name, value }, at) => {
        const kept = value ? { value } : keptValue(app, known, server.url, name);
        if ('problem' in kept)
          missing.push({ path: `${position}.headers.${at}.value`, message: `${server.name}: ${kept.problem}` });
        const place = { projectId, server: server.name, name };
        return 'problem' in kept ? [] : [{ ...place, ...app.secrets.seal(kept.value, placeOf(place)) }];
      });
      const { url, tools, repositories = null } = server;
      return { projectId, name: server.name, position, url, tools, repositories, headers };
    });
    if (missing.length > 0) throw badRequest(missing);
    await replaceMcpServers(em, projectId, servers);
    const after = await listMcpServers(em, projectId);
    app.audit.note(serverChanges(before, after, given));
    return after;
  });
}

/** Returns what the audit log says of a change. Addresses may contain credentials, so only their hosts are named. */
function serverChanges(before: StoredMcpServer[], after: StoredMcpServer[], given: Given): Changes {
  const settings = (servers: StoredMcpServer[]) =>
    JSON.stringify(
      servers.map(({ name, url, tools, repositories, headers }) => [
        ...[name, url, tools, repositories],
        headers.map((h) => h.name).sort(),
      ]),
    );
  const hasNewValue = given.some(({ headers }) => headers.some(({ value }) => value));
  if (settings(before) === settings(after) && !hasNewValue) return {};
  const named = (servers: StoredMcpServer[]) =>
    servers.map(({ name, url }) => `${name} (${new URL(url).host})`).join(', ');
  return { servers: [named(before), named(after)] };
}

/**
 * Returns the value that a header had. It is not kept for an address at another origin: an admin who does not know the
 * value could have it sent to a server of their own.
 */
function keptValue(app: App, known: StoredMcpServer | undefined, url: string, name: string) {
  const header = known?.headers.find((each) => isSame(each.name, name));
  const required = `The value of the header ${name} is required`;
  if (known === undefined || header === undefined) return { problem: `${required}, because none is stored` };
  if (new URL(known.url).origin !== new URL(url).origin)
    return { problem: `${required}, because the server has moved to another origin` };
  return { value: app.secrets.open(header, placeOf(header)) };
}

function problemsOf(app: App, all: Given, server: Given[number], i: number): Problem[] {
  const problems: Problem[] = [];
  const isRepeated = all.findIndex((each) => isSame(each.name, server.name)) < i;
  if (isRepeated)
    problems.push({ path: `${i}.name`, message: `Two servers have the name ${server.name}. Rename one.` });
  const wrong = connectionProblems(app, server);
  return [
    ...problems,
    ...wrong.map(({ path, message }) => ({ path: `${i}.${path}`, message: `${server.name}: ${message}` })),
  ];
}

/** Returns what is wrong with the address and the headers of a server. */
function connectionProblems(app: App, { url, headers }: Pick<Given[number], 'url' | 'headers'>): Problem[] {
  const problems: Problem[] = [];
  const wrong = serverUrlProblem(url, hostRules(app));
  if (wrong !== undefined) problems.push({ path: 'url', message: `URL ${wrong}` });
  for (const [at, { name }] of headers.entries()) {
    const path = `headers.${at}.name`;
    if (reserved.has(name.toLowerCase()))
      problems.push({ path, message: `The header ${name} is set by HTTP or MCP. Choose another one.` });
    if (headers.findIndex((each) => isSame(each.name, name)) < at)
      problems.push({ path, message: `The header ${name} is given twice. Remove one of them.` });
  }
  return problems;
}

function unknownRepositories({ name, repositories = [] }: Given[number], known: string[], i: number): Problem[] {
  const unknown = repositories.find((id) => !known.includes(id));
  if (unknown === undefined) return [];
  const message = `${name}: ${unknown.slice(0, 100)} is no repository of the project`;
  return [{ path: `${i}.repositories`, message }];
}

function isSame(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}

/**
 * Returns all MCP servers of a repository's project with the values of their headers, and says which of them the
 * repository may use. The headers are those of an admin, so a person who may write to one repository must not get
 * what they open for others.
 */
export async function revealMcpServers(
  app: App,
  { id, projectId }: Pick<RepositoryRow, 'id' | 'projectId'>,
): Promise<McpServerAccess[]> {
  const servers = await listMcpServers(app.db.manager, projectId);
  const ids = await repositoryIds(app.db.manager, projectId);
  return servers.map(({ name, url, tools, repositories, headers }) => ({
    name,
    url,
    tools,
    isOffered: repositories === null ? ids.length === 1 && ids[0] === id : repositories.includes(id),
    headers: Object.fromEntries(headers.map((each) => [each.name, app.secrets.open(each, placeOf(each))])),
  }));
}

type GivenConnection = z.output<typeof McpConnection>;

/**
 * Returns the address and the headers by which a server can be tried before it is saved. A header without a value has that of
 * the stored server with this name. @throws AppError 400
 */
export async function connectionOf(
  app: App,
  projectId: string,
  given: GivenConnection,
): Promise<{ url: string; headers: Record<string, string> }> {
  const problems = connectionProblems(app, given);
  if (problems.length > 0) throw badRequest(problems);
  const stored = await listMcpServers(app.db.manager, projectId);
  const known = stored.find((each) => isSame(each.name, given.name));
  const headers = given.headers.map(({ name, value }, at): [string, string] => {
    const kept = value ? { value } : keptValue(app, known, given.url, name);
    if ('problem' in kept) throw badRequest([{ path: `headers.${at}.value`, message: kept.problem }]);
    return [name, kept.value];
  });
  return { url: given.url, headers: Object.fromEntries(headers) };
}

/** A shorter value of a header may be an ordinary word, which could occur in any file. */
const leastSecretLength = 16;

/** Returns the values of headers, and the credentials in those such as `Bearer abc`, that are long enough to be secrets. */
export function secretsInHeaders(headers: Record<string, string>): string[] {
  return Object.values(headers)
    .flatMap((value) => [value, /^[A-Za-z-]+ +(\S+)$/.exec(value)?.[1] ?? ''])
    .filter((each) => each.length >= leastSecretLength);
}

/** Encrypts every header with the newest key, each in a separate transaction. Returns the number of headers. */
export async function resealMcpHeaders(app: App): Promise<number> {
  let count = 0;
  for (const each of await listHeaderPlaces(app.db.manager))
    await app.db.transaction(async (em) => {
      const row = await lockHeader(em, each);
      // The header was removed since the list was read.
      if (row === null) return;
      await updateHeader(em, each, app.secrets.seal(app.secrets.open(row, placeOf(row)), placeOf(row)));
      count += 1;
    });
  return count;
}

/** Returns a server as GET shows it and PUT takes it: without `repositories` where none were chosen. */
function shown({ repositories, ...server }: StoredMcpServer) {
  return { ...server, repositories: repositories ?? undefined };
}

const path = '/projects/:projectId/mcp-servers';
const tag = 'agents';

export const mcpServerRoutes: Route[] = [
  route({
    operationId: 'listMcpServers',
    method: 'get',
    path,
    summary: 'List the MCP servers whose tools the agents of a project may call',
    tag,
    access: inProject('admin'),
    reply: [200, z.array(McpServer)],
    handle: async (app, { projectId }) => (await listMcpServers(app.db.manager, projectId)).map(shown),
  }),
  route({
    operationId: 'setMcpServers',
    method: 'put',
    path,
    summary: 'Replace the MCP servers of a project. A header without a value keeps its previous value',
    // The values of headers are secrets.
    guide: null,
    tag,
    access: inProject('admin'),
    audit: { action: 'project.set_mcp_servers', object: theProject },
    body: SetMcpServers,
    reply: [200, z.array(McpServer)],
    handle: async (app, { projectId, body }) => (await setMcpServers(app, projectId, body)).map(shown),
  }),
];
