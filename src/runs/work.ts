import type { App } from '../app.ts';
import { violatedUnique } from '../db/database.ts';
import type { RunRow } from '../db/work-tables.ts';
import { holdHere, letGo } from './live.ts';
import { runTask } from './run-task.ts';
import { claimRun, hasClaimable, LeaseLost, releaseLease, renewLease } from './store.ts';

/** Takes runs as long as there are any; the handler of the `run` job. */
export async function workOnRuns(app: App): Promise<void> {
  while (!app.stopping.aborted) {
    const run = await claimRun(app.db.manager, app.config.RUN_LEASE_SECONDS).catch((error) => {
      // Two workers chose runs of one agent in the same moment: the index let one of them, the other looks again.
      if (violatedUnique(error) !== 'runs_busy_agent') throw error;
      return 'again' as const;
    });
    if (run === 'again') continue;
    if (run === undefined) return;
    await holdAndRun(app, run);
  }
}

/** Wakes a worker when runs wait: after a lost notification, or when a lease has lapsed. */
export async function wakeForWaitingRuns(app: App): Promise<void> {
  if (await hasClaimable(app.db.manager)) await app.queue.send(undefined, 'run', {});
}

async function holdAndRun(app: App, run: RunRow): Promise<void> {
  const here = holdHere(run.id);
  const stop = () => here.abort(app.stopping.reason);
  app.stopping.addEventListener('abort', stop, { once: true });
  const began = performance.now();
  app.metrics.liveRuns.inc();
  const heart = setInterval(() => {
    renewLease(app.db.manager, run, app.config.RUN_LEASE_SECONDS).catch((error) => {
      // With the database away the lease lapses by itself, and every write asks for the fence.
      if (error instanceof LeaseLost) here.abort(error);
      else app.log.warn({ err: error, runId: run.id }, 'lease not renewed');
    });
  }, app.config.RUN_HEARTBEAT_SECONDS * 1000);
  try {
    await runTask(app, run, here.signal);
  } catch (error) {
    const isLost = error instanceof LeaseLost || here.signal.reason instanceof LeaseLost;
    if (isLost) app.log.warn({ runId: run.id }, 'run left to whoever holds it now');
    else if (!here.signal.aborted) app.log.error({ err: error, runId: run.id }, 'run interrupted');
    await releaseLease(app.db.manager, run).catch(() => {});
  } finally {
    clearInterval(heart);
    app.stopping.removeEventListener('abort', stop);
    letGo(run.id, here);
    app.metrics.liveRuns.dec();
    app.metrics.runSeconds.observe({ status: 'ended' }, (performance.now() - began) / 1000);
  }
}
