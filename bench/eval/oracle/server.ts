import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Answer, answerOf } from './answer.ts';
import { type ChatRequest, chatCompletion, chatEvents, type InputTokens, tokensOf } from './chat-wire.ts';
import { readConversation, textOf } from './conversation.ts';
import { deckhandTools, shellTools } from './dialects.ts';
import { faultsAt, type ServerFault } from './faults.ts';
import { type Assignment, nextAction } from './policy.ts';
import { prefixCache } from './prefix-cache.ts';
import { oracles } from './rates.ts';
import { asChatRequest, response, responseEvents } from './responses-wire.ts';

export interface OracleServer {
  /** The base URL for clients of the OpenAI API. */
  url: string;
  close(): void;
}

/** The model's name says which policy answers, and with which seed. */
export const oracleModel = (oracle: string, seed: string) => `oracle-${oracle}-${seed}`;

/**
 * Starts a server with the Chat Completions and Responses APIs, behind which a policy that knows the solution of each
 * task does the work. It finds the task by its title in the conversation. Only its faults depend on more than the
 * request: a request that failed may succeed when it is sent again.
 */
export async function startOracle(assignments: Assignment[]): Promise<OracleServer> {
  const faults = new Map(Object.entries(oracles).map(([name, { serverFault }]) => [name, faultsAt(serverFault)]));
  const cached = prefixCache();
  const server = createServer(async (req, res) => {
    const body = await bodyOf(req);
    if (req.method === 'GET') return sendJson(res, 200, { object: 'list', data: [{ id: 'oracle', object: 'model' }] });
    const isResponses = req.url?.endsWith('/responses') ?? false;
    const request = isResponses ? asChatRequest(JSON.parse(body)) : (JSON.parse(body) as ChatRequest);
    const fault = faults.get(partsOf(request.model).oracle)?.(body);
    if (fault !== undefined && fault !== 'early end') return fail(fault, res);
    const answer = answerTo(request, assignments);
    const input = { all: tokensOf(body), cached: cached(conversationOf(request), promptOf(body)) };
    const parts = partsToSend(request, answer, { isResponses, id: idOf(body), input });
    if (fault === 'early end') return endEarly(res, parts);
    res.writeHead(200, { 'Content-Type': request.stream === true ? 'text/event-stream' : 'application/json' });
    for (const part of parts) res.write(part);
    return res.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Writes an answer in the form that the client asked for. */
function partsToSend(
  { model, stream }: ChatRequest,
  answer: Answer,
  { isResponses, id, input }: { isResponses: boolean; id: string; input: InputTokens },
): string[] {
  if (isResponses) {
    const whole = response(model, id, answer, input);
    return stream === true ? responseEvents(whole) : [JSON.stringify(whole)];
  }
  const whole = chatCompletion(model, id, answer, input);
  return stream === true ? chatEvents(whole) : [JSON.stringify(whole)];
}

/** Returns what a policy says next in a conversation. */
export function answerTo(request: ChatRequest, assignments: Assignment[]): Answer {
  const { oracle, seed } = partsOf(request.model);
  const rates = oracles[oracle];
  const opening = request.messages.filter((m) => m.role !== 'assistant' && m.role !== 'tool').map(textOf);
  const assignment = assignments.find(({ task }) => opening.some((text) => text.includes(task.title)));
  const offered = new Set(request.tools?.map((tool) => tool.function.name));
  const isWorking = offered.has('finish') || offered.has('bash');
  if (rates === undefined || assignment === undefined || !isWorking)
    return { text: 'The change is made as the issue asks; nothing is left to do.', calls: [], isCut: false };
  // Deckhand's tools may have `bash` as another name for its shell.
  const dialect = offered.has('finish') ? deckhandTools(offered) : shellTools;
  const conversation = readConversation(request.messages, dialect);
  const action = nextAction(assignment, dialect, conversation, seed);
  const key = `${seed} ${assignment.task.id} ${conversation.turns}`;
  return answerOf(action, conversation, dialect, { rates, key });
}

/** Requests with the same opening and the same tools belong to one conversation. */
function conversationOf({ model, messages, tools = [] }: ChatRequest): string {
  return JSON.stringify([model, messages.slice(0, 2).map(textOf), tools.map((tool) => tool.function.name)]);
}

/** Servers put the tools before the messages, whatever their order in the request. */
function promptOf(body: string): string {
  const { tools, instructions, messages, input } = JSON.parse(body) as Record<string, unknown>;
  return JSON.stringify([tools, instructions, ...((messages ?? input) as unknown[])]);
}

const idOf = (body: string) => createHash('sha256').update(body).digest('hex').slice(0, 12);

function partsOf(model: string): { oracle: string; seed: string } {
  const [, oracle = '', seed = ''] = /^oracle-(\w+)-(.+)$/.exec(model) ?? [];
  return { oracle, seed };
}

async function bodyOf(req: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

function sendJson(res: ServerResponse, status: number, body: object, headers: Record<string, string> = {}): void {
  res.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body));
}

function fail(fault: ServerFault, res: ServerResponse): void {
  if (fault === 'reset') res.destroy();
  else if (fault === 'rate limit')
    sendJson(res, 429, { error: { message: 'Rate limit reached', type: 'requests' } }, { 'Retry-After': '1' });
  else sendJson(res, 500, { error: { message: 'The server had an error', type: 'server_error' } });
}

/** Sends half of an answer and closes the connection. */
function endEarly(res: ServerResponse, parts: string[]): void {
  const text = parts.join('');
  res.writeHead(200, { 'Content-Type': parts.length > 1 ? 'text/event-stream' : 'application/json' });
  res.write(text.slice(0, Math.floor(text.length / 2)), () => res.destroy());
}
