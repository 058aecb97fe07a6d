import { mock } from 'node:test';
import { QueryClient } from '@tanstack/react-query';
import { until } from '../../../demo/real-service.ts';
import type { Board } from '../../../src/web/api.ts';
import { subscribe } from '../../../src/web/live/event-stream.ts';
import { followEarly, followProject, takeOver } from '../../../src/web/live/project-events.ts';
import * as queries from '../../../src/web/live/queries.ts';
import { openTimeline } from '../../../src/web/runs/timeline.ts';
import { followLog } from '../../../src/web/runs/use-run-log.ts';
import { type StreamBrowser, streamBrowser } from '../../support/stand-ins/event-source.ts';

// What must not be lost between a page and its event stream.

let browser: StreamBrowser;
let client: QueryClient;
let states: string[];

beforeEach(() => {
  browser = streamBrowser();
  client = new QueryClient();
  states = [];
  for (const key of cached) client.setQueryData(key, []);
  client.setQueryData<Board>(boardKey, { total: 0, tasks: [], agents: [], people: [], sprints: [] });
});
afterEach(() => {
  client.clear();
  browser.restore();
});

const { queryKey: boardKey } = queries.board('proj_1');
const cached = [
  ['task', 'a'],
  ['runs', 'a'],
];
const stale = () =>
  [...cached, boardKey].filter((key) => client.getQueryState(key)?.isInvalidated).map(([kind]) => kind);

/** Follows the project with a patience that no test uses up. */
const follow = () => followProject(client, 'proj_1', (state) => states.push(state), 60_000);

test('when a stream opens in time, only what was fetched before it is fetched again', () => {
  const unfollow = follow();
  expect(browser.addresses()).toEqual(['/api/v1/projects/proj_1/events?heartbeat=15']);
  browser.open();
  expect([states, stale()]).toEqual([['open'], ['task']]);
  unfollow();
  expect(browser.addresses()).toEqual([]);
});

test('when pages did not wait for a slow stream, everything is fetched again once it opens', async () => {
  let unfollow = () => {};
  await new Promise<void>((resolve) => {
    unfollow = followProject(
      client,
      'proj_1',
      (state) => {
        states.push(state);
        resolve();
      },
      1,
    );
  });
  expect([states, stale()]).toEqual([['lost'], []]);
  browser.open();
  expect([states, stale()]).toEqual([
    ['lost', 'open'],
    ['task', 'runs', 'board'],
  ]);
  unfollow();
});

test('agents are fetched again when the status of a run changes, not with each of its steps', async () => {
  const unfollow = follow();
  browser.open();
  const invalidatedBy = async (...statuses: string[]) => {
    for (const key of [['run', 'run_1'], ['agents']]) client.setQueryData(key, {});
    for (const status of statuses) browser.send('run', { id: 'run_1', status });
    await new Promise<void>((resolve) => {
      const unsubscribe = client.getQueryCache().subscribe(() => {
        if (!client.getQueryState(['run', 'run_1'])?.isInvalidated) return;
        unsubscribe();
        resolve();
      });
    });
    return client.getQueryState(['agents'])?.isInvalidated;
  };
  expect(await invalidatedBy('running')).toBe(true);
  expect(await invalidatedBy('running', 'running')).toBe(false);
  expect(await invalidatedBy('waiting', 'waiting')).toBe(true);
  expect(await invalidatedBy('waiting')).toBe(false);
  unfollow();
});

test('a stream that was opened before the page is taken over, whether it has opened or not', () => {
  let opened = 0;
  const onOpen = () => {
    opened += 1;
  };
  const addresses = ['/api/v1/projects/proj_1/events?heartbeat=15'];
  followEarly(client, 'proj_1', onOpen);
  browser.open();
  const unfollow = takeOver(client, 'proj_1', (state) => states.push(state));
  expect([opened, states, browser.addresses()]).toEqual([1, ['open'], addresses]);
  unfollow();
  expect(browser.addresses()).toEqual([]);
  followEarly(client, 'proj_1', onOpen);
  const again = takeOver(client, 'proj_1', (state) => states.push(state));
  expect(states).toEqual(['open']);
  browser.open();
  expect([opened, states, browser.addresses()]).toEqual([2, ['open', 'open'], addresses]);
  again();
});

test('a stream that was opened early is closed when the first page is another one', () => {
  followEarly(client, 'proj_2', () => {});
  const unfollow = takeOver(client, 'proj_1', () => {});
  expect(browser.addresses()).toEqual(['/api/v1/projects/proj_1/events?heartbeat=15']);
  unfollow();
});

test('when a stream opens again, everything is fetched again', () => {
  const unfollow = follow();
  browser.open();
  browser.open();
  expect(stale()).toEqual(['task', 'runs', 'board']);
  unfollow();
});

test('a board that nobody follows any more is fetched again when it is shown', () => {
  const unfollow = follow();
  browser.open();
  // The page is left before the changes of this moment are handled.
  browser.send('task', { id: 'a' });
  unfollow();
  expect(stale()).toContain('board');
});

test('windows share a stream, and another one opens it when the window that has it leaves', async () => {
  browser.restore();
  browser = streamBrowser(true);
  const heard: string[] = [];
  const openWindow = (name: string) => {
    const events = { task: ({ data }: MessageEvent<string>) => void heard.push(`${name} ${data}`) };
    const onOpen = (isFirst: boolean) => void heard.push(`${name} ${isFirst ? 'opened' : 'opened again'}`);
    return subscribe('/shared', { events, onOpen }, { isShared: true });
  };
  const all = (...expected: string[]) =>
    until('all windows to hear it', async () => expected.every((each) => heard.includes(each)));
  const leaveFirst = openWindow('first');
  await until('the stream', async () => browser.addresses().length === 1);
  browser.open();
  // A window that opens later learns that the stream is open.
  const leaveSecond = openWindow('second');
  await all('first opened', 'second opened');
  browser.send('task', { id: 1 });
  await all('first {"id":1}', 'second {"id":1}');
  expect(browser.addresses()).toEqual(['/shared']);
  leaveFirst();
  await until('the other stream', async () => browser.addresses().length === 1);
  browser.open();
  await all('second opened again');
  browser.send('task', { id: 2 });
  await all('second {"id":2}');
  leaveSecond();
  expect([browser.addresses(), heard.filter((each) => each.startsWith('first'))]).toEqual([
    [],
    ['first opened', 'first {"id":1}'],
  ]);
});

test('a stream on which nothing arrives counts as lost and is opened again, until something arrives', () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  const heard: string[] = [];
  const handlers = {
    events: { task: () => void heard.push('task') },
    onOpen: (isFirst: boolean) => void heard.push(isFirst ? 'open' : 'open again'),
    onLost: () => void heard.push('lost'),
  };
  try {
    const leave = subscribe('/quiet', handlers, { silenceMs: 40_000 });
    browser.open();
    for (const name of ['heartbeat', 'task', 'heartbeat']) {
      mock.timers.tick(39_000);
      browser.send(name, {});
    }
    expect(heard).toEqual(['open', 'task']);
    mock.timers.tick(40_000);
    // The service still hangs, so the next stream does not even open.
    mock.timers.tick(40_000);
    expect(browser.addresses()).toEqual(['/quiet?heartbeat=15']);
    browser.open();
    expect(heard).toEqual(['open', 'task', 'lost', 'lost', 'open again']);
    leave();
    mock.timers.tick(100_000);
    expect([browser.addresses(), heard.length]).toEqual([[], 5]);
  } finally {
    mock.timers.reset();
  }
});

/** Refuses a stream with this reason until something is true. */
async function refuseUntil(isTrue: () => boolean): Promise<void> {
  const before = globalThis.fetch;
  globalThis.fetch = async () =>
    Response.json({ statusCode: 429, message: 'At most 10 open streams' }, { status: 429 });
  browser.refuse();
  await until('the reason', async () => isTrue()).finally(() => {
    globalThis.fetch = before;
  });
}

test('a page that is refused a stream says why', async () => {
  const reasons: string[] = [];
  const leave = subscribe('/refused', {
    events: {},
    onRefused: async (reason) => {
      reasons.push(reason);
      return false;
    },
  });
  await refuseUntil(() => reasons.length > 0);
  expect(reasons).toEqual(['At most 10 open streams']);
  leave();
});

test('the log of a run says why it is refused a stream, until it has one', async () => {
  const said: string[] = [];
  const leave = followLog('run_1', openTimeline(), {
    show: () => {},
    setState: (state) => void said.push(state),
    setRefusal: (reason) => void said.push(reason ?? 'nothing'),
    onGap: () => {},
  });
  await refuseUntil(() => said.includes('At most 10 open streams'));
  browser.open();
  expect(said.slice(-3)).toEqual(['At most 10 open streams', 'live', 'nothing']);
  leave();
});
