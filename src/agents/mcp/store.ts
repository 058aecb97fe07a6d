import type { EntityManager } from 'typeorm';
import type { Sealed, SecretPlace } from '../../db/secret-box.ts';
import { type McpHeaderRow, McpHeaders, type McpServerRow, McpServers } from '../../db/tables/mcp.ts';

/** Returns the place that a header's value is bound to. Its ciphertext cannot be decrypted in another row. */
export function placeOf({ projectId, server, name }: Pick<McpHeaderRow, 'projectId' | 'server' | 'name'>): SecretPlace {
  return { table: 'mcp_headers', row: `${projectId}/${server}/${name}`, column: 'ciphertext', project: projectId };
}

export interface StoredMcpServer extends McpServerRow {
  headers: McpHeaderRow[];
}

/** Returns the MCP servers of a project in their order, with their headers by name. */
export async function listMcpServers(em: EntityManager, projectId: string): Promise<StoredMcpServer[]> {
  const servers = await em.find(McpServers, { where: { projectId }, order: { position: 'ASC' } });
  const headers =
    servers.length === 0 ? [] : await em.find(McpHeaders, { where: { projectId }, order: { name: 'ASC' } });
  return servers.map((server) => ({ ...server, headers: headers.filter((each) => each.server === server.name) }));
}

/** Replaces all MCP servers of a project. The caller has locked the project. */
export async function replaceMcpServers(
  em: EntityManager,
  projectId: string,
  servers: StoredMcpServer[],
): Promise<void> {
  await em.delete(McpServers, { projectId });
  for (const { headers, ...row } of servers) {
    await em.query('insert into mcp_servers (project_id, name, position, url, tools) values ($1, $2, $3, $4, $5)', [
      projectId,
      row.name,
      row.position,
      row.url,
      row.tools === null ? null : JSON.stringify(row.tools),
    ]);
    if (headers.length > 0) await em.insert(McpHeaders, headers);
  }
}

export async function listHeaderPlaces(em: EntityManager) {
  return em.find(McpHeaders, { select: { projectId: true, server: true, name: true } });
}

/** Locks a header until the end of the transaction. Returns null when it was removed. */
export async function lockHeader(
  em: EntityManager,
  { projectId, server, name }: Pick<McpHeaderRow, 'projectId' | 'server' | 'name'>,
): Promise<McpHeaderRow | null> {
  return em.findOne(McpHeaders, { where: { projectId, server, name }, lock: { mode: 'pessimistic_write' } });
}

export async function updateHeader(
  em: EntityManager,
  { projectId, server, name }: Pick<McpHeaderRow, 'projectId' | 'server' | 'name'>,
  sealed: Sealed,
): Promise<void> {
  await em.update(McpHeaders, { projectId, server, name }, sealed);
}
