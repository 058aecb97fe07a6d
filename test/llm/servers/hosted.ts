import {
  type ChatMessage,
  chatAnswer,
  checkFields,
  checkPairing,
  messagesOf,
  openaiError,
  openaiFields,
  type Refuse,
  usualDeltas,
} from './chat.ts';
import { nextMessage, usageOf } from './sample.ts';
import { type Answer, type Fields, Refused } from './serve.ts';

// Servers of model providers, with their Chat Completions.

const turnOf = (body: Fields) => messagesOf(body).filter((m) => m.role === 'assistant').length;
const hasCalls = (message: ChatMessage) => (message.tool_calls?.length ?? 0) > 0;

function usage(turn: number) {
  const { input, output, cached } = usageOf(turn);
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cached },
  };
}

/**
 * OpenRouter. The details of the reasoning come back exactly as they were sent, with their signatures.
 * https://openrouter.ai/docs/use-cases/reasoning-tokens ("Preserving reasoning"). Comments keep the connection open.
 */
export function openrouter(body: Fields): Answer {
  const messages = messagesOf(body);
  checkPairing(messages);
  const detailsOf = (turn: number) => [
    {
      type: 'reasoning.text',
      text: `I think about step ${turn}.`,
      signature: `signed-${turn}`,
      format: 'anthropic-claude-v1',
      index: 0,
    },
    { type: 'reasoning.encrypted', data: `sealed-${turn}`, id: `rs_${turn}`, format: 'anthropic-claude-v1', index: 1 },
  ];
  for (const [turn, message] of messages.filter((m) => m.role === 'assistant').entries())
    if (
      hasCalls(message) &&
      JSON.stringify(sorted(message.reasoning_details)) !== JSON.stringify(sorted(detailsOf(turn)))
    )
      throw new Refused(400, {
        error: {
          message: 'Provider returned error',
          code: 400,
          metadata: {
            raw: '{"type":"error","error":{"type":"invalid_request_error","message":"messages.1.content.0: Invalid `signature` in `thinking` block"}}',
            provider_name: 'Anthropic',
          },
        },
      });
  const turn = turnOf(body);
  const message = {
    ...nextMessage(body),
    reasoning: `I think about step ${turn}.`,
    refusal: null,
    reasoning_details: detailsOf(turn),
  };
  return chatAnswer(body, {
    message,
    usage: usage(turn),
    before: [': OPENROUTER PROCESSING'],
    deltas: openrouterDeltas,
  });
}

/** The text of the reasoning comes in pieces, and its signature after it. */
function openrouterDeltas({ reasoning_details, ...message }: ChatMessage): Fields[] {
  const [text, sealed] = reasoning_details as Fields[];
  const { signature, ...open } = text as { signature: string; text: string };
  const pieces = open.text.split(/(?<= )/).map((each) => ({ ...open, text: each }));
  const { type, index, format } = text as Fields;
  return [
    ...pieces.map((each) => ({ content: '', reasoning: each.text, reasoning_details: [each] })),
    { content: '', reasoning_details: [{ type, index, format, signature }] },
    { content: '', reasoning_details: [sealed] },
    ...usualDeltas({ ...message, reasoning: undefined }).filter((delta) => !('reasoning' in delta)),
  ];
}

/** Returns a value with its keys sorted, because their order has no meaning. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort()
      .map(([name, each]) => [name, sorted(each)]),
  );
}

/**
 * DeepSeek while it thinks: turns with calls bring their `reasoning_content` back, even when it is empty.
 * https://api-docs.deepseek.com/guides/thinking_mode#tool-calls, https://github.com/anomalyco/opencode/issues/24722,
 * https://github.com/deepseek-ai/deepseek-harness/discussions/739. It accepts no forced call.
 */
export function deepseek(body: Fields): Answer {
  const messages = messagesOf(body);
  const refuse: Refuse = (message) =>
    new Refused(400, { error: { message, type: 'invalid_request_error', param: null, code: 'invalid_request_error' } });
  checkPairing(messages, refuse);
  if (typeof body.tool_choice === 'object') throw refuse('deepseek-reasoner does not support this tool_choice');
  const thoughts = ['I multiply first.', '', 'Done.'];
  for (const [turn, message] of messages.filter((m) => m.role === 'assistant').entries())
    if (hasCalls(message) && message.reasoning_content !== thoughts[turn])
      throw refuse('The `reasoning_content` in the thinking mode must be passed back to the API.');
  const turn = turnOf(body);
  const { input, output, cached } = usageOf(turn);
  const message = { ...nextMessage(body), reasoning_content: thoughts[turn] ?? '' };
  return chatAnswer(body, {
    message,
    // https://api-docs.deepseek.com/guides/kv_cache
    usage: {
      prompt_tokens: input,
      completion_tokens: output,
      total_tokens: input + output,
      prompt_cache_hit_tokens: cached,
      prompt_cache_miss_tokens: input - cached,
    },
  });
}

/**
 * Gemini's OpenAI compatibility. Errors come as a list; fields that it does not know are refused; the first call of a
 * turn brings its thought signature back; streamed calls come whole, all with the index 0.
 * https://ai.google.dev/gemini-api/docs/thought-signatures, https://ai.google.dev/gemini-api/docs/openai,
 * https://github.com/securo-finance/securo/issues/884, https://github.com/earendil-works/pi/issues/6733
 */
export function gemini(body: Fields): Answer {
  const refuse: Refuse = (message) => new Refused(400, [{ error: { code: 400, message, status: 'INVALID_ARGUMENT' } }]);
  checkFields(body, [...openaiFields.filter((name) => name !== 'store')], (name) =>
    refuse(`Invalid JSON payload received. Unknown name "${name}": Cannot find field.`),
  );
  const messages = messagesOf(body);
  checkPairing(messages, refuse);
  for (const [i, { tool_calls: [first] = [] }] of messages.entries()) {
    const google = (first?.extra_content as { google?: { thought_signature?: string } } | undefined)?.google;
    if (first !== undefined && google?.thought_signature !== `thought-${first.id}`)
      throw refuse(
        `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call \`default_api:${first.function.name}\` , position ${i}. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.`,
      );
  }
  const message = nextMessage(body);
  const [first] = message.tool_calls ?? [];
  if (first !== undefined) first.extra_content = { google: { thought_signature: `thought-${first.id}` } };
  const deltas = ({ tool_calls = [], ...rest }: ChatMessage) => [
    ...usualDeltas(rest),
    ...tool_calls.map((call) => ({ role: 'assistant', tool_calls: [{ index: 0, ...call }] })),
  ];
  return chatAnswer(body, { message, usage: usage(turnOf(body)), deltas });
}

/**
 * Anthropic's OpenAI compatibility. It ignores what it does not know, returns no reasoning, and passes its own rules for
 * messages on: results directly after their calls, and no empty text.
 * https://docs.anthropic.com/en/api/openai-sdk, https://github.com/anthropics/claude-code/issues/8210
 */
export function anthropic(body: Fields): Answer {
  const refuse: Refuse = (message) =>
    new Refused(400, { error: { code: 'invalid_request_error', message, type: 'invalid_request_error', param: null } });
  const messages = messagesOf(body);
  for (const [i, message] of messages.entries()) {
    const { role, content } = message;
    if (content === '' || (content == null && !hasCalls(message)))
      throw refuse(
        `messages.${i}: all messages must have non-empty content except for the optional final assistant message`,
      );
    if (role !== 'assistant') continue;
    const ids = (message.tool_calls ?? []).map((call) => call.id);
    const after = messages.slice(i + 1, i + 1 + ids.length);
    const missing = ids.filter((id) => !after.some((m) => m.role === 'tool' && m.tool_call_id === id));
    if (missing.length > 0)
      throw refuse(
        `messages.${i}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing.join(', ')}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
      );
    if (ids.some((id) => !/^[a-zA-Z0-9_-]+$/.test(id)))
      throw refuse(`messages.${i}.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`);
  }
  checkPairing(messages, refuse);
  const { input, output } = usageOf(turnOf(body));
  return chatAnswer(body, {
    message: nextMessage(body),
    usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output },
  });
}

/**
 * Mistral: reasoning comes in parts of the content, and unknown fields are refused in FastAPI's form.
 * https://docs.mistral.ai/capabilities/reasoning, https://github.com/continuedev/continue/issues/5690
 */
export function mistral(body: Fields): Answer {
  const known = openaiFields.filter((name) => !['max_completion_tokens', 'store', 'stream_options'].includes(name));
  checkFields(
    body,
    known,
    (name) =>
      new Refused(422, {
        object: 'error',
        message: {
          detail: [{ type: 'extra_forbidden', loc: ['body', name], msg: 'Extra inputs are not permitted', input: 1 }],
        },
        type: 'invalid_request_error',
        param: null,
        code: null,
      }),
  );
  checkPairing(messagesOf(body), openaiError);
  const turn = turnOf(body);
  const plain = nextMessage(body);
  const thinking = { type: 'thinking', thinking: [{ type: 'text', text: `step ${turn}` }] };
  for (const message of messagesOf(body).filter((m) => m.role === 'assistant'))
    if (!Array.isArray(message.content) || (message.content[0] as Fields).type !== 'thinking')
      throw openaiError('Expected the thinking chunk of the earlier answer.');
  const content = [thinking, ...(plain.content == null ? [] : [{ type: 'text', text: plain.content }])];
  // The last chunk always has the usage.
  return chatAnswer(
    { ...body, stream_options: { include_usage: true } },
    {
      message: { ...plain, content },
      usage: usage(turn),
      deltas: (message) => [
        { role: 'assistant', content: [thinking] },
        ...usualDeltas({ ...message, content: plain.content }),
      ],
    },
  );
}
