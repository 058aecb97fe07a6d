import { createParser } from 'eventsource-parser';
import { z } from 'zod';
import { costProblem } from '../domain/json/json-cost.ts';
import { AnswerRefused } from '../errors.ts';

/** An MCP server did not do what was asked. The message follows the server's name in a sentence. */
export class McpFailed extends Error {
  /** The HTTP status, if that is the failure. */
  readonly status: number | undefined;

  constructor(message: string, status?: number) {
    super(message);
    this.name = 'McpFailed';
    this.status = status;
  }
}

/** The address of an MCP server and the headers of every request to it. `fetch` limits its responses. */
export interface Endpoint {
  url: string;
  headers: Record<string, string>;
  fetch: typeof fetch;
}

/** A JSON-RPC request. */
interface Asked {
  id: number;
  method: string;
  params: object;
}

interface Answered {
  result: object;
  headers: Headers;
}

const message = z.object({
  id: z.union([z.string(), z.number()]).optional(),
  method: z.string().optional(),
  result: z.looseObject({}).optional(),
  error: z.object({ message: z.string().catch('') }).optional(),
});
type Message = z.output<typeof message>;

/**
 * A server may send requests of its own before it answers. At most this many get a reply, so that it cannot make us
 * flood it.
 */
const maxReplies = 10;
const methodNotFound = { code: -32601, message: 'this client offers nothing to servers' };

/** Posts one JSON-RPC message. @throws McpFailed for every unsuccessful status */
export async function post({ url, headers, fetch }: Endpoint, body: object, signal: AbortSignal): Promise<Response> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', ...body }),
    signal,
  });
  if (answer.ok) return answer;
  const isRedirect = answer.status >= 300 && answer.status < 400;
  const reason = isRedirect ? '' : reasonIn(await answer.text());
  throw new McpFailed(
    isRedirect ? 'redirects, which is not allowed' : `answered HTTP ${answer.status}${reason}`,
    answer.status,
  );
}

/** Returns the words of a JSON-RPC error, which some servers send with a status. */
function reasonIn(text: string): string {
  try {
    const { error } = message.parse(JSON.parse(text));
    return error === undefined || error.message === '' ? '' : `: ${error.message}`;
  } catch {
    return '';
  }
}

/**
 * Sends a request over streamable HTTP and returns the result. The answer arrives as JSON or in a stream of events,
 * which may contain other messages before it.
 * @throws McpFailed when the server answers with an error or not at all
 */
export async function ask(endpoint: Endpoint, asked: Asked, signal: AbortSignal): Promise<Answered> {
  const answer = await post(endpoint, asked, signal);
  let replies = 0;
  for await (const given of messagesIn(answer)) {
    if (given.method === undefined && given.id === asked.id)
      return { result: resultOf(given), headers: answer.headers };
    if (given.method === undefined || given.id === undefined || replies === maxReplies) continue;
    replies += 1;
    await reply(endpoint, given, signal);
  }
  throw new McpFailed('ended its answer before it was complete');
}

function resultOf({ result, error }: Message): object {
  if (error !== undefined) throw new McpFailed(`answered with an error: ${error.message || 'without a message'}`);
  if (result === undefined) throw new McpFailed('answered with neither a result nor an error');
  return result;
}

/** Replies to a request of the server. This client declares no abilities, so it only replies to pings. */
async function reply(endpoint: Endpoint, { id, method }: Message, signal: AbortSignal): Promise<void> {
  const body = method === 'ping' ? { id, result: {} } : { id, error: methodNotFound };
  const answer = await post(endpoint, body, signal);
  await answer.body?.cancel();
}

async function* messagesIn(answer: Response): AsyncGenerator<Message> {
  const isStream = answer.headers.get('content-type')?.includes('text/event-stream') ?? false;
  if (!isStream) {
    yield* parsed(await answer.text());
    return;
  }
  const events: string[] = [];
  const parser = createParser({ onEvent: ({ data }) => void events.push(data) });
  const decoder = new TextDecoder();
  for await (const piece of answer.body ?? []) {
    parser.feed(decoder.decode(piece, { stream: true }));
    for (const data of events.splice(0)) if (data !== '') yield* parsed(data);
  }
}

/** The most values in the JSON of an answer, or of one event in a stream. */
const maxValues = 100_000;
/** The most messages in one list. Zod builds an error for each invalid one, which takes 20 µs. */
const maxMessages = 1000;

/**
 * Parses JSON with one message, or with several, as an older version of the protocol allowed.
 * @throws McpFailed for what is not JSON; AnswerRefused for JSON with too many values
 */
function* parsed(text: string): Generator<Message> {
  const problem = costProblem(text, maxValues);
  if (problem !== undefined) throw new AnswerRefused(problem);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new McpFailed('sent an answer that is not JSON');
  }
  for (const each of Array.isArray(value) ? value.slice(0, maxMessages) : [value]) {
    const { data } = message.safeParse(each);
    if (data !== undefined) yield data;
  }
}
