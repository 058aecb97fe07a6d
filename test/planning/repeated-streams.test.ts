import { type ModelRequest, type Said, type ScriptedModel, startModel } from '../../src/demo/model/model.ts';
import { openTestApp, type TestApp } from '../support/app.ts';
import { planner } from '../support/stand-ins/planner.ts';

// A streamed operation with an Idempotency-Key: generating a step of a plan.

let model: ScriptedModel;
let service: TestApp;
let token: string;
let says: (request: ModelRequest) => Said;

beforeAll(async () => {
  model = await startModel((request) => says(request));
  service = await openTestApp({
    OPENAI_API_KEY: 'sk-x',
    OPENAI_MODEL: 'm',
    OPENAI_BASE_URL: model.url,
    RATE_LIMIT_MODEL: '0',
  });
  token = await service.token('octocat');
});
beforeEach(() => {
  says = planner;
});
afterAll(async () => {
  await service.close();
  await model.close();
});

const post = (path: string, body: object, headers: Record<string, string> = {}) =>
  service.call('POST', path, { token, body, headers });

/** Returns a function that streams the requirements of a new session with a key. */
async function session() {
  const project = (await post('/projects', { name: 'P' })).body.id;
  const wizard = `/projects/${project}/wizard`;
  let { sessionId, currentStep } = (await post(`${wizard}/initialize`, { goal: 'Greet people' })).body;
  while (currentStep !== null) {
    const answer = { stepId: currentStep.id, selectedOptionIds: [currentStep.options[0].id], customText: '' };
    ({ currentStep } = (await post(`${wizard}/${sessionId}/answer`, { answer })).body);
  }
  return (key: string) =>
    post(`${wizard}/generate-prd`, { sessionId }, { Accept: 'text/event-stream', 'Idempotency-Key': key });
}

const eventsOf = (text: string) => [...text.matchAll(/^event: (\w+)$/gm)].map(([, name]) => name);

test('the result of a stream is the reply to every repetition', async () => {
  const generate = await session();
  const first = await generate('a');
  expect([first.status, eventsOf(first.body).at(-1)]).toEqual([200, 'done']);
  const asked = model.requests.length;
  const again = await generate('a');
  expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
  expect(model.requests.length).toBe(asked);
  // Without what arrived on the way.
  expect(eventsOf(again.body)).toEqual(['done']);
  expect(first.body).toContain(again.body);
});

test('a stream that failed frees its key', async () => {
  const generate = await session();
  says = () => ({ status: 400, error: { message: 'no' } }) as Said;
  const failed = await generate('b');
  expect(eventsOf(failed.body)).not.toContain('done');
  says = planner;
  const next = await generate('b');
  expect([next.headers.get('idempotent-replayed'), eventsOf(next.body).at(-1)]).toEqual([null, 'done']);
});
