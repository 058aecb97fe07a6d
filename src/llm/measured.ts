import { type ModelAnswer, ModelFailed, type ModelSource, type Tokens } from './model.ts';
import { costOf, type PriceTable } from './usage.ts';

/** Receives how long each request took, how it ended, and what it cost. */
interface Meter {
  took(model: string, outcome: string, seconds: number): void;
  cost(model: string, usd: number): void;
}

/** Projects choose the names of models. Those beyond this many share one name, so that a metric stays small. */
const maxNames = 50;

/** Returns the models with each request measured, from the call until the answer, with all of its retries. */
export function measured(models: ModelSource, prices: PriceTable, meter: Meter): ModelSource {
  const names = new Set<string>();
  const labelOf = (name: string) => {
    if (names.size < maxNames) names.add(name);
    return names.has(name) ? name : 'other';
  };
  return {
    ...models,
    withKey: (name, key, preset) => {
      const model = models.withKey(name, key, preset);
      const label = labelOf(name);
      const pay = (tokens: Tokens) => {
        const usd = costOf(prices, name, tokens);
        if (usd !== null && usd > 0) meter.cost(label, usd);
      };
      return {
        ...model,
        reply: async (messages, tools, signal, options = {}) => {
          const began = performance.now();
          const ended = (outcome: string) => meter.took(label, outcome, (performance.now() - began) / 1000);
          const onLost = (lost: Tokens) => {
            pay(lost);
            options.onLost?.(lost);
          };
          let answer: ModelAnswer;
          try {
            answer = await model.reply(messages, tools, signal, { ...options, onLost });
          } catch (error) {
            ended(error instanceof ModelFailed ? error.fault : signal.aborted ? 'cancelled' : 'error');
            throw error;
          }
          ended('ok');
          pay(answer);
          return answer;
        },
      };
    },
  };
}
