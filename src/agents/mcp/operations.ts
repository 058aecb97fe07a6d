import type { z } from 'zod';
import type { App } from '../../app.ts';
import type { Changes } from '../../domain/audit/changes.ts';
import { badRequest, type Problem } from '../../errors.ts';
import { serverUrlProblem } from '../../git/remote-url.ts';
import { lockProject } from '../../projects/store.ts';
import { hostRules } from '../../repositories/credentials.ts';
import type { SetMcpServers } from './schemas.ts';
import {
  listHeaderPlaces,
  listMcpServers,
  lockHeader,
  placeOf,
  replaceMcpServers,
  type StoredMcpServer,
  updateHeader,
} from './store.ts';

type Given = z.output<typeof SetMcpServers>;

/** An MCP server with its headers decrypted, for use in this process only. */
export interface McpServerAccess {
  name: string;
  url: string;
  headers: Record<string, string>;
  tools: string[] | null;
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
    const missing: Problem[] = [];
    const servers = given.map((server, position) => {
      const known = before.find((each) => isSame(each.name, server.name));
      const headers = server.headers.flatMap(({ name, value }, at) => {
        const kept = value ? { value } : keptValue(app, known, server.url, name);
        if ('problem' in kept) missing.push(problem(`${position}.headers.${at}.value`, kept.problem));
        const place = { projectId, server: server.name, name };
        return 'problem' in kept ? [] : [{ ...place, ...app.secrets.seal(kept.value, placeOf(place)) }];
      });
      return { projectId, name: server.name, position, url: server.url, tools: server.tools, headers };
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
      servers.map(({ name, url, tools, headers }) => [name, url, tools, headers.map((h) => h.name).sort()]),
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
  if (known === undefined || header === undefined) return { problem: 'is required, because none is stored' };
  if (new URL(known.url).origin !== new URL(url).origin)
    return { problem: 'is required, because the server has moved to another origin' };
  return { value: app.secrets.open(header, placeOf(header)) };
}

function problemsOf(app: App, all: Given, { name, url, headers }: Given[number], i: number): Problem[] {
  const problems: Problem[] = [];
  const isRepeated = all.findIndex((each) => isSame(each.name, name)) < i;
  if (isRepeated) problems.push(problem(`${i}.name`, 'must differ from the names before it'));
  const wrong = serverUrlProblem(url, hostRules(app));
  if (wrong !== undefined) problems.push(problem(`${i}.url`, wrong));
  for (const [at, header] of headers.entries()) {
    const path = `${i}.headers.${at}.name`;
    if (reserved.has(header.name.toLowerCase()))
      problems.push(problem(path, 'must not be a header that HTTP or MCP sets'));
    if (headers.findIndex((each) => isSame(each.name, header.name)) < at)
      problems.push(problem(path, 'must differ from the names before it'));
  }
  return problems;
}

function problem(path: string, what: string): Problem {
  return { path, message: `${path} ${what}` };
}

function isSame(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}

/** Returns the MCP servers of a project with the values of their headers. */
export async function revealMcpServers(app: App, projectId: string): Promise<McpServerAccess[]> {
  const servers = await listMcpServers(app.db.manager, projectId);
  return servers.map(({ name, url, tools, headers }) => ({
    name,
    url,
    tools,
    headers: Object.fromEntries(headers.map((each) => [each.name, app.secrets.open(each, placeOf(each))])),
  }));
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
