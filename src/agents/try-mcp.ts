import { z } from 'zod';
import type { App } from '../app.ts';
import { withoutSecrets } from '../domain/secrets.ts';
import { oneLine, visible } from '../domain/text/sanitize.ts';
import { inProject, theProject } from '../http/access/access.ts';
import { type Route, route } from '../http/route.ts';
import { mcpClient } from '../mcp/client.ts';
import { McpFailed } from '../mcp/exchange.ts';
import { fetchFromMcp } from '../outgoing/fetch-from.ts';
import { checkedAddress } from '../repositories/credentials.ts';
import { connectionOf, McpConnection, secretsInHeaders } from './mcp.ts';

/** A server may declare 2,000 tools, with descriptions of any length. A person who chooses among them needs less. */
const maxTools = 500;
const maxDescription = 300;
/** A text is read up to this many times its shown length, because invisible characters are removed from it. */
const mostRead = 20;

const McpTrial = z
  .object({
    problem: z
      .string()
      .nullable()
      .meta({ description: 'why the tools of the server could not be listed; null if they could' }),
    tools: z
      .array(z.object({ name: z.string(), description: z.string() }))
      .max(maxTools)
      .meta({
        description: `the tools that the server declares, at most ${maxTools}, with the beginnings of their descriptions`,
      }),
  })
  .meta({ id: 'McpTrial' });

const declared = z.object({ name: z.string().min(1).max(128), description: z.string().catch('') });

/**
 * Connects to an MCP server that is not saved yet, and lists its tools. The connection has the rules and limits of a run.
 * Values of headers are removed from what the server says: an admin need not know those that are stored.
 * @throws AppError 400 for an address or a header that could not be saved
 */
async function tryMcpServer(app: App, projectId: string, given: z.output<typeof McpConnection>) {
  const { url, headers } = await connectionOf(app, projectId, given);
  // An address may contain credentials.
  app.audit.note({ server: [null, `${given.name} (${new URL(url).host})`] });
  const secrets = secretsInHeaders(headers);
  const client = mcpClient({ url, headers, fetch: fetchFromMcp(checkedAddress(app)) });
  // Looking through megabytes would hold the event loop for half a second.
  const clean = (text: string, most: number) =>
    oneLine(visible(withoutSecrets(text.slice(0, mostRead * most), secrets)), most);
  try {
    const listed = (await client.listTools(app.stopping)).map((tool) => declared.safeParse(tool).data);
    const tools = listed
      .filter((tool) => tool !== undefined)
      .slice(0, maxTools)
      .map(({ name, description }) => ({ name: clean(name, 128), description: clean(description, maxDescription) }));
    return { problem: null, tools };
  } catch (error) {
    if (!(error instanceof McpFailed)) throw error;
    return { problem: `The server ${clean(error.message, 300)}.`, tools: [] };
  } finally {
    await client.close();
  }
}

export const tryMcpRoutes: Route[] = [
  route({
    operationId: 'tryMcpServer',
    method: 'post',
    path: '/projects/:projectId/mcp-servers/try',
    summary: 'Connect to an MCP server and list its tools, without saving it',
    // The values of headers are secrets.
    guide: null,
    tag: 'agents',
    access: inProject('admin'),
    audit: { action: 'project.try_mcp_server', object: theProject },
    body: McpConnection,
    reply: [200, McpTrial],
    waits: 'before it writes',
    handle: (app, { projectId, body }) => tryMcpServer(app, projectId, body),
  }),
];
