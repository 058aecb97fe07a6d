import type { App } from './app.ts';
import { hasRoom } from './disk.ts';
import { syncInstallations } from './github/app/installation.ts';
import { adoptStoredApp } from './github/app/stored-app.ts';
import { advancePlan } from './github/commands/plan-verbs.ts';
import { proposePrd } from './github/commands/propose-prd.ts';
import { reconcileAll } from './github/follow/heal.ts';
import { refreshPullJob } from './github/follow/refresh-pull.ts';
import { handleDelivery, requeueForgotten } from './github/inbox/receive.ts';
import { redeliverFailed } from './github/inbox/redeliver.ts';
import { syncMilestones } from './github/mirror/milestones.ts';
import { syncTask } from './github/mirror/sync.ts';
import type { JobName } from './queue/names.ts';
import type { Handlers } from './queue/queue.ts';
import { removeOld } from './retention.ts';
import { wakeForWaitingRuns, workOnRuns } from './runs/lease/work.ts';
import { continueTask } from './runs/split.ts';
import { advanceAllSprints, advanceSprint } from './sprints/advance-sprint.ts';
import { cancelRun } from './sprints/end-sprint.ts';
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
    mirror: (job) => syncTask(app, job),
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
