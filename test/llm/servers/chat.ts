import { type Answer, type Fields, Refused } from './serve.ts';

export interface Call extends Fields {
  id: string;
  type: string;
  function: { name: string; arguments: string };
}

export interface ChatMessage extends Fields {
  role: string;
  content?: unknown;
  tool_calls?: Call[];
  tool_call_id?: string;
}

/** Refuses a request with the error of a server. */
export type Refuse = (message: string, param?: string) => Refused;

/** The shape of OpenAI's errors, which most servers follow. */
export const openaiError: Refuse = (message, param) =>
  new Refused(400, { error: { message, type: 'invalid_request_error', param: param ?? null, code: null } });

export const messagesOf = (body: Fields) => body.messages as ChatMessage[];
export const toolsOf = (body: Fields) => (body.tools ?? []) as { type: string; function: Fields }[];

/**
 * Every call needs a result right after its message, and every result a call right before it. In the words of OpenAI:
 * https://platform.openai.com/docs/guides/function-calling, and https://github.com/langchain-ai/langchain/issues/9222
 */
export function checkPairing(messages: ChatMessage[], refuse: Refuse = openaiError): void {
  let open: string[] = [];
  for (const [i, message] of messages.entries()) {
    if (message.role === 'tool') {
      if (!open.includes(message.tool_call_id ?? ''))
        throw refuse(
          `Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.`,
          `messages.[${i}].role`,
        );
      open = open.filter((id) => id !== message.tool_call_id);
      continue;
    }
    failOnOpen(open, refuse);
    open = (message.tool_calls ?? []).map((call) => call.id);
    if (new Set(open).size < open.length || open.includes('')) throw refuse('Duplicate or empty tool call ids.');
  }
  failOnOpen(open, refuse);
}

function failOnOpen(open: string[], refuse: Refuse): void {
  if (open.length > 0)
    throw refuse(
      `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${open.join(', ')}`,
      'messages',
    );
}

/** Refuses fields that the server does not know. */
export function checkFields(body: Fields, known: string[], refuse: (name: string) => Refused): void {
  for (const name of Object.keys(body)) if (!known.includes(name)) throw refuse(name);
}

/** The fields of a request that OpenAI's Chat Completions API documents, as far as they matter here. */
export const openaiFields = [
  'model',
  'messages',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'reasoning_effort',
  'max_completion_tokens',
  'max_tokens',
  'stream',
  'stream_options',
  'store',
];

/** Several servers parse the arguments of earlier calls and fail when they are not JSON. */
export function checkArguments(messages: ChatMessage[], refuse: () => Refused): void {
  for (const { tool_calls = [] } of messages)
    for (const call of tool_calls) {
      const value = parsed(call.function.arguments);
      if (typeof value !== 'object' || value === null || Array.isArray(value)) throw refuse();
    }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export interface Said {
  message: ChatMessage;
  usage: Fields;
  /** What a server sends before the answer, such as comments. */
  before?: string[];
  /** Splits the message into the deltas of a stream in another way than the usual one. */
  deltas?: (message: ChatMessage) => Fields[];
}

/** Sends an answer as a whole or as a stream, as the request asks. */
export function chatAnswer(body: Fields, { message, usage, before = [], deltas = usualDeltas }: Said): Answer {
  const finish_reason = message.tool_calls === undefined ? 'stop' : 'tool_calls';
  const about = { id: 'chatcmpl-1', created: 1, model: body.model };
  if (body.stream !== true)
    return {
      json: {
        ...about,
        object: 'chat.completion',
        choices: [{ index: 0, message, finish_reason, logprobs: null }],
        usage,
      },
    };
  const chunk = (choices: object[], more: object = {}) => ({
    ...about,
    object: 'chat.completion.chunk',
    choices,
    ...more,
  });
  const hasUsage = (body.stream_options as Fields | undefined)?.include_usage === true;
  return {
    events: [
      ...before,
      ...deltas(message).map((delta) => chunk([{ index: 0, delta, finish_reason: null }])),
      chunk([{ index: 0, delta: {}, finish_reason }]),
      ...(hasUsage ? [chunk([], { usage })] : []),
      'data: [DONE]',
    ],
  };
}

/** Splits texts into words and arguments into pieces; other fields come whole. */
export function usualDeltas({ role, content, tool_calls = [], ...extra }: ChatMessage): Fields[] {
  const pieces = (text: string) => text.match(/\S+\s*|\s+/g) ?? [''];
  return [
    { role, content: '' },
    ...Object.entries(extra).flatMap(([name, value]) =>
      typeof value === 'string' ? pieces(value).map((piece) => ({ [name]: piece })) : [{ [name]: value }],
    ),
    ...(typeof content === 'string' && content !== '' ? pieces(content).map((piece) => ({ content: piece })) : []),
    ...tool_calls.flatMap(({ function: { name, arguments: args }, ...call }, index) => [
      { tool_calls: [{ index, ...call, function: { name, arguments: '' } }] },
      ...(args.match(/[\s\S]{1,5}/g) ?? []).map((piece) => ({
        tool_calls: [{ index, function: { arguments: piece } }],
      })),
    ]),
  ];
}
