import type { Said } from '../../demo/model/model.ts';
import { openPlanning } from '../support/planning.ts';
import { planner } from '../support/stand-ins/planner.ts';

// A streamed operation with an Idempotency-Key: generating a step of a plan.

const given = await openPlanning();
const { model, service, token } = given;

/** Returns a function that streams the requirements of a new session with a key. */
async function session() {
  const sessionId = await given.planned([]);
  const path = `/projects/${given.project}/wizard/generate-prd`;
  return (key: string) =>
    service.call('POST', path, {
      token,
      body: { sessionId },
      headers: { Accept: 'text/event-stream', 'Idempotency-Key': key },
    });
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
  // The repeated reply has only the result, not the pieces of text before it.
  expect(eventsOf(again.body)).toEqual(['done']);
  expect(first.body).toContain(again.body);
});

test('a stream that failed frees its key', async () => {
  const generate = await session();
  given.says = () => ({ status: 400, error: { message: 'no' } }) as Said;
  const failed = await generate('b');
  expect(eventsOf(failed.body)).not.toContain('done');
  given.says = planner;
  const next = await generate('b');
  expect([next.headers.get('idempotent-replayed'), eventsOf(next.body).at(-1)]).toEqual([null, 'done']);
});
