import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { Page } from 'playwright-core';
import type { Filled } from './fill.ts';
import { watchTraffic } from './load.ts';

/** What ten minutes of live events did to a page that showed the board. */
export interface Endured {
  events: number;
  requests: number;
  longestTaskMs: number;
  /** After garbage collections: at the beginning, in the middle and at the end. */
  heapMb: number[];
}

const noteLongTasks = `
  window.longTasks = [];
  new PerformanceObserver((list) => window.longTasks.push(...list.getEntries().map(({ startTime, duration }) => ({ startTime, duration }))))
    .observe({ type: 'longtask' });`;

/**
 * Ten minutes of a busy project: each second a step of a run, and each ten seconds a task that moves. They are sent
 * `factor` times as fast.
 */
export async function endureEvents(page: Page, db: pg.Client, filled: Filled, factor: number): Promise<Endured> {
  const { traffic, session } = await watchTraffic(page);
  await session.send('HeapProfiler.enable');
  const pageTime = async () => Number(await page.evaluate('performance.now()'));
  // The page did not cause the garbage collections of the measurement.
  const measuring: [from: number, until: number][] = [];
  const heap = async () => {
    const from = await pageTime();
    await session.send('HeapProfiler.collectGarbage');
    const { usedSize } = await session.send('Runtime.getHeapUsage');
    measuring.push([from, await pageTime()]);
    return usedSize / 1024 / 1024;
  };
  await page.evaluate(noteLongTasks);
  const heapMb = [await heap()];
  const seconds = 600;
  let events = 0;
  for (let second = 0; second < seconds; second++) {
    const nextAt = performance.now() + 1000 / factor;
    const runId = filled.runIds[second % filled.runIds.length];
    await db.query('update runs set steps = steps + 1, cost_usd = cost_usd + 0.01 where id = $1', [runId]);
    events += 1;
    if (second % 10 === 0) {
      await db.query(moveOne, [filled.projectId, second / 10]);
      events += 1;
    }
    if (second === seconds / 2) heapMb.push(await heap());
    await sleep(Math.max(0, nextAt - performance.now()));
  }
  heapMb.push(await heap());
  const longTasks = (await page.evaluate('window.longTasks')) as { startTime: number; duration: number }[];
  const ofPage = longTasks.filter(
    ({ startTime, duration }) => !measuring.some(([from, until]) => startTime < until && startTime + duration > from),
  );
  const longestTaskMs = Math.max(0, ...ofPage.map(({ duration }) => duration));
  return { events, requests: traffic.requests.length, longestTaskMs, heapMb };
}

/** Moves the nth task of the backlog to Ready, or back. */
const moveOne = `
  update tasks set status = case status when 'ready' then 'backlog' else 'ready' end, updated_at = now(), status_since = now()
  where id = (select id from tasks where project_id = $1 and status in ('backlog', 'ready') order by id offset $2 limit 1)`;
