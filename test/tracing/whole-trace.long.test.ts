import { join } from 'node:path';
import { issue, script } from '../../demo/model/story.ts';
import { type RunningService, startService } from '../../demo/real-service.ts';
import { type ReceivedSpan, startSpanReceiver } from '../support/stand-ins/span-receiver.ts';
import { openWorld, type World, type WorldTask } from '../support/world.ts';

const headerCanary = 'canary-key-of-the-receiver';
let world: World;
let worker: RunningService;
let task: WorldTask;
let receiver: Awaited<ReturnType<typeof startSpanReceiver>>;
/** The trace with the run of the task. */
let trace: ReceivedSpan[];
let run: ReceivedSpan;

const parentOf = (span: ReceivedSpan | undefined) => trace.find(({ spanId }) => spanId === span?.parentId);
const isBelow = (span: ReceivedSpan | undefined, above: ReceivedSpan): boolean =>
  span !== undefined && (span === above || isBelow(parentOf(span), above));

beforeAll(async () => {
  receiver = await startSpanReceiver();
  world = await openWorld(script, {
    seed: { hasChecks: true },
    settings: {
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20${headerCanary}`,
    },
  });
  await world.service.stop();
  Object.assign(world.settings, { ROLE: 'web' });
  await world.restart();
  worker = await startService({
    ...world.settings,
    ROLE: 'worker',
    DATA_DIR: join(world.settings.DATA_DIR ?? '', 'worker'),
  });
  await world.issue('/agent start', issue);
  task = await world.taskIn('in_review');
  await worker.stop();
  await world.service.stop();
  const [found] = receiver.spans.filter((span) => span.name.startsWith('run '));
  if (found === undefined) throw new Error('there is no span of the run');
  run = found;
  trace = receiver.spans.filter(({ traceId }) => traceId === run.traceId);
});
afterAll(async () => {
  await worker.stop('SIGKILL');
  await world.close();
  await receiver.close();
});

test('one trace leads from the webhook to the pull request, through both processes', () => {
  const delivery = parentOf(run);
  const webhook = parentOf(delivery);
  expect([webhook, delivery].map((span) => span?.name)).toEqual(['webhook issue_comment', 'delivery issue_comment']);
  expect(webhook?.parentId).toBe('');
  expect(delivery?.instance).toBe(run.instance);
  expect(webhook?.instance).not.toBe(run.instance);
  expect(trace.filter((span) => !isBelow(span, webhook as ReceivedSpan))).toEqual([]);
  expect(run.attributes).toMatchObject({
    'deckhand.task.id': task.id,
    'deckhand.run.id': expect.any(String),
    'deckhand.run.status': 'succeeded',
  });
});

test('the model, its tools, git, the sandbox, the proof and GitHub are below the run', () => {
  const names = new Set(trace.filter((span) => isBelow(span, run)).map(({ name }) => name));
  for (const name of [
    'chat scripted',
    'execute_tool run_command',
    'sandbox command',
    'git fetch',
    'git pushAside',
    'checks',
    'prove',
    'GitHub POST /repos/{owner}/{repo}/pulls',
  ])
    expect(names).toContain(name);
  expect([...new Set(trace.map(({ name }) => name))]).toContain('job mirror');
});

test('spans have no text of people, models or repositories, and no credentials', () => {
  const sent = receiver.requests.map(({ text }) => text).join('\n');
  for (const canary of [
    ...[issue.title, 'brûlée', 'slugify.js', 'node --test', headerCanary],
    ...[world.settings.OPENAI_API_KEY, world.settings.WEBHOOK_SECRET, ...world.github.pushes.map(({ token }) => token)],
  ])
    expect([canary, sent.includes(String(canary))]).toEqual([canary, false]);
});

test('the log has one line for each delivery, move and end, with the ids of the trace, and no other', () => {
  const lines = worker
    .log()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  const about = lines.filter(({ taskId, deliveryId, runId }) =>
    [taskId, deliveryId, runId].some((id) => id !== undefined),
  );
  const said = (msg: string) => about.filter((line) => line.msg === msg);
  expect(new Set(about.map(({ msg }) => msg))).toEqual(new Set(['delivery handled', 'task moved', 'run ended']));
  const ids = said('delivery handled').map(({ deliveryId }) => deliveryId);
  expect(new Set(ids).size).toBe(ids.length);
  expect(said('task moved').map(({ event, from, to }) => [event, from, to])).toEqual([
    ['start', expect.any(String), 'in_progress'],
    ['propose', 'in_progress', 'in_review'],
  ]);
  expect(said('task moved')[0]).toMatchObject({ deliveryId: expect.any(String), taskId: task.id });
  const runId = run.attributes['deckhand.run.id'];
  expect(said('run ended')).toEqual([
    expect.objectContaining({ taskId: task.id, runId, status: 'succeeded', traceId: run.traceId }),
  ]);
});
