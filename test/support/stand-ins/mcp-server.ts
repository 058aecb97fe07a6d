import { randomUUID } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { z } from 'zod';

/** A real MCP server, made with the official SDK. */
export interface RunningMcpServer {
  url: string;
  /** The method of each JSON-RPC message, or the HTTP method of a request without one; and the headers. */
  requests: { method: string; headers: IncomingHttpHeaders }[];
  /** Forgets all sessions, as after a restart. */
  forget(): void;
  close(): void;
}

/** Starts an MCP server with a few tools. It answers in streams of events, or in JSON. */
export async function startMcpServer({ inJson = false } = {}): Promise<RunningMcpServer> {
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const requests: RunningMcpServer['requests'] = [];
  const open = async () => {
    const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      enableJsonResponse: inJson,
      onsessioninitialized: (id) => void sessions.set(id, transport),
      onsessionclosed: (id) => void sessions.delete(id),
    });
    await serverWithTools().connect(transport as never);
    return transport;
  };
  const server = createServer(async (req, res) => {
    let text = '';
    for await (const chunk of req) text += chunk;
    const body = text === '' ? undefined : JSON.parse(text);
    requests.push({ method: body?.method ?? req.method, headers: req.headers });
    const id = req.headers['mcp-session-id'];
    const transport = id === undefined ? await open() : sessions.get(String(id));
    if (transport === undefined) return res.writeHead(404).end();
    await transport.handleRequest(req, res, body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    requests,
    forget: () => sessions.clear(),
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

function serverWithTools(): McpServer {
  const server = new McpServer({ name: 'tracker', version: '1.0.0' });
  const text = (said: string) => ({ content: [{ type: 'text' as const, text: said }] });
  const inputSchema = { query: z.string().describe('what to look for'), limit: z.number().int().optional() };
  server.registerTool('search', { description: 'Search the tracker.', inputSchema }, async ({ query }) =>
    text(`2 tickets about ${query}`),
  );
  server.registerTool('fail', { description: 'Always fails.' }, async () => ({ ...text('it broke'), isError: true }));
  server.registerTool('echo_headers', { description: 'Shows the headers.' }, async ({ requestInfo }) =>
    text(JSON.stringify(requestInfo?.headers)),
  );
  return server;
}
