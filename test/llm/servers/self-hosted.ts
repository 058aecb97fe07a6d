import {
  type ChatMessage,
  chatAnswer,
  checkArguments,
  checkPairing,
  messagesOf,
  type Refuse,
  toolsOf,
} from './chat.ts';
import { nextMessage, usageOf } from './sample.ts';
import { type Answer, type Fields, Refused } from './serve.ts';

// Servers that people run themselves.

const turnOf = (body: Fields) => messagesOf(body).filter((m) => m.role === 'assistant').length;

function usage(turn: number) {
  const { input, output, cached } = usageOf(turn);
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cached },
  };
}

/** How many tokens fit into vLLM and llama.cpp here; a character counts as a token. */
const window = 20_000;
const lengthOf = (body: Fields) => JSON.stringify(body.messages).length;

/**
 * vLLM. It ignores unknown fields, parses the arguments of earlier calls, sends reasoning as a field of its own with many
 * empty ones, and refuses an answer length that leaves no room.
 * https://docs.vllm.ai/en/latest/features/reasoning_outputs.html, https://github.com/vllm-project/vllm/issues/42474
 */
export function vllm(body: Fields): Answer {
  const refuse: Refuse = (message) =>
    new Refused(400, { error: { message, type: 'BadRequestError', param: null, code: 400 } });
  const messages = messagesOf(body);
  const limit = Number(body.max_completion_tokens ?? body.max_tokens ?? 1);
  if (lengthOf(body) + limit > window)
    throw refuse(
      `This model's maximum context length is ${window} tokens. However, you requested ${limit} output tokens and your prompt contains at least ${window + 1 - limit} input tokens, for a total of at least ${window + 1} tokens. Please reduce the length of the input prompt or the number of requested output tokens.`,
    );
  checkPairing(messages, refuse);
  checkArguments(messages, () => refuse("Expecting ',' delimiter: line 1 column 12 (char 11)"));
  const turn = turnOf(body);
  const empty = { refusal: null, annotations: null, audio: null, function_call: null };
  return chatAnswer(body, {
    message: { ...nextMessage(body), ...empty, reasoning_content: `step ${turn}` },
    usage: usage(turn),
  });
}

/**
 * llama.cpp's server. An answer needs text or calls, arguments must be JSON, and the size of the context is stated.
 * https://github.com/ggml-org/llama.cpp/pull/15780, tools/server/README.md, common/chat.cpp
 */
export function llamaCpp(body: Fields): Answer {
  const refuse = (code: number, message: string, type = 'invalid_request_error', more = {}) =>
    new Refused(code, { error: { code, message, type, ...more } });
  const length = lengthOf(body);
  if (length > window)
    throw refuse(
      400,
      `request (${length} tokens) exceeds the available context size (${window} tokens), try increasing it`,
      'exceed_context_size_error',
      { n_prompt_tokens: length, n_ctx: window },
    );
  const messages = messagesOf(body);
  for (const { role, content, tool_calls } of messages)
    if (role === 'assistant' && content == null && tool_calls === undefined)
      throw refuse(400, "Assistant message must contain either 'content' or 'tool_calls'!");
  checkPairing(messages, (message) => refuse(400, message));
  checkArguments(messages, () => refuse(500, 'Failed to parse tool call arguments as JSON', 'server_error'));
  const turn = turnOf(body);
  const { input, output } = usageOf(turn);
  return chatAnswer(body, {
    message: { ...nextMessage(body), reasoning_content: `step ${turn}` },
    usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output },
  });
}

/**
 * Ollama. It cuts long conversations silently, parses arguments, and some models cannot use tools.
 * https://github.com/ollama/ollama/issues/6027, /15647, /18107
 */
export function ollama(body: Fields): Answer {
  const refuse: Refuse = (message) =>
    new Refused(400, { error: { message, type: 'invalid_request_error', param: null, code: null } });
  if (body.model === 'gemma' && toolsOf(body).length > 0)
    throw refuse('registry.ollama.ai/library/gemma:latest does not support tools');
  const messages = messagesOf(body);
  checkPairing(messages, refuse);
  checkArguments(messages, () => refuse('invalid tool call arguments'));
  const turn = turnOf(body);
  const { input, output } = usageOf(turn);
  return chatAnswer(body, {
    message: { ...withIndex(nextMessage(body)), reasoning: `step ${turn}` },
    usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output },
  });
}

/** Ollama numbers the calls in whole answers too. */
function withIndex(message: ChatMessage): ChatMessage {
  const { tool_calls } = message;
  return tool_calls === undefined
    ? message
    : { ...message, tool_calls: tool_calls.map((call, index) => ({ ...call, index })) };
}

/**
 * LiteLLM's proxy in front of a model of Anthropic. It refuses parameters that the model lacks unless `drop_params` is
 * set, wraps the errors of the provider, and sends thinking blocks with signatures that have to come back.
 * https://docs.litellm.ai/docs/reasoning_content, https://docs.litellm.ai/docs/completion/drop_params
 */
export function litellm(body: Fields): Answer {
  const refuse: Refuse = (message) => new Refused(400, { error: { message, type: null, param: null, code: '400' } });
  if (body.reasoning_effort !== undefined)
    throw refuse(
      "litellm.UnsupportedParamsError: anthropic does not support parameters: ['reasoning_effort'], for model=claude. To drop these, set `litellm.drop_params=True` or for proxy: `litellm_settings: drop_params: true`. Received Model Group=claude",
    );
  const messages = messagesOf(body);
  checkPairing(messages, refuse);
  const blocks = (turn: number) => [{ type: 'thinking', thinking: `step ${turn}`, signature: `signed-${turn}` }];
  for (const [turn, message] of messages.filter((m) => m.role === 'assistant').entries())
    if (JSON.stringify(message.thinking_blocks) !== JSON.stringify(blocks(turn)))
      throw refuse(
        'litellm.BadRequestError: AnthropicException - {"type":"error","error":{"type":"invalid_request_error","message":"messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`."}}. Received Model Group=claude',
      );
  const turn = turnOf(body);
  return chatAnswer(body, {
    message: {
      ...nextMessage(body),
      reasoning_content: `step ${turn}`,
      thinking_blocks: blocks(turn),
      provider_specific_fields: null,
    },
    usage: usage(turn),
  });
}

/**
 * A server before 2024 that knows `max_tokens` only, cannot report usage in streams, and answers JSON where it cannot
 * stream.
 */
export function old(body: Fields): Answer {
  for (const name of ['max_completion_tokens', 'reasoning_effort', 'stream_options'])
    if (name in body) throw new Refused(400, { error: `Unrecognized request argument supplied: ${name}` });
  checkPairing(messagesOf(body));
  return chatAnswer({ ...body, stream: false }, { message: nextMessage(body), usage: usage(turnOf(body)) });
}
