import type { Wire } from '../../src/llm/model.ts';
import { ask, key, modelsAt } from './models.ts';
import { chunk, completed, delta, item, message, openScript, whole } from './scripted.ts';
import type { Answer } from './servers/serve.ts';

let scripted: Awaited<ReturnType<typeof openScript>>;
beforeAll(async () => {
  scripted = await openScript();
});
afterAll(() => scripted.close());

const stop = chunk({}, 'stop');

/** A stream of each API whose parts the tests take away. */
const parts: Record<Wire, { begin: object; end: object[] }> = {
  chat: { begin: chunk({ content: 'One ' }), end: [chunk({ content: 'two' }), stop] },
  responses: { begin: delta('One '), end: [delta('two'), item(message('One two')), completed()] },
};

describe.each(['chat', 'responses'] as const)('%s', (wire) => {
  const { begin, end } = parts[wire];

  test('text arrives in pieces and is complete in the reply', async () => {
    const { reply, text } = await scripted.asked(wire, [{ events: [begin, ...end] }]);
    expect([reply.text, text, reply.isCut]).toEqual(['One two', ['One ', 'two'], false]);
  });

  test('a stream that ends early is repeated, as long as nothing of it was shown', async () => {
    const { reply } = await scripted.asked(wire, [{ events: [': comment'] }, { events: [begin, ...end] }]);
    expect(reply.text).toBe('One two');
    const failure = await scripted.failed(wire, [{ events: [begin] }, { events: [begin, ...end] }]);
    expect([failure.fault, failure.isTransient, scripted.left()]).toEqual(['model', true, 1]);
    expect(failure.message).toMatch(/ended before the answer was complete; try again/);
  });

  test('text that was shown begins again where the caller can say so', async () => {
    const shown: string[] = [];
    const answers = [{ events: [begin] }, { events: [begin, ...end] }];
    const { reply } = await scripted.asked(wire, answers, {
      onText: (piece) => shown.push(piece),
      onRestart: () => shown.push('↺'),
    });
    expect([reply.text, shown]).toEqual(['One two', ['One ', '↺', 'One ', 'two']]);
  });

  test('an answer in JSON to a request for a stream is read as a whole', async () => {
    const json =
      wire === 'chat' ? whole({ content: 'One two' }) : { json: { status: 'completed', output: [message('One two')] } };
    const { reply, text } = await scripted.asked(wire, [json]);
    expect([reply.text, text]).toEqual(['One two', ['One two']]);
  });

  test.each(['application/octet-stream', 'text/plain'])('a stream of the type %s is read', async (type) => {
    const { reply, text } = await scripted.asked(wire, [
      { events: [begin, ...end], headers: { 'content-type': type } },
    ]);
    expect([reply.text, text]).toEqual(['One two', ['One ', 'two']]);
  });

  test.each([
    ['<html><title>Sign in</title></html>', 'The server said: Sign in'],
    ['', 'It was empty'],
  ])('an answer that is neither a stream nor JSON ends with what to check: %s', async (page, said) => {
    const answer = { json: page, headers: { 'content-type': 'text/html' } };
    const failure = await scripted.failed(wire, [answer]);
    expect([failure.fault, failure.isTransient]).toEqual(['model', false]);
    expect(failure.message).toBe(
      `the model server's answer is neither an event stream nor JSON; check OPENAI_BASE_URL. ${said}`,
    );
  });

  test('an error inside of the stream is read like one outside of it', async () => {
    const limit =
      wire === 'chat'
        ? { error: { message: 'slow down', code: 429 } }
        : { type: 'error', code: 'rate_limit_exceeded', message: 'slow down' };
    const { reply } = await scripted.asked(wire, [{ events: [limit] }, { events: [begin, ...end] }]);
    expect(reply.text).toBe('One two');
    const long =
      wire === 'chat'
        ? { error: { message: 'prompt is too long: 9000 tokens > 8000 maximum', code: 400 } }
        : {
            type: 'response.failed',
            response: {
              status: 'failed',
              error: {
                code: 'context_length_exceeded',
                message: 'Your input exceeds the context window of this model.',
              },
            },
          };
    expect(await scripted.failed(wire, [{ events: [long] }])).toMatchObject({ fault: 'context', isTransient: false });
  });
});

describe.each(['chat', 'responses'] as const)('%s, a stream that breaks', (wire) => {
  const { begin, end } = parts[wire];
  const hear = () => {
    const shown: string[] = [];
    const onText = (piece: string) => void shown.push(piece);
    return { shown, options: { onText, onRestart: () => void shown.push('↺') } };
  };

  test('a stream that breaks in the middle is repeated like a lost connection', async () => {
    const { shown, options } = hear();
    const answers: Answer[] = [{ events: [begin], ending: 'break' }, { events: [begin, ...end] }];
    const { reply } = await scripted.asked(wire, answers, options);
    expect([reply.text, shown]).toEqual(['One two', ['One ', '↺', 'One ', 'two']]);
  });

  test('a stream that falls silent in the middle is repeated like a lost connection', async () => {
    const { shown, options } = hear();
    scripted.prepare([{ events: [begin], ending: 'silence' }, { events: [begin, ...end] }]);
    const model = modelsAt(scripted.url, { api: wire, seconds: 60 }, 500).withKey('m', key);
    expect([(await ask(model, options)).text, shown]).toEqual(['One two', ['One ', '↺', 'One ', 'two']]);
  });

  test('a stream that stalls repeatedly fails the call as transient', async () => {
    const { options } = hear();
    // Only the first try can reach the limit of silence; the second one never begins to answer.
    scripted.prepare([{ events: [begin], ending: 'silence' }, { isHeld: true }]);
    const model = modelsAt(scripted.url, { api: wire, seconds: 2 }, 300).withKey('m', key);
    const failure = await ask(model, options).catch((error: unknown) => error);
    expect(failure).toMatchObject({ name: 'ModelFailed', fault: 'model', isTransient: true });
    expect(String(failure)).toMatch(/sent nothing for 0.3 s in the middle of its answer; .*raise MODEL_ANSWER_SECONDS/);
  });

  test('a stream that breaks after the end of the answer is complete', async () => {
    // Chat Completions would send the usage next.
    const answers: Answer[] = [{ events: [begin, ...end], ending: 'break' }];
    expect((await scripted.asked(wire, answers)).reply.text).toBe('One two');
  });
});

describe.each(['chat', 'responses'] as const)('limits of %s', (wire) => {
  const { begin } = parts[wire];

  test.each(['{"choices": 7}', 'x'])('nonsense in the stream is a clear failure: %s', async (data) => {
    const events = Array.from({ length: 5 }, () => ({ events: [`data: ${data}`] }));
    // In these seconds there is time for two more tries.
    expect((await scripted.failed(wire, events, {}, { seconds: 3 })).message).toMatch(/malformed|not JSON/);
  });

  test('more than 1000 calls, and an index beyond, are refused', async () => {
    const call = (index: number) =>
      wire === 'chat'
        ? chunk({ tool_calls: [{ index, id: `c${index}`, function: { name: 'x' } }] })
        : item({ type: 'function_call', call_id: `c${index}`, name: 'x', arguments: '{}' }, index);
    for (const events of [[call(4_000_000_000)], Array.from({ length: 1001 }, (_, i) => call(i))])
      expect((await scripted.failed(wire, [{ events }])).message).toMatch(/more than 1000 calls/);
  });

  test('a text of more than 4 MB is refused', async () => {
    const piece = 'x'.repeat(900_000);
    const one = wire === 'chat' ? chunk({ content: piece }) : delta(piece);
    expect((await scripted.failed(wire, [{ events: Array(5).fill(one) }])).message).toMatch(/larger than 4 MB/);
  });

  test('more than a million characters of text and calls are refused', async () => {
    const piece = 'x'.repeat(400_000);
    const one = wire === 'chat' ? chunk({ content: piece }) : delta(piece);
    const end = wire === 'chat' ? stop : completed();
    const failed = await scripted.failed(wire, [{ events: [one, one, one, end] }]);
    expect(failed.message).toMatch(/has 1200000 characters of text and calls; the most are 1000000/);
  });

  test('usage in fractions, strings and negative numbers is repaired', async () => {
    const names =
      wire === 'chat'
        ? ['prompt_tokens', 'completion_tokens', 'prompt_tokens_details']
        : ['input_tokens', 'output_tokens', 'input_tokens_details'];
    const usageOf = async (input: unknown, output: unknown, cached: unknown) => {
      const usage = Object.fromEntries(names.map((name, i) => [name, [input, output, { cached_tokens: cached }][i]]));
      const events =
        wire === 'chat' ? [begin, stop, { choices: [], usage }] : [item(message('x')), completed({ usage })];
      const { inputTokens, outputTokens, cachedInputTokens } = (await scripted.asked(wire, [{ events }])).reply;
      return [inputTokens, outputTokens, cachedInputTokens];
    };
    expect(await usageOf(1.5, 'x', -3)).toEqual([2, 0, 0]);
    expect(await usageOf(100, 7, 400)).toEqual([100, 7, 100]);
    expect(await usageOf(null, undefined, {})).toEqual([0, 0, 0]);
  });

  test('data over the limit is not kept with the answer', async () => {
    const thought = 'x'.repeat(600_000);
    const events =
      wire === 'chat'
        ? [chunk({ reasoning_content: thought }), chunk({ reasoning_content: thought }), begin, stop]
        : [
            item({ type: 'reasoning', encrypted_content: thought }),
            item({ type: 'reasoning', encrypted_content: thought }, 1),
            item(message('One '), 2),
            completed(),
          ];
    const { reply } = await scripted.asked(wire, [{ events }]);
    expect([reply.text, reply.kept]).toEqual(['One ', undefined]);
  });
});
