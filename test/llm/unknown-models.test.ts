import { error, openServer } from './refusing.ts';

let server: Awaited<ReturnType<typeof openServer>>;
beforeAll(async () => {
  server = await openServer();
});
afterAll(() => server.close());

// In the words of the servers.
test.each<[string, number, unknown]>([
  ['OpenRouter', 400, error('foo/bar is not a valid model ID')],
  [
    'LiteLLM',
    400,
    error('/chat/completions: Invalid model name passed in model=m. Call `/v1/models` to view available models.'),
  ],
  ['DeepSeek', 400, error('Model Not Exist')],
  ['Mistral', 400, { object: 'error', message: 'Invalid model: m', type: 'invalid_model', param: null, code: '1500' }],
  [
    'Groq',
    400,
    error('The model `llama-2` has been decommissioned and is no longer supported.', { code: 'model_decommissioned' }),
  ],
  ['vLLM', 404, { object: 'error', message: 'The model `m` does not exist.', type: 'NotFoundError', code: 404 }],
  ['Ollama', 404, error('model "m:latest" not found, try pulling it first')],
  ['GitHub Models', 400, { error: { code: 'unknown_model', message: 'Unknown model: m' } }],
  [
    'Gemini',
    404,
    [{ error: { code: 404, message: 'models/m is not found for API version v1main, or is not supported.' } }],
  ],
  ['Anthropic', 404, { type: 'error', error: { type: 'not_found_error', message: 'model: m' } }],
  ['Azure', 404, { error: { code: 'DeploymentNotFound', message: 'The API deployment does not exist.' } }],
  ['FastAPI', 422, { detail: [{ loc: ['body', 'model'], msg: "Input should be 'a' or 'b'", type: 'enum' }] }],
  ['Hugging Face', 400, error("The requested model 'm' does not exist", { code: 'model_not_found' })],
  ['Cloudflare', 400, { errors: [{ message: 'AiError: No such model m or task', code: 5007 }] }],
])('%s: a model that is not offered is named, and the setting to change', async (_server, status, json) => {
  const failure = await server.failureOf({ status, json });
  expect([failure.fault, failure.isTransient]).toEqual(['model', false]);
  expect(failure.message).toMatch(
    /^the model m is not offered by 127\.0\.0\.1:\d+; change OPENAI_MODEL or the agent's model \(HTTP 4\d\d\)\. The server said: /,
  );
});

test.each([
  [400, 'This model does not support image input.'],
  [400, "The model's context is not valid for this request."],
  [422, 'body.messages: Field required'],
])('a refusal about something else does not blame the name of the model: HTTP %i, %s', async (status, text) => {
  expect((await server.failureOf({ status, json: error(text) })).message).not.toMatch(/not offered/);
});
