import { readConfig } from '../../src/config.ts';
import { measured } from '../../src/llm/measured.ts';
import { type Model, ModelFailed } from '../../src/llm/model.ts';
import { costOf, usage } from '../../src/llm/usage.ts';
import { converse, key, modelsAt } from './models.ts';
import { openaiChat } from './servers/openai-chat.ts';
import { openaiResponses } from './servers/openai-responses.ts';
import { usageOf } from './servers/sample.ts';
import { serve } from './servers/serve.ts';

const prices = readConfig({
  MODEL_PRICES: '{"o3":{"input":2,"cachedInput":0.5,"output":8},"plain":{"input":2,"output":8}}',
}).MODEL_PRICES;

test.each([
  'chat',
  'responses',
] as const)('the cost of a conversation is the sum of its usage, over %s', async (api) => {
  const { url, close } = await serve(({ path, body }) =>
    path === '/responses' ? openaiResponses(body) : openaiChat(body),
  );
  const replies = await converse(modelsAt(url, { api }).withKey('o3', key), { onText: () => {} });
  await close();
  const expected = [0, 1, 2]
    .map(usageOf)
    .reduce((sum, { input, cached, output }) => sum + (input - cached) * 2 + cached * 0.5 + output * 8, 0);
  const cost = replies.reduce((sum, reply) => sum + (costOf(prices, 'o3', reply) ?? 0), 0);
  expect(cost).toBeCloseTo(expected / 1_000_000, 9);
});

/** Collects what is measured. */
function openMeter() {
  const took: string[] = [];
  const costs: Record<string, number> = {};
  const meter = {
    took: (model: string, outcome: string, seconds: number) => took.push(`${model} ${outcome} ${seconds >= 0}`),
    cost: (model: string, usd: number) => {
      costs[model] = (costs[model] ?? 0) + usd;
    },
  };
  return { took, costs, meter };
}

test('requests are measured by model and outcome, and so is what they cost', async () => {
  const { url, close } = await serve(({ body }) => openaiChat(body));
  const { took, costs, meter } = openMeter();
  const replies = await converse(measured(modelsAt(url, { api: 'chat' }), prices, meter).withKey('o3', key));
  await close();
  expect(took).toEqual(replies.map(() => 'o3 ok true'));
  expect(costs.o3).toBeCloseTo(
    replies.reduce((sum, reply) => sum + (costOf(prices, 'o3', reply) ?? 0), 0),
    9,
  );
});

test('failures are measured with their cause, lost answers cost, and few models have a name', async () => {
  const lost = { inputTokens: 1_000_000, cachedInputTokens: 0, cacheWriteTokens: 0, outputTokens: 0 };
  const reply: Model['reply'] = async (_messages, _tools, signal, options) => {
    options?.onLost?.(lost);
    signal.throwIfAborted();
    throw new ModelFailed('rate_limit', 'too many requests');
  };
  const { took, costs, meter } = openMeter();
  const source = {
    withKey: (name: string) => ({ name, reply, window: () => undefined }),
    names: async () => undefined,
  };
  const models = measured(source, prices, meter);
  const told: unknown[] = [];
  const asked = (name: string, signal: AbortSignal) =>
    models.withKey(name, key).reply([], [], signal, { onLost: (tokens) => told.push(tokens) });
  await expect(asked('o3', new AbortController().signal)).rejects.toThrow('too many requests');
  await expect(asked('o3', AbortSignal.abort(new Error('stop')))).rejects.toThrow('stop');
  expect([took, costs, told]).toEqual([['o3 rate_limit true', 'o3 cancelled true'], { o3: 4 }, [lost, lost]]);
  for (let i = 0; i < 60; i++) await asked(`model-${i}`, new AbortController().signal).catch(() => {});
  expect(new Set(took.map((line) => line.split(' ')[0])).size).toBe(51);
  expect(took.at(-1)).toBe('other rate_limit true');
});

test('cached input costs as much as other input without a price of its own', () => {
  const used = { inputTokens: 1000, cachedInputTokens: 900, cacheWriteTokens: 0, outputTokens: 100 };
  expect(costOf(prices, 'plain', used)).toBeCloseTo(0.0028, 9);
  expect(costOf(prices, 'o3', used)).toBeCloseTo(0.00145, 9);
  expect(costOf(prices, 'unknown', used)).toBeNull();
});

test('input that the server writes to its cache has a price of its own, by default 1.25 times that of input', () => {
  const details = { cached_tokens: 400, cache_write_tokens: 500 };
  const reported = [
    { input_tokens: 1000, output_tokens: 0, input_tokens_details: details },
    { prompt_tokens: 1000, completion_tokens: 0, prompt_tokens_details: details },
  ];
  const own = readConfig({
    MODEL_PRICES: '{"m":{"input":2,"cachedInput":0.5,"cacheWrite":4,"output":8}}',
  }).MODEL_PRICES;
  for (const used of reported.map((each) => usage.parse(each))) {
    expect(costOf(own, 'm', used)).toBeCloseTo((100 * 2 + 400 * 0.5 + 500 * 4) / 1_000_000, 9);
    expect(costOf(prices, 'o3', used)).toBeCloseTo((100 * 2 + 400 * 0.5 + 500 * 2.5) / 1_000_000, 9);
  }
  const boasted = { input_tokens: 10, input_tokens_details: { cached_tokens: 8, cache_write_tokens: 99 } };
  expect(usage.parse(boasted)).toMatchObject({ cachedInputTokens: 8, cacheWriteTokens: 2 });
});

test('LiteLLM names the input that was written to a cache as Anthropic does', () => {
  // https://docs.litellm.ai/docs/completion/prompt_caching
  const reported = {
    prompt_tokens: 1000,
    completion_tokens: 10,
    prompt_tokens_details: { cached_tokens: 400 },
    cache_creation_input_tokens: 500,
  };
  const read = { inputTokens: 1000, cachedInputTokens: 400, cacheWriteTokens: 500, outputTokens: 10 };
  expect(usage.parse(reported)).toEqual(read);
});

test('a price that is negative is refused', () => {
  const negative = { MODEL_PRICES: '{"m":{"input":1,"cachedInput":-1,"output":1}}' };
  expect(() => readConfig(negative)).toThrow(/^MODEL_PRICES/);
});
