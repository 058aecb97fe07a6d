import type { ModelFailed } from '../../src/llm/model.ts';
import { ask, key, modelsAt } from './models.ts';
import { error, openServer } from './refusing.ts';
import type { Answer } from './servers/serve.ts';

let server: Awaited<ReturnType<typeof openServer>>;
beforeAll(async () => {
  server = await openServer();
});
afterAll(() => server.close());

const other: [string, Answer, string, boolean, RegExp][] = [
  [
    'a wrong key',
    { status: 401, json: error(`Incorrect API key provided: ${key}.`, { code: 'invalid_api_key' }) },
    'auth',
    false,
    /refused the key \(HTTP 401\); set a key .*OPENAI_API_KEY.* The server said: Incorrect API key provided: \*\*\*\.$/,
  ],
  // OpenAI sends it with 429; https://platform.openai.com/docs/guides/error-codes
  [
    'a used-up quota',
    {
      status: 429,
      json: error('You exceeded your current quota, please check your plan and billing details.', {
        type: 'insufficient_quota',
        code: 'insufficient_quota',
      }),
    },
    'rate_limit',
    false,
    /no credit or quota left \(HTTP 429\); add credit/,
  ],
  // https://api-docs.deepseek.com/quick_start/error_codes
  ['an empty balance', { status: 402, json: error('Insufficient Balance') }, 'rate_limit', false, /add credit/],
  [
    'a pause that is too long to wait for',
    { status: 429, headers: { 'retry-after': '120' }, json: error('Rate limit reached') },
    'rate_limit',
    true,
    /limits the rate \(HTTP 429\); try again later/,
  ],
  [
    'a pause in words',
    {
      status: 429,
      json: [
        {
          error: {
            code: 429,
            message: 'You exceeded your current quota. Please retry in 34.5s.',
            status: 'RESOURCE_EXHAUSTED',
          },
        },
      ],
    },
    'rate_limit',
    true,
    /limits the rate/,
  ],
  [
    'Azure, a filter',
    {
      status: 400,
      json: error("The response was filtered due to the prompt triggering Azure OpenAI's content management policy.", {
        code: 'content_filter',
      }),
    },
    'model',
    false,
    /content filter refused the request; describe the task differently/,
  ],
  [
    'Ollama, no tools',
    { status: 400, json: error('registry.ollama.ai/library/gemma:latest does not support tools') },
    'model',
    false,
    /cannot use tools; use a model that can/,
  ],
  [
    'vLLM, no tools',
    {
      status: 400,
      json: error('"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'),
    },
    'model',
    false,
    /or enable tools at the server/,
  ],
  [
    'OpenRouter, no tools',
    { status: 404, json: { error: { message: 'No endpoints found that support tool use.', code: 404 } } },
    'model',
    false,
    /cannot use tools/,
  ],
  [
    'llama.cpp, no tools',
    { status: 500, json: error('tools param requires --jinja flag') },
    'model',
    false,
    /cannot use tools; use a model that can, or enable tools at the server/,
  ],
  [
    'Gemini, a wrong key',
    { status: 400, json: [{ error: { code: 400, message: 'API key not valid. Please pass a valid API key.' } }] },
    'auth',
    false,
    /refused the key \(HTTP 400\); set a key/,
  ],
  [
    'a redirect to another host',
    { status: 308, headers: { location: 'https://example.org/v1/chat/completions' }, json: '' },
    'model',
    false,
    /redirects to another host; check OPENAI_BASE_URL$/,
  ],
  [
    'an unknown model',
    { status: 404, json: error('The model `m` does not exist', { code: 'model_not_found' }) },
    'model',
    false,
    /^the model m is not offered by 127\.0\.0\.1:\d+; change OPENAI_MODEL or the agent's model \(HTTP 404\)/,
  ],
  [
    'an unknown address',
    { status: 404, json: error('Not Found') },
    'model',
    false,
    /check OPENAI_MODEL or the agent's model, and OPENAI_BASE_URL \(HTTP 404\)/,
  ],
  [
    'the other API',
    { status: 400, json: error('This model is only supported in v1/responses and not in v1/chat/completions.') },
    'model',
    false,
    /cannot be used through the Chat Completions API; set OPENAI_API to auto or responses/,
  ],
  [
    'a firewall',
    {
      status: 403,
      headers: { 'content-type': 'text/html' },
      json: '<!DOCTYPE html><html><head><title>Attention Required!</title></head><body>Blocked</body></html>',
    },
    'model',
    false,
    /^a web page refused the request in place of the model server; check OPENAI_BASE_URL, and the rules of a proxy.* \(HTTP 403\)\. The server said: Attention Required! Blocked$/,
  ],
  [
    'a proxy whose server is away',
    {
      status: 502,
      headers: { 'content-type': 'text/html', 'retry-after': '60' },
      json: '<html>\r\n<head><title>502 Bad Gateway</title></head></html>',
    },
    'model',
    true,
    /^the model server answered with HTTP 502; try again later, or look at its log\. The server said: 502 Bad Gateway$/,
  ],
  [
    'a proxy that limits the size',
    {
      status: 413,
      headers: { 'content-type': 'text/html' },
      json: '<html>\r\n<head><title>413 Request Entity Too Large</title></head></html>',
    },
    'context',
    false,
    /^the conversation is larger than the model server or a proxy before it accepts \(HTTP 413\); raise the size of requests there, or make the task smaller\. The server said: 413/,
  ],
  [
    'plain text',
    { status: 400, json: '<html><head><title>400</title></head><body>Bad\r\n request</body></html>' },
    'model',
    false,
    /HTTP 400.*The server said: 400 Bad request$/,
  ],
  [
    'nothing at all',
    { status: 418, json: '' },
    'model',
    false,
    /^the model server refused the request; use another model, or check OPENAI_BASE_URL and OPENAI_API \(HTTP 418\)$/,
  ],
];

test.each(
  other,
)('%s ends in a sentence that says what to change', async (_what, answer, fault, isTransient, sentence) => {
  const failure = await server.failureOf(answer);
  expect([failure.fault, failure.isTransient]).toEqual([fault, isTransient]);
  expect(failure.message).toMatch(sentence);
});

test('a pause that the server asks for is passed on, in seconds, milliseconds or words', async () => {
  const pause = async (headers: Record<string, string>, said = 'slow down') =>
    (await server.failureOf({ status: 429, headers, json: error(said) })).retryAfterMs;
  expect(await pause({ 'retry-after': '90' })).toBe(90_000);
  expect(await pause({ 'retry-after-ms': '61000', 'retry-after': '90' })).toBe(61_000);
  expect(await pause({}, 'Rate limit reached. Please try again in 1m.')).toBe(60_000);
  expect(await pause({}, 'Please try again in 7m12.5s. Visit example.org')).toBe(432_500);
  expect(await pause({}, 'Try again in 5 minutes.')).toBe(300_000);
});

test.each([
  [{ code: 1, message: 'invalid token' }, 'invalid token'],
  [{ detail: 'Not authenticated' }, 'Not authenticated'],
  [{ success: false, errors: [{ message: 'no such account' }] }, 'no such account'],
])('an error with status 200 is shown: %j', async (json, said) => {
  const failure = await server.failureOf({ json });
  expect([failure.fault, failure.isTransient]).toEqual(['model', false]);
  expect(failure.message).toMatch(
    new RegExp(`is not a Chat Completion: .*; check OPENAI_BASE_URL and OPENAI_API. The server said: ${said}$`),
  );
});

test('a failure that outlasts the retries is transient, and a key in it is removed', async () => {
  let count = 0;
  server.behave(() => {
    count += 1;
    return { status: 503, headers: { 'retry-after': '0.01' }, json: error(`overloaded, ${key}`) };
  });
  const failure = (await ask(server.modelAt()).catch((e) => e)) as ModelFailed;
  expect([count, failure.fault, failure.isTransient, failure.retryAfterMs]).toEqual([5, 'model', true, 10]);
  expect(failure.message).toMatch(/HTTP 503; try again later.* The server said: overloaded, \*\*\*$/);
});

test("a server's message is at most 500 characters in one line", async () => {
  const { message } = await server.failureOf({ status: 400, json: error(`a\n\t\u0007b ${'x'.repeat(9000)}`) });
  const [, said] = message.split(' The server said: ');
  expect(said).toMatch(/^a b x+$/);
  expect(said).toHaveLength(500);
});

test('a server that cannot be reached is transient', async () => {
  const gone = await openServer();
  await gone.close();
  const model = modelsAt(gone.url, { seconds: 3 }).withKey('m', key);
  const failure = (await ask(model).catch((e) => e)) as ModelFailed;
  expect([failure.fault, failure.isTransient]).toEqual(['model', true]);
  expect(failure.message).toMatch(/could not be reached \(ECONNREFUSED\); check OPENAI_BASE_URL and the network/);
});

test('an error of nested lists costs no more time than its first characters', async () => {
  let message: unknown = '<script '.repeat(2500);
  for (let depth = 0; depth < 5; depth++) message = [message, message, message];
  const began = performance.now();
  const failure = await server.failureOf({ status: 400, json: { error: { message } } });
  expect(failure.message.length).toBeLessThan(2000);
  // Measured: 0.2 s; without a limit for all lists together, 17 s.
  expect(performance.now() - began).toBeLessThan(5000);
});

test('of a web page its text is shown, without tags, scripts and styles', async () => {
  const page =
    '<p>Sign <b>in</b> first</p><script src="x">if (a < b) steal()</script><STYLE>p { }</STYLE> at the gate<br/>!';
  const { message } = await server.failureOf({ status: 400, json: error(page) });
  expect(message).toMatch(/The server said: Sign in first at the gate !$/);
});
