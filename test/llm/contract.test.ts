import type { ReplyOptions, Wire } from '../../src/llm/model.ts';
import { converse, key, modelsAt } from './models.ts';
import { anthropic, deepseek, gemini, mistral, openrouter } from './servers/hosted.ts';
import { openaiChat } from './servers/openai-chat.ts';
import { openaiResponses } from './servers/openai-responses.ts';
import { finalText, usageOf } from './servers/sample.ts';
import { litellm, llamaCpp, old, ollama, vllm } from './servers/self-hosted.ts';
import { type Answer, type Fields, Refused, type Served, serve } from './servers/serve.ts';

/** Every server completes the sample conversation: reasoning, calls, streamed and whole. */
const both = { '/responses': openaiResponses, '/chat/completions': openaiChat };
const chat = (answer: (body: Fields) => Answer) => ({ '/chat/completions': answer });

interface Case {
  name: string;
  routes: Record<string, (body: Fields) => Answer>;
  model: string;
  wire: Wire;
}

const cases: Case[] = [
  { name: 'OpenAI, a model that reasons', routes: both, model: 'gpt-5.6', wire: 'responses' },
  { name: 'OpenAI, a model that exists only in Responses', routes: both, model: 'gpt-5.6-pro', wire: 'responses' },
  { name: 'OpenAI, a model that does not reason', routes: both, model: 'gpt-4o', wire: 'chat' },
  { name: 'OpenAI, a model that refuses max_tokens', routes: both, model: 'o3', wire: 'chat' },
  { name: 'Azure, Responses only', routes: { '/responses': openaiResponses }, model: 'gpt-4.1', wire: 'responses' },
  { name: 'OpenRouter', routes: chat(openrouter), model: 'anthropic/claude', wire: 'chat' },
  { name: 'DeepSeek', routes: chat(deepseek), model: 'deepseek-v4', wire: 'chat' },
  { name: 'Gemini', routes: chat(gemini), model: 'gemini-3', wire: 'chat' },
  { name: 'Anthropic', routes: chat(anthropic), model: 'claude', wire: 'chat' },
  { name: 'Mistral', routes: chat(mistral), model: 'magistral', wire: 'chat' },
  { name: 'vLLM', routes: chat(vllm), model: 'qwen', wire: 'chat' },
  { name: 'llama.cpp', routes: chat(llamaCpp), model: 'qwen', wire: 'chat' },
  { name: 'Ollama', routes: chat(ollama), model: 'qwen', wire: 'chat' },
  { name: 'LiteLLM', routes: chat(litellm), model: 'claude', wire: 'chat' },
  { name: 'an old server', routes: chat(old), model: 'any', wire: 'chat' },
];

let served: Served | undefined;
afterEach(async () => {
  await served?.close();
  served = undefined;
});

async function start({ routes }: Pick<Case, 'routes'>): Promise<Served> {
  served = await serve(({ path, body }) => {
    const answer = routes[path];
    if (answer === undefined) throw new Refused(404, { error: { message: `Not Found: ${path}` } });
    return answer(body);
  });
  return served;
}

const settings: [string, ReplyOptions][] = [
  ['with no settings', {}],
  ['with an effort and a length', { effort: 'high', maxOutputTokens: 200_000 }],
];

describe.each(cases)('$name', (given) => {
  test.each(settings)('completes the sample, whole, %s', async (_what, options) => {
    const { url } = await start(given);
    const replies = await converse(modelsAt(url).withKey(given.model, key, options));
    expect(replies.map((reply) => reply.toolCalls.map((call) => call.name))).toEqual([
      ['multiply', 'multiply'],
      ['add'],
      [],
    ]);
    expect(replies.at(-1)).toMatchObject({ text: finalText, isCut: false, wire: given.wire });
  });

  test.each(settings)('completes the sample, streamed, %s', async (_what, options) => {
    const { url } = await start(given);
    let streamed = '';
    const onText = (piece: string) => {
      streamed += piece;
    };
    const replies = await converse(modelsAt(url).withKey(given.model, key, options), { onText });
    expect(replies.map((reply) => reply.toolCalls.length)).toEqual([2, 1, 0]);
    expect([replies.at(-1)?.text, streamed]).toEqual([finalText, finalText]);
  });

  test('reports the usage of the server, cached input included, in both forms', async () => {
    const { url } = await start(given);
    const expected = [0, 1, 2].map(usageOf);
    const knowsCache = !['Anthropic', 'llama.cpp', 'Ollama'].includes(given.name);
    for (const options of [{}, { onText: () => {} }]) {
      const replies = await converse(modelsAt(url).withKey(given.model, key), options);
      expect(replies.map((reply) => reply.inputTokens)).toEqual(expected.map((u) => u.input));
      expect(replies.map((reply) => reply.outputTokens)).toEqual(expected.map((u) => u.output));
      expect(replies.map((reply) => reply.cachedInputTokens)).toEqual(expected.map((u) => (knowsCache ? u.cached : 0)));
    }
  });
});

test('what a server refused is remembered: the second conversation begins right', async () => {
  const { url, received } = await start({ routes: both });
  const models = modelsAt(url);
  await converse(models.withKey('gpt-5.6', key, { effort: 'high' }));
  expect(received.map((r) => r.path).slice(0, 2)).toEqual(['/chat/completions', '/responses']);
  const before = received.length;
  await converse(models.withKey('gpt-5.6', key, { effort: 'high' }));
  expect(received.slice(before).map((r) => r.path)).toEqual(Array(3).fill('/responses'));
  expect(received.at(-1)?.body).toMatchObject({
    store: false,
    include: ['reasoning.encrypted_content'],
    reasoning: { effort: 'high' },
  });
  // It was learned for one model only, and for one key: a server may give each key limits of its own.
  await converse(models.withKey('o3', key));
  expect(received.at(-1)?.path).toBe('/chat/completions');
  const ofOther = received.length;
  await converse(models.withKey('gpt-5.6', 'sk-another-key-of-a-project', { effort: 'high' }));
  expect(received[ofOther]?.path).toBe('/chat/completions');
});
