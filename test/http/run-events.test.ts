import { AsyncResource } from 'node:async_hooks';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import express from 'express';
import { until } from '../../demo/real-service.ts';
import { answerEvents } from '../../src/http/events.ts';
import { followRun, openLiveText } from '../../src/runs/live-text.ts';
import { currentTenant, forPerson } from '../../src/threads/tenant.ts';
import { named } from '../support/http/event-stream.ts';
import { headOf, openRaw } from '../support/http/raw-http.ts';
import { openProject } from '../support/project.ts';

const { service, call, project, listen } = await openProject();

test('the log of a run is live and resumable, and ends with the run', async () => {
  const task = (await call('POST', `/projects/${project}/tasks`, { title: 't' })).body;
  const sql = (text: string) => service.app.db.manager.query(text, [task.id]);
  await sql(
    `insert into runs (id, task_id, project_id, kind, status) select 'run_live', $1, project_id, 'start', 'running' from tasks where id = $1`,
  );
  const say = (text: string) =>
    service.app.db.manager.query(
      `insert into run_events (run_id, type, text, data) values ('run_live', 'tool', $1, '{}')`,
      [text],
    );
  await say('one');
  const stream = await listen('/runs/run_live/events');
  await until('the first line', async () => stream.heard.length === 1);
  await say('two');
  await until('the second', async () => stream.heard.length === 2);
  await stream.stop();
  await say('three');
  const again = await listen('/runs/run_live/events', { 'Last-Event-ID': stream.heard[1]?.id ?? '' });
  await until('the third', async () => again.heard.length === 1);
  await service.app.db.manager.query(`update runs set status = 'failed' where id = 'run_live'`);
  await until('the end', async () => again.isEnded());
  expect(again.heard.map((h) => h.event)).toEqual(['tool', 'end']);
  expect((await call('GET', '/runs/run_live/events')).body.map((e: { text: string }) => e.text)).toEqual([
    'one',
    'two',
    'three',
  ]);
});

test('what a model is writing reaches every reader of the run, and is not stored', async () => {
  const task = (await call('POST', `/projects/${project}/tasks`, { title: 't' })).body;
  await service.app.db.manager.query(
    `insert into runs (id, task_id, project_id, kind, status) values ('run_text', $1, $2, 'start', 'running')`,
    [task.id, project],
  );
  const streams = await Promise.all([listen('/runs/run_text/events'), listen('/runs/run_text/events')]);
  // Another process, connected to the same database.
  const live = openLiveText(service.app.db, 'run_text', () => ['hunter2-hunter2']);
  const { onText } = live.ofTurn(() => 4);
  await until('the text', async () => {
    onText('It is hunter2-hunter2. ');
    await live.end();
    return streams.every(({ heard }) => named(heard, 'delta').length > 0);
  });
  for (const { heard } of streams)
    expect(named(heard, 'delta')[0]).toEqual({
      event: 'delta',
      data: { turn: 4, text: 'It is [a credential was removed]. ' },
    });
  expect((await call('GET', '/runs/run_text/events')).body).toEqual([]);
  await service.app.db.manager.query(`update runs set status = 'failed' where id = 'run_text'`);
  for (const stream of streams) {
    await until('the end', async () => named(stream.heard, 'end').length > 0);
    await stream.stop();
  }
});

test('for a slow reader, a long log waits in the database instead of in memory', async () => {
  const task = (await call('POST', `/projects/${project}/tasks`, { title: 't' })).body;
  await service.app.db.manager.query(
    `insert into runs (id, task_id, project_id, kind, status) values ('run_long', $1, $2, 'start', 'failed')`,
    [task.id, project],
  );
  await service.app.db.manager.query(
    `insert into run_events (run_id, type, text, data) select 'run_long', 'tool', 'step ' || n, '{}' from generate_series(1, 1200) n`,
  );
  const gone = new AbortController();
  let read = () => {};
  const told: unknown[] = [];
  const following = followRun(service.app, 'run_long', {
    lastEventId: undefined,
    signal: gone.signal,
    begin: () => {},
    send: (event) => told.push(event.event),
    drained: () =>
      new Promise<void>((resolve) => {
        read = resolve;
      }),
  });
  for (let pages = 1; pages <= 24; pages++) {
    await until('a page', async () => told.length >= pages * 50);
    expect(told).toHaveLength(pages * 50);
    read();
  }
  await following;
  expect([told.length, told.at(-1)]).toEqual([1201, 'end']);
  const { body } = await call('GET', '/runs/run_long/events');
  expect(body.map((e: { text: string }) => e.text)).toEqual(Array.from({ length: 1200 }, (_, i) => `step ${i + 1}`));
});

test('a reader who leaves everything unread is disconnected', async () => {
  const app = express();
  let sent = 0;
  let answered: Promise<void> | undefined;
  app.get('/', (req, res) => {
    const about = { userId: 'slow', stopping: new AbortController().signal, recheck: async () => {} };
    answered = answerEvents(req, res, about, async ({ send, signal }) => {
      for (; sent < 1000 && !signal.aborted; sent++) {
        send({ data: 'x'.repeat(100_000) });
        await setImmediate();
      }
    });
  });
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const raw = openRaw((server.address() as AddressInfo).port, headOf('GET /', {}));
  raw.socket.pause();
  await until('the request', async () => answered !== undefined);
  await answered;
  expect(sent).toBeLessThan(1000);
  server.close();
  server.closeAllConnections();
  raw.socket.destroy();
});

test('before an event is sent, the rights of its reader are checked, not of the person who caused it', async () => {
  const app = express();
  const checkedFor: (string | undefined)[] = [];
  app.get('/', (req, res) =>
    forPerson('reader', async () => {
      const recheck = async () => void checkedFor.push(currentTenant());
      const about = { userId: 'reader', stopping: new AbortController().signal, recheck };
      await answerEvents(req, res, about, async ({ send }) => {
        outside.run(() => send({ data: 'x' }));
      });
    }),
  );
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // As a notification of the database, which belongs to nobody.
  const outside = { run: AsyncResource.bind((act: () => void) => act()) };
  const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  expect(await answer.text()).toContain('data: "x"');
  expect(checkedFor).toEqual(['reader']);
  server.close();
});

test('the stream of a reader who left while access was checked ends', async () => {
  const app = express();
  let ended: boolean | undefined;
  app.get('/', async (req, res) => {
    raw.socket.destroy();
    await once(res, 'close');
    const about = { userId: 'gone', stopping: new AbortController().signal, recheck: async () => {} };
    await answerEvents(req, res, about, async ({ signal }) => {
      ended = signal.aborted;
    });
  });
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const raw = openRaw((server.address() as AddressInfo).port, headOf('GET /', {}));
  await until('the stream', async () => ended !== undefined);
  expect(ended).toBe(true);
  server.close();
});
