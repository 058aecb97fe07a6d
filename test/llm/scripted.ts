import { type ModelAnswer, ModelFailed, type ReplyOptions, type Wire } from '../../src/llm/model.ts';
import type { ModelServer } from '../../src/llm/openai.ts';
import { ask, key, modelsAt } from './models.ts';
import { type Answer, type Fields, serve } from './servers/serve.ts';

/** Starts a server that gives prepared answers, one per request. */
export async function openScript() {
  let script: Answer[] = [];
  const served = await serve(
    () => script.shift() ?? { status: 418, json: { error: { message: 'the script is over' } } },
  );
  const asked = async (wire: Wire, answers: Answer[], options: ReplyOptions = {}, more: Partial<ModelServer> = {}) => {
    script = answers;
    const text: string[] = [];
    const model = modelsAt(served.url, { api: wire, ...more }).withKey('m', key);
    const reply: ModelAnswer = await ask(model, { onText: (piece) => text.push(piece), ...options });
    return { reply, text };
  };
  return {
    asked,
    failed: async (...given: Parameters<typeof asked>): Promise<ModelFailed> => {
      const failure = await asked(...given).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(ModelFailed);
      return failure as ModelFailed;
    },
    /** Prepares the answers to other requests. */
    prepare: (answers: Answer[]) => {
      script = answers;
    },
    /** How many answers are left. */
    left: () => script.length,
    last: () => served.received.at(-1)?.body ?? {},
    url: served.url,
    close: served.close,
  };
}

// Chat Completions

export const chunk = (delta: Fields, finish_reason: string | null = null) => ({
  choices: [{ index: 0, delta, finish_reason }],
});
export const whole = (message: Fields, more: Fields = {}) => ({
  json: { choices: [{ message, finish_reason: 'stop', ...more }] },
});

// Responses

export const delta = (text: string) => ({ type: 'response.output_text.delta', output_index: 0, delta: text });
export const message = (text: string) => ({
  type: 'message',
  role: 'assistant',
  content: [{ type: 'output_text', text }],
});
export const item = (value: Fields, output_index = 0) => ({
  type: 'response.output_item.done',
  output_index,
  item: value,
});
export const completed = (response: Fields = {}) => ({
  type: 'response.completed',
  response: { status: 'completed', output: [], ...response },
});
