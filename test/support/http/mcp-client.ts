import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';

/** The service and the person whose token is sent; `query` chooses toolsets. */
interface Connection {
  url: string;
  token: string;
  query?: string;
}

/** Connects the client of the official SDK to the service's MCP server, and closes it after `act`. */
export async function overMcp<T>(
  { url, token, query = '' }: Connection,
  act: (client: Client) => Promise<T>,
): Promise<T> {
  const client = new Client({ name: 'test', version: '1' });
  const transport = new StreamableHTTPClientTransport(new URL(`${url}/api/v1/mcp${query}`), {
    requestInit: { headers: { Authorization: `Bearer ${token}` } },
  });
  await client.connect(transport as Parameters<Client['connect']>[0]);
  try {
    return await act(client);
  } finally {
    await client.close();
  }
}

/** Calls a tool. Once its client has listed the tools, it checks the result against the tool's output schema. */
export const call = (client: Client, name: string, args: Record<string, unknown> = {}) =>
  client.callTool({ name, arguments: args }) as Promise<CallToolResult>;
