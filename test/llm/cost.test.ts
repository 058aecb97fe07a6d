import { readConfig } from '../../src/config.ts';
import { costOf } from '../../src/llm/pricing.ts';
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
  const used = { inputTokens: 1000, cachedInputTokens: 900, outputTokens: 100 };
  expect(costOf(prices, 'plain', used)).toBeCloseTo(0.0028, 9);
  expect(costOf(prices, 'o3', used)).toBeCloseTo(0.00145, 9);
  expect(costOf(prices, 'unknown', used)).toBeNull();
});

test('a price that is negative is refused', () => {
  const negative = { MODEL_PRICES: '{"m":{"input":1,"cachedInput":-1,"output":1}}' };
  expect(() => readConfig(negative)).toThrow(/^MODEL_PRICES/);
});
