import { error, openServer } from './refusing.ts';

let server: Awaited<ReturnType<typeof openServer>>;
beforeAll(async () => {
  server = await openServer();
});
afterAll(() => server.close());

/** Each in the server's own words; the numbers are the windows that can be learned from them. */
const tooLong: [string, number, unknown, number | undefined][] = [
  // https://github.com/webtimemachine/wtm2/issues/579
  [
    'OpenAI, Chat',
    400,
    error(
      "This model's maximum context length is 128000 tokens. However, your messages resulted in 204308 tokens. Please reduce the length of the messages.",
      { code: 'context_length_exceeded' },
    ),
    128_000,
  ],
  // https://community.openai.com/t/your-input-exceeds-the-context-window/1309651
  [
    'OpenAI, Responses',
    400,
    error('Your input exceeds the context window of this model. Please adjust your input and try again.', {
      param: 'input',
      code: 'context_length_exceeded',
    }),
    undefined,
  ],
  // https://github.com/BerriAI/litellm/issues/18927
  [
    'OpenAI, GPT-5',
    400,
    error(
      'Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300000 tokens. Please reduce the length of the messages.',
      { code: 'context_length_exceeded' },
    ),
    272_000,
  ],
  [
    'OpenAI, a request over the limit of a minute',
    429,
    error(
      'Request too large for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Requested 40521. The input or output tokens must be reduced in order to run successfully.',
      { type: 'tokens', code: 'rate_limit_exceeded' },
    ),
    // A limit of the account, not the model's window.
    undefined,
  ],
  [
    'Azure',
    400,
    {
      error: {
        code: 'context_length_exceeded',
        message:
          "This model's maximum context length is 16385 tokens. However, you requested 17000 tokens (16000 in the messages, 1000 in the completion). Please reduce the length of the messages or completion.",
      },
    },
    16_385,
  ],
  // https://github.com/ogx-ai/ogx/issues/4534: before 0.10 without the wrapping "error"
  [
    'vLLM, old',
    400,
    {
      object: 'error',
      message:
        "This model's maximum context length is 6048 tokens. However, you requested 6616 tokens (568 in the messages, 6048 in the completion). Please reduce the length of the messages or completion.",
      type: 'BadRequestError',
      param: null,
      code: 400,
    },
    6048,
  ],
  [
    'vLLM, a prompt over the window',
    400,
    error(
      'The decoder prompt (length 5000) is longer than the maximum model length of 4096. Make sure that `max_model_len` is no smaller than the number of text tokens.',
    ),
    4096,
  ],
  // https://github.com/BerriAI/litellm/issues/10793
  ['SGLang', 400, error("The input (40000 tokens) is longer than the model's context length (32768 tokens)."), 32_768],
  // https://github.com/ggml-org/llama.cpp/pull/15780
  [
    'llama.cpp',
    400,
    {
      error: {
        code: 400,
        message: 'the request exceeds the available context size, try increasing it',
        type: 'exceed_context_size_error',
        n_prompt_tokens: 14429,
        n_ctx: 8192,
      },
    },
    8192,
  ],
  [
    'llama.cpp, older',
    500,
    {
      error: {
        code: 500,
        message:
          'the request exceeds the available context size. try increasing the context size or enable context shift',
        type: 'exceed_context_size_error',
        n_prompt_tokens: 1407,
        n_ctx: 256,
      },
    },
    256,
  ],
  ['Ollama', 400, error('the input length exceeds the context length'), undefined],
  // https://github.com/ollama/ollama/issues/18107: it has cut the conversation until no message of the user was left
  ['Ollama, after cutting', 500, error('no user query found in messages', { type: 'api_error' }), undefined],
  // https://github.com/Aider-AI/aider/issues/3721
  [
    'OpenRouter',
    400,
    {
      error: {
        message:
          'This endpoint\'s maximum context length is 131072 tokens. However, you requested about 141607 tokens (141607 of text input). Please reduce the length of either one, or use the "middle-out" transform to compress your prompt automatically.',
        code: 400,
        metadata: { provider_name: 'Chutes' },
      },
    },
    131_072,
  ],
  [
    'OpenRouter, quoting its provider',
    400,
    {
      error: {
        message: 'Provider returned error',
        code: 400,
        metadata: {
          raw: '{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 209303 tokens > 200000 maximum"}}',
          provider_name: 'Anthropic',
        },
      },
    },
    200_000,
  ],
  // https://github.com/OpenHands/OpenHands/issues/5350
  [
    'LiteLLM',
    400,
    {
      error: {
        message:
          'litellm.ContextWindowExceededError: litellm.BadRequestError: AnthropicError - {"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 209303 tokens > 200000 maximum"}}',
        type: null,
        param: null,
        code: '400',
      },
    },
    200_000,
  ],
  ['Anthropic', 400, error('prompt is too long: 209303 tokens > 200000 maximum'), 200_000],
  [
    'Anthropic, with the answer',
    400,
    error(
      'input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens` and try again',
    ),
    200_000,
  ],
  [
    'Anthropic, bytes',
    413,
    { error: { type: 'request_too_large', message: 'Request exceeds the maximum size' } },
    undefined,
  ],
  // https://github.com/google-gemini/gemini-cli/issues/6678
  [
    'Gemini',
    400,
    [
      {
        error: {
          code: 400,
          message: 'The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).',
          status: 'INVALID_ARGUMENT',
        },
      },
    ],
    1_048_576,
  ],
  [
    'DeepSeek',
    400,
    error(
      "This model's maximum context length is 65536 tokens. However, you requested 70000 tokens (70000 in the messages, 0 in the completion). Please reduce the length of the messages or completion.",
    ),
    65_536,
  ],
  [
    'Mistral',
    400,
    {
      object: 'error',
      message: 'Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length',
      type: 'invalid_request_error',
      code: 3051,
    },
    32_768,
  ],
  [
    'xAI',
    400,
    {
      code: 'Client specified an invalid argument',
      error: "This model's maximum prompt length is 131072 but the request contains 142158 tokens.",
    },
    131_072,
  ],
  [
    'TGI',
    422,
    { error: 'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000' },
    4096,
  ],
  ['DashScope', 400, error('Range of input length should be [1, 30720]'), 30_720],
  ['SGLang, an older one', 400, error('The input is longer than the model context length (4096 tokens).'), 4096],
  ['a fork of vLLM', 400, error('prompt tokens exceed max_model_len 4096'), 4096],
  ['a gateway', 400, error('Input length 5000 exceeds maximum allowed token size 4096'), 4096],
  ['another gateway', 400, error('total tokens must be less than or equal to 4081'), 4081],
  ['LM Studio, a newer one', 400, error('Context overflow: 9000 > 4096'), 4096],
  ['llama.cpp, an older one', 500, error('the request exceeds the context size, n_ctx = 4096'), 4096],
  ['Bedrock', 400, error('Input is too long.'), undefined],
];

test.each(tooLong)('too long in the words of %s', async (_who, status, json, window) => {
  for (const api of ['chat', 'responses'] as const) {
    const model = server.modelAt(api);
    const failure = await server.failureOf({ status, json }, {}, model);
    expect([failure.fault, failure.isTransient, model.window()]).toEqual(['context', false, window]);
    expect(failure.message).toMatch(/^the conversation is longer than the model accepts; use a model with a larger/);
  }
});
