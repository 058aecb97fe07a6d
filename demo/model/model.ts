import { createServer, type Server, type ServerResponse } from 'node:http';

interface Turn {
  name: string;
  arguments: object;
}

/** A failing response: an error status, a connection that breaks after the body, or any body that a test chooses. */
export interface Fault {
  status?: number;
  headers?: Record<string, string>;
  body?: string;
  isReset?: boolean;
}

/** One answer of the scripted model: tool calls, text, or a failure. */
export type Said = Turn[] | string | Fault;

export interface ModelRequest {
  model: string;
  messages: { role: string; content: unknown }[];
  tools?: { function: { name: string } }[];
  /** The function that the model must call. */
  tool_choice?: { function: { name: string } };
  stream?: boolean;
}

/** Returns whether the request offers this tool. */
export const offers = (request: ModelRequest, tool: string) =>
  request.tools?.some((t) => t.function.name === tool) ?? false;

/** Returns the first user message, in which the service says what the conversation is about. */
export function textOf({ messages }: ModelRequest): string {
  const content = messages.find((m) => m.role === 'user')?.content ?? '';
  if (!Array.isArray(content)) return String(content);
  return content.map((part: { text?: string }) => part.text ?? '').join('');
}

/** The answers in order, one per turn, or a function that answers a request. */
export type Script = Said[] | ((request: ModelRequest, turn: number) => Said);

export interface ScriptedModel {
  url: string;
  /** The bodies of all requests so far. */
  requests: ModelRequest[];
  close(): Promise<void>;
}

/**
 * Starts an OpenAI-compatible server that plays a script. It counts the turns in the conversation it receives, so a run
 * that another worker continues gets the right answer. `before` is called before each answer and may delay it.
 */
export async function startModel(
  script: Script,
  before: (turn: number, request: ModelRequest) => Promise<void> = async () => {},
): Promise<ScriptedModel> {
  const requests: ScriptedModel['requests'] = [];
  const server = createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    res.setHeader('Content-Type', 'application/json');
    if (req.url?.endsWith('/models'))
      return res.end(JSON.stringify({ object: 'list', data: [{ id: 'scripted', object: 'model' }] }));
    const request = JSON.parse(Buffer.concat(chunks).toString('utf8')) as ModelRequest;
    requests.push(request);
    const turn = request.messages.filter((m) => m.role === 'assistant').length;
    await before(turn, request);
    const offered = new Set(request.tools?.map((t) => t.function.name));
    const said =
      typeof script === 'function' ? script(request, turn) : (script[Math.min(turn, script.length - 1)] ?? 'Done.');
    if (typeof said === 'object' && !Array.isArray(said)) return goWrong(said, res);
    const whole = completion(request.model, turn, said, offered);
    if (request.stream !== true) return res.end(JSON.stringify(whole));
    res.setHeader('Content-Type', 'text/event-stream');
    for (const chunk of chunksOf(whole)) res.write(`data: ${JSON.stringify(chunk)}\n\n`);
    res.end('data: [DONE]\n\n');
  });
  const port = await listening(server);
  return {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function goWrong(
  {
    status = 200,
    headers = {},
    isReset,
    body = isReset ? '{"choices"' : '{"error":{"message":"made to fail"}}',
  }: Fault,
  res: ServerResponse,
) {
  res.writeHead(status, headers);
  if (!isReset) return res.end(body);
  res.write(body, () => setImmediate(() => res.destroy()));
}

function completion(model: string, turn: number, said: Turn[] | string, offered: Set<string>) {
  // Without a shell, the script lists files instead of running a command.
  const isMissing = (call: Turn) => call.name === 'run_command' && !offered.has(call.name);
  const calls =
    typeof said === 'string'
      ? []
      : said.map((call) => (isMissing(call) ? { name: 'list_files', arguments: {} } : call));
  const tool_calls = calls.map((call, i) => ({
    id: `call_${turn}_${i}`,
    type: 'function',
    function: { name: call.name, arguments: JSON.stringify(call.arguments) },
  }));
  return {
    id: `chatcmpl-${turn}`,
    object: 'chat.completion',
    created: 0,
    model,
    choices: [
      {
        index: 0,
        finish_reason: calls.length > 0 ? 'tool_calls' : 'stop',
        message: {
          role: 'assistant',
          content: typeof said === 'string' ? said : null,
          ...(calls.length > 0 ? { tool_calls } : {}),
        },
      },
    ],
    usage: { prompt_tokens: 800 + 150 * turn, completion_tokens: 60, total_tokens: 860 + 150 * turn },
  };
}

/** Splits the same answer into the chunks of a stream. */
function chunksOf({ choices: [choice], usage, ...rest }: ReturnType<typeof completion>) {
  const chunk = (delta: object, finish: string | null = null) => ({
    ...rest,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  const { content, tool_calls } = choice?.message ?? { content: '' };
  const words = (content ?? '').match(/\S+\s*/g) ?? [];
  return [
    chunk({ role: 'assistant', content: '' }),
    ...words.map((word) => chunk({ content: word })),
    ...(tool_calls ?? []).map((call, index) => chunk({ tool_calls: [{ index, ...call }] })),
    chunk({}, choice?.finish_reason ?? 'stop'),
    { ...rest, object: 'chat.completion.chunk', choices: [], usage },
  ];
}

function listening(server: Server): Promise<number> {
  return new Promise((resolve) =>
    server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port)),
  );
}
