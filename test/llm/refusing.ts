import { ModelFailed, type ReplyOptions } from '../../src/llm/model.ts';
import { ask, key, modelsAt } from './models.ts';
import { type Answer, type Server, serve } from './servers/serve.ts';

/** Starts a server whose behaviour each test decides. */
export async function openServer() {
  let behaviour: Server = () => ({ status: 418, json: '' });
  const served = await serve((received) => behaviour(received));
  const modelAt = (api: 'auto' | 'chat' | 'responses' = 'chat') => modelsAt(served.url, { api }).withKey('m', key);
  return {
    ...served,
    modelAt,
    behave: (as: Server) => {
      behaviour = as;
    },
    last: () => served.received.at(-1),
    /** Gives the same answer to every request, and returns the failure that it leads to. */
    failureOf: async (answer: Answer, options: ReplyOptions = {}, model = modelAt()): Promise<ModelFailed> => {
      behaviour = () => answer;
      const failure = await ask(model, options).catch((each: unknown) => each);
      expect(failure).toBeInstanceOf(ModelFailed);
      return failure as ModelFailed;
    },
  };
}

/** An error in OpenAI's form. */
export const error = (message: string, more: object = {}) => ({
  error: { message, type: 'invalid_request_error', param: null, code: null, ...more },
});
