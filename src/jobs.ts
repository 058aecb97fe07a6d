import type { App } from './app.ts';
import { hasRoom } from './disk.ts';
import { reconcileAll } from './github/heal.ts';
import { handleDelivery, requeueForgotten } from './github/inbox.ts';
import { syncInstallations } from './github/installation.ts';
import { syncMilestones } from './github/milestones.ts';
import { advancePlan } from './github/plan-verbs.ts';
import { proposePrd } from './github/propose-prd.ts';
import { redeliverFailed } from './github/redeliver.ts';
import { refreshPullJob } from './github/refresh-pull.ts';
import { adoptStoredApp } from './github/stored-app.ts';
import { syncTask } from './github/sync.ts';
import type { JobName } from './queue/names.ts';
import type { Handlers } from './queue/queue.ts';
import { removeOld } from './retention.ts';
import { advanceAllSprints, advanceSprint } from './runs/advance-sprint.ts';
import { cancelRun } from './runs/end-sprint.ts';
import { continueTask } from './runs/split.ts';
import { wakeForWaitingRuns, workOnRuns } from './runs/work.ts';
import { writeDigest } from './sprints/write-digest.ts';

/** Which job is handled by what. */
export function handlersOf(app: App): Handlers {
  return {
    delivery: ({ guid }) => handleDelivery(app, guid),
    run: async () => {
      // Runs that wait are looked for again every few seconds.
      if (await hasRoom(app.workDir)) await workOnRuns(app);
    },
    continue: ({ taskId }) => continueTask(app, taskId),
    mirror: ({ taskId }) => syncTask(app, taskId),
    sprint: ({ projectId }) => advanceSprint(app, projectId),
    digest: ({ sprintId }) => writeDigest(app, sprintId),
    milestones: () => syncMilestones(app),
    plan: (at) => advancePlan(app, at),
    cancel: ({ taskId, runId }) => cancelRun(app, taskId, runId),
    prd: ({ projectId, sessionId }) => proposePrd(app, projectId, sessionId),
    pull: (at) => refreshPullJob(app, at),
    redeliver: () => redeliverFailed(app),
    sweep: async () => {
      // First, because it needs nothing but the database.
      await removeOld(app);
      await syncInstallations(app);
      await reconcileAll(app, 'scheduled', null);
      await advanceAllSprints(app);
      await requeueForgotten(app);
    },
  };
}

/** How many of each a worker works on at once. */
export function concurrencyOf(app: App): { [name in JobName]: number } {
  return {
    delivery: 4,
    run: app.config.MAX_CONCURRENT_RUNS,
    continue: 1,
    mirror: 4,
    sprint: 1,
    digest: 1,
    milestones: 1,
    plan: 2,
    cancel: 2,
    prd: 1,
    pull: 2,
    redeliver: 1,
    sweep: 1,
  };
}

/** What is looked at from time to time, whether or not anything was said: cron expression → what to do. */
export function scheduleOf(app: App): [string, () => Promise<void>][] {
  return [
    [
      `*/${Math.min(59, app.config.RUN_HEARTBEAT_SECONDS)} * * * * *`,
      async () => {
        // Another process may have set the App up.
        await adoptStoredApp(app);
        await wakeForWaitingRuns(app);
      },
    ],
    [
      `30 */${app.config.REDELIVERY_MINUTES} * * * *`,
      () => app.queue.send(undefined, 'redeliver', {}, { key: 'redeliver' }),
    ],
    [`0 */${app.config.RECONCILE_MINUTES} * * * *`, () => app.queue.send(undefined, 'sweep', {}, { key: 'sweep' })],
  ];
}
