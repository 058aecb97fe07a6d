import { execFileSync } from 'node:child_process';
import { until } from '../../demo/real-service.ts';
import { readConfig } from '../../src/config.ts';
import { openaiModels } from '../../src/llm/openai.ts';
import { createLogger } from '../../src/logger.ts';
import { openTraces } from '../../src/tracing/open-traces.ts';
import { traceTarget } from '../../src/tracing/settings.ts';
import { currentSpan, noTraces, traced } from '../../src/tracing/traced.ts';
import { startSpanReceiver } from '../support/stand-ins/span-receiver.ts';

let receiver: Awaited<ReturnType<typeof startSpanReceiver>>;
beforeAll(async () => {
  receiver = await startSpanReceiver();
});
beforeEach(() => {
  Object.assign(receiver, { status: 200, spans: [], requests: [] });
});
afterAll(() => receiver.close());

const open = (more: Record<string, string> = {}, onSent: Parameters<typeof openTraces>[2] = () => {}) =>
  openTraces(
    readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json', ...more }),
    '1.2.3',
    onSent,
  );

test('a trace goes on in another process, and its spans have their parents', async () => {
  const [web, worker] = [await open(), await open()];
  let traceparent: string | undefined;
  await web.begin({ name: 'webhook', kind: 'server', ids: { deliveryId: 'd1' } }, () =>
    traced('store', {}, async () => {
      traceparent = currentSpan()?.traceparent;
    }),
  );
  await worker.begin({ name: 'run', kind: 'consumer', parent: traceparent, ids: { runId: 'run_1' } }, () =>
    Promise.all([
      traced('git push', { 'server.address': 'host' }, async () => {}),
      traced('prove', {}, async () => {}),
    ]),
  );
  await Promise.all([web.close(), worker.close()]);
  const [webhook, store, run] = ['webhook', 'store', 'run'].map(receiver.named);
  expect([webhook?.parentId, store?.parentId, run?.parentId]).toEqual(['', webhook?.spanId, store?.spanId]);
  expect(['git push', 'prove'].map((name) => receiver.named(name).parentId)).toEqual([run?.spanId, run?.spanId]);
  expect(new Set(receiver.spans.map(({ traceId }) => traceId)).size).toBe(1);
  expect(run?.instance).not.toBe(webhook?.instance);
  expect(webhook?.attributes).toEqual({ 'deckhand.delivery.id': 'd1' });
  expect(receiver.named('git push').attributes).toEqual({ 'server.address': 'host' });
});

test('a failure is recorded by its kind, and not by its text', async () => {
  const traces = await open();
  const failing = () => traced('inner', {}, () => Promise.reject(Object.assign(new Error('canary'), { status: 404 })));
  await expect(traces.begin({ name: 'outer', kind: 'server' }, failing)).rejects.toThrow('canary');
  await traces.close();
  expect(receiver.named('inner')).toMatchObject({ isFailed: true, attributes: { 'error.type': '404' } });
  expect(receiver.requests.map(({ text }) => text).join()).not.toContain('canary');
});

test('an invalid or missing parent begins a trace, and a parent that is not sampled records nothing', async () => {
  const traces = await open();
  const unsampled = `00-${'1'.repeat(32)}-${'2'.repeat(16)}-00`;
  for (const parent of ['nonsense', null, unsampled])
    await traces.begin({ name: `of ${parent}`, kind: 'consumer', parent }, async () => {});
  await traces.close();
  expect(receiver.spans.map(({ name, parentId }) => [name, parentId])).toEqual([
    ['of nonsense', ''],
    ['of null', ''],
  ]);
});

test('OTLP is sent as protobuf by default, with the headers and to the path of the settings', async () => {
  const traces = await openTraces(
    readConfig({
      OTEL_EXPORTER_OTLP_ENDPOINT: `${receiver.url}/otlp/`,
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20key,x-team=a',
    }),
    '1.2.3',
    () => {},
  );
  await traces.begin({ name: 'a', kind: 'server' }, async () => {});
  await traces.close();
  expect(receiver.requests).toEqual([expect.objectContaining({ path: '/otlp/v1/traces' })]);
  expect(receiver.requests[0]?.headers).toMatchObject({
    'content-type': 'application/x-protobuf',
    authorization: 'Bearer key',
    'x-team': 'a',
  });
});

test('tracing is off unless a setting says where spans go or that they are sent', () => {
  const targetOf = (settings: Record<string, string>) => traceTarget(readConfig(settings));
  const OTEL_EXPORTER_OTLP_ENDPOINT = 'http://collector:4318/';
  expect(targetOf({})).toBeUndefined();
  expect(targetOf({ OTEL_EXPORTER_OTLP_ENDPOINT })).toBe('http://collector:4318/v1/traces');
  expect(targetOf({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://t/x' })).toBe('http://t/x');
  expect(targetOf({ OTEL_TRACES_EXPORTER: 'otlp' })).toBe('http://localhost:4318/v1/traces');
  expect(targetOf({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_TRACES_EXPORTER: 'none' })).toBeUndefined();
  expect(targetOf({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_SDK_DISABLED: 'TRUE' })).toBeUndefined();
});

test('the receiver is reported once when it refuses spans, and once when it accepts them again', async () => {
  const told: (string | undefined)[] = [];
  receiver.status = 400;
  const traces = await open({}, (error) => told.push(error?.message));
  // As many as are sent at once, twice.
  const sendMany = async () => {
    for (let i = 0; i < 1024; i++) await traces.begin({ name: 'a', kind: 'server' }, async () => {});
  };
  await sendMany();
  await until('two refusals', async () => receiver.requests.length === 2);
  receiver.status = 200;
  await sendMany();
  await traces.close();
  expect(told).toEqual([expect.any(String), undefined]);
});

test('a request to a model is a span by the conventions for generative AI, without its content', async () => {
  const traces = await open();
  const answer = {
    choices: [{ message: { role: 'assistant', content: 'canary answer' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 12, completion_tokens: 3, prompt_tokens_details: { cached_tokens: 5 } },
  };
  const client = {
    baseURL: 'https://models.example.org/v1',
    post: () => ({ asResponse: async () => Response.json(answer) }),
  };
  const source = openaiModels({ connect: () => client as never, seconds: 60, api: 'chat', clean: (text) => text });
  await traces.begin({ name: 'run', kind: 'consumer' }, () =>
    source
      .withKey('small', 'sk-canary', { maxOutputTokens: 100 })
      .reply([{ role: 'user', content: 'canary question' }], [], new AbortController().signal),
  );
  await traces.close();
  expect(receiver.named('chat small')).toMatchObject({ kind: 3, parentId: receiver.named('run').spanId });
  expect(receiver.named('chat small').attributes).toEqual({
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.model': 'small',
    'gen_ai.request.max_tokens': 100,
    'server.address': 'models.example.org',
    'server.port': 443,
    'gen_ai.response.finish_reasons': ['stop'],
    'gen_ai.usage.input_tokens': 12,
    'gen_ai.usage.output_tokens': 3,
    'gen_ai.usage.cache_read.input_tokens': 5,
    'gen_ai.usage.cache_creation.input_tokens': 0,
    'openai.api.type': 'chat_completions',
  });
  expect(receiver.requests.map(({ text }) => text).join()).not.toContain('canary');
});

test('each line of the log has the ids of the work that it is about, also while tracing is off', async () => {
  const lines: Record<string, unknown>[] = [];
  const log = createLogger({ LOG_LEVEL: 'info' }, false, { write: (line) => void lines.push(JSON.parse(line)) });
  await noTraces.begin({ name: 'a', kind: 'consumer', ids: { deliveryId: 'd1' } }, async () =>
    noTraces.begin({ name: 'b', kind: 'consumer', ids: { taskId: 'task_1' } }, async () =>
      log.info({ taskId: 'task_2' }, 'moved'),
    ),
  );
  const traces = await open();
  await traces.begin({ name: 'c', kind: 'consumer', ids: { runId: 'run_1' } }, async () => log.info('ended'));
  await traces.close();
  log.info('outside');
  expect(lines).toEqual([
    expect.objectContaining({ msg: 'moved', deliveryId: 'd1', taskId: 'task_2' }),
    expect.objectContaining({ msg: 'ended', runId: 'run_1', traceId: receiver.named('c').traceId }),
    expect.not.objectContaining({ runId: expect.anything() }),
  ]);
  expect(lines[0]).not.toHaveProperty('traceId');
});

test('while tracing is off, none of its packages is loaded', () => {
  const path = (name: string) => JSON.stringify(new URL(`../../src/${name}`, import.meta.url).href);
  const script = `
    import { registerHooks } from 'node:module';
    const loaded = new Set();
    registerHooks({ load: (url, context, next) => {
      const name = /node_modules\\/(@opentelemetry\\/[^/]+)/.exec(url)?.[1];
      if (name !== undefined) loaded.add(name);
      return next(url, context);
    } });
    await import(${path('compose.ts')});
    const { readConfig } = await import(${path('config.ts')});
    const { openTraces } = await import(${path('tracing/open-traces.ts')});
    const loadedWith = async (settings) => {
      await openTraces(readConfig(settings), '1', () => {});
      return [...loaded].sort();
    };
    console.log(JSON.stringify([await loadedWith({}), await loadedWith({ OTEL_TRACES_EXPORTER: 'otlp' })]));
  `;
  const out = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8', env: {} });
  const [off, on] = JSON.parse(out);
  // prom-client requires the interface, which does nothing by itself.
  expect(off).toEqual(['@opentelemetry/api']);
  expect(on).toEqual(expect.arrayContaining(['@opentelemetry/sdk-trace', '@opentelemetry/exporter-trace-otlp-proto']));
});
