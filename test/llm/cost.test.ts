import { readConfig } from '../../src/config.ts';
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
