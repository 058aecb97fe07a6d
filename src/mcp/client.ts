import { z } from 'zod';
import { JsonCost } from '../domain/json/json-cost.ts';
import { refusedAnswer } from '../errors.ts';
import { whyUnreachable } from '../host/through-proxy.ts';
import { ask, type Endpoint, McpFailed, post } from './exchange.ts';

/** The tools of one MCP server, reached over streamable HTTP. Nothing that it returns has been checked. */
export interface McpClient {
  /** Returns the tools that the server declares. @throws McpFailed, or the reason of the signal */
  listTools(signal: AbortSignal): Promise<unknown[]>;
  /** Calls a tool and returns its result. @throws McpFailed, or the reason of the signal */
  callTool(name: string, args: object, signal: AbortSignal): Promise<object>;
  /** Ends the session. Never throws. */
  close(): Promise<void>;
}

/** The version that we ask for. A server may choose another one that we know. */
const protocolVersion = '2025-06-18';
const knownVersions = ['2025-11-25', protocolVersion, '2025-03-26', '2024-11-05'];

/** How long a list of tools may take with all of its pages, and how long a call. Both include the start of a session. */
const usualSeconds = { listing: 20, call: 120 };
/** How long the end of a session may take. */
const closingMs = 2000;

/**
 * A list of tools is read up to this many pages, tools, bytes of JSON, and values. A longer list is cut. All of it is in
 * memory until the tools are chosen, and a run may have 20 servers.
 */
const maxPages = 50;
const maxTools = 2000;
const maxBytes = 2_000_000;
const maxValues = 100_000;

const started = z.object({ protocolVersion: z.string() });
const page = z.object({ tools: z.array(z.unknown()), nextCursor: z.string().max(10_000).nullish() });
/** What the protocol allows in a session's id. */
const sessionId = /^[\x21-\x7e]{1,1000}$/;

/**
 * Creates a client. The session begins with the first request, and begins again when the server has forgotten it. For why
 * this is not the SDK's client, see docs/decisions/0031-mcp-tools.md.
 */
export function mcpClient(endpoint: Endpoint, seconds = usualSeconds): McpClient {
  let session: Endpoint | undefined;
  let lastId = 0;
  const nextId = () => {
    lastId += 1;
    return lastId;
  };

  const start = async (signal: AbortSignal): Promise<Endpoint> => {
    const params = { protocolVersion, capabilities: {}, clientInfo: { name: 'deckhand', version: '1' } };
    const { result, headers } = await ask(endpoint, { id: nextId(), method: 'initialize', params }, signal);
    const version = started.safeParse(result).data?.protocolVersion ?? '';
    if (!knownVersions.includes(version)) throw new McpFailed('does not support any of our protocol versions');
    const id = headers.get('mcp-session-id') ?? '';
    const opened = {
      ...endpoint,
      headers: {
        ...endpoint.headers,
        'MCP-Protocol-Version': version,
        ...(sessionId.test(id) ? { 'Mcp-Session-Id': id } : {}),
      },
    };
    await (await post(opened, { method: 'notifications/initialized' }, signal)).body?.cancel();
    return opened;
  };

  const request = async (method: string, params: object, signal: AbortSignal): Promise<object> => {
    const isNew = session === undefined;
    session ??= await start(signal);
    try {
      return (await ask(session, { id: nextId(), method, params }, signal)).result;
    } catch (error) {
      // With this status a server says that it no longer knows the session.
      const isForgotten = error instanceof McpFailed && error.status === 404 && 'Mcp-Session-Id' in session.headers;
      if (!isForgotten || isNew) throw error;
      session = undefined;
      return request(method, params, signal);
    }
  };

  return {
    listTools: (signal) =>
      within(seconds.listing, signal, (limited) =>
        listAll((cursor) => request('tools/list', cursor === undefined ? {} : { cursor }, limited)),
      ),
    callTool: (name, args, signal) =>
      within(seconds.call, signal, (limited) => request('tools/call', { name, arguments: args }, limited)),
    close: async () => {
      if (session === undefined || !('Mcp-Session-Id' in session.headers)) return;
      const { url, headers, fetch } = session;
      const ending = fetch(url, { method: 'DELETE', headers, signal: AbortSignal.timeout(closingMs) });
      await ending.then((answer) => answer.body?.cancel()).catch(() => {});
    },
  };
}

/** Reads a list of tools page by page. @throws McpFailed */
async function listAll(read: (cursor: string | undefined) => Promise<object>): Promise<unknown[]> {
  const tools: unknown[] = [];
  const cost = new JsonCost(maxValues);
  let cursor: string | undefined;
  let bytes = 0;
  for (let pages = 0; pages < maxPages && tools.length < maxTools; pages++) {
    const { data } = page.safeParse(await read(cursor));
    if (data === undefined) throw new McpFailed('did not send a list of tools');
    for (const tool of data.tools.slice(0, maxTools - tools.length)) {
      const text = new TextEncoder().encode(JSON.stringify(tool));
      bytes += text.length;
      if (bytes > maxBytes || cost.add(text) !== undefined) return tools;
      tools.push(tool);
    }
    cursor = data.nextCursor ?? undefined;
    if (cursor === undefined) break;
  }
  return tools;
}

/** Limits the time of `act`, and explains its errors. @throws McpFailed, or the reason of the signal */
async function within<T>(seconds: number, signal: AbortSignal, act: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const over = AbortSignal.timeout(seconds * 1000);
  try {
    return await act(AbortSignal.any([signal, over]));
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof McpFailed) throw error;
    if (over.aborted) throw new McpFailed(`did not answer within ${seconds} s`);
    const refused = refusedAnswer(error);
    if (refused !== undefined) throw new McpFailed(`sent an answer that ${refused.what}`);
    throw new McpFailed(`could not be reached (${whyUnreachable(error)})`);
  }
}
