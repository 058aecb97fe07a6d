import { writeSuggestions } from './agents/learning/suggestions.ts';
import type { App } from './app.ts';
import { deleteOldAuditRecords } from './audit/records.ts';
import { automationWaker, makeDueTask, pauseBroken } from './automations/fire.ts';
import { rehearsalDays } from './automations/occurrences.ts';
import { deleteOldCauses } from './automations/store.ts';
import type { Config } from './config.ts';
import { hasRoom } from './data-folders.ts';
import { runEnvironmentTrial } from './environment/run-trial.ts';
import { syncInstallations } from './github/app/installation.ts';
import { deleteOldSignIns } from './github/app/one-time.ts';
import { forgetOldPaces, forStranger } from './github/app/pacing.ts';
import { adoptStoredApp } from './github/app/stored-app.ts';
import { answerTrial } from './github/commands/notices.ts';
import { deleteOldDeliveries, forgetHandledCommands, forgetPayloads } from './github/delivery-store.ts';
import { eachApart } from './github/each-apart.ts';
import { proveAgainJob } from './github/follow/prove-pulls.ts';
import { refreshDiffJob } from './github/follow/refresh-diff.ts';
import { refreshPullJob } from './github/follow/refresh-pull.ts';
import { compareJob, reconcileAll } from './github/inbox/compare-with-github.ts';
import { handleDelivery, requeueForgotten } from './github/inbox/receive.ts';
import { redeliverFailed } from './github/inbox/redeliver.ts';
import { syncMilestones } from './github/mirror/milestones.ts';
import { showHeadJob } from './github/mirror/proofs/show-proofs.ts';
import { syncTask } from './github/mirror/sync.ts';
import { tidy, tidyAgain } from './github/mirror/tidy.ts';
import { advancePlan } from './github/planning/advance-plan.ts';
import { proposePrd } from './github/planning/propose-prd.ts';
import { forgetOldKeys } from './http/idempotency.ts';
import { advanceTrial, wakeTrials } from './lab/trial-advance.ts';
import { sendMail, wakeMail } from './notices/mail/deliver.ts';
import { forgetOldMail } from './notices/mail/store.ts';
import { sendWebhook, wakeWebhooks } from './notices/webhooks/deliver.ts';
import { deleteOldWebhookDeliveries } from './notices/webhooks/store.ts';
import { forgetOldEvents } from './projects/events.ts';
import { deleteOldSessions } from './projects/store.ts';
import type { JobName, JobPolicy, Jobs, Worker, Workers } from './queue/names.ts';
import { deleteOldEvents } from './runs/journal.ts';
import { reviewAgain } from './runs/reviewing/ask.ts';
import { deleteOldTurns } from './runs/taking-up/turn-store.ts';
import { advanceAllSprints, advanceSprint } from './sprints/advance-sprint.ts';
import { writeDigest } from './sprints/digest.ts';
import { cancelSprintRun } from './sprints/end-sprint.ts';
import { endDueSnoozes } from './tasks/inbox.ts';
import { deleteOldDiffs } from './tasks/work-store.ts';
import type { LogIds } from './tracing/traced.ts';
import { noteWorker, releaseUnclaimed } from './worker/lease/labels.ts';
import { deleteOldReconciliations } from './worker/lease/reconcile.ts';
import { queueRunJobIfDue, queueRunJobIfExpired, workOnRuns } from './worker/lease/work-on-runs.ts';
import { findCollisions } from './worker/radar/find-collisions.ts';
import { continueTask } from './worker/split.ts';
import { deleteOldContexts } from './worker/turns.ts';

/** Rows deleted by one statement, so that it does not hold locks for long. */
const portion = 500;
/** Time limit for one table. The rest is removed by the next sweep. */
const patienceMs = 60_000;

/** What a command of a comment did is remembered for longer than GitHub can deliver the comment again. */
const keepCommandsDays = 90;

/** Removes rows that are older than the settings say; 0 days keep them forever. */
export async function removeOld(app: App): Promise<void> {
  const { KEEP_DELIVERIES, KEEP_RUN_EVENTS, KEEP_TURNS, AUDIT_DAYS } = app.config;
  const em = app.db.manager;
  await inPortions(app, KEEP_DELIVERIES, (days) => deleteOldDeliveries(em, days, portion));
  await inPortions(app, rehearsalDays, (days) => forgetPayloads(em, days, portion));
  await inPortions(app, KEEP_DELIVERIES, (days) => deleteOldReconciliations(em, days, portion));
  await inPortions(app, keepCommandsDays, (days) => forgetHandledCommands(em, days, portion));
  await inPortions(app, KEEP_RUN_EVENTS, (days) => deleteOldDiffs(em, days, portion));
  await inPortions(app, KEEP_DELIVERIES, (days) => deleteOldWebhookDeliveries(em, days, portion));
  await inPortions(app, KEEP_RUN_EVENTS, (days) => deleteOldEvents(em, days, portion));
  await inPortions(app, KEEP_TURNS, (days) => deleteOldTurns(em, days, portion));
  await inPortions(app, KEEP_TURNS, (days) => deleteOldContexts(em, days, portion));
  await inPortions(app, AUDIT_DAYS, (days) => deleteOldAuditRecords(em, days, portion));
  // They have a time limit of their own, which no setting changes.
  await inPortions(app, 1, () => deleteOldCauses(em, portion));
  await inPortions(app, 1, (days) => deleteOldSessions(em, days, portion));
  await deleteOldSignIns(em);
  await forgetOldMail(em);
  await forgetOldKeys(app.db);
  await forgetOldPaces(app.db);
  await forgetOldEvents(em);
}

async function inPortions(app: App, days: number, remove: (days: number) => Promise<number>): Promise<void> {
  if (days === 0) return;
  const end = performance.now() + patienceMs;
  let removed = portion;
  while (removed === portion && performance.now() < end && !app.stopping.aborted) removed = await remove(days);
}

/** Everything about the jobs of one name except their payload, which queue/names.ts declares for senders. */
interface Job<N extends JobName> extends JobPolicy {
  /** Number of these jobs that one worker process handles at the same time. */
  concurrency: number | ((config: Config) => number);
  /**
   * Whether a tenant may hold at most half of them, so at least two are needed. A handler may wait for a host or a model
   * that does not answer. Jobs without data belong to no tenant: `run` claims runs of all projects in turn, and the others go
   * through all tenants in one job.
   */
  isShared: Jobs[N] extends Record<string, never> ? false : true;
  handle(app: App, payload: Jobs[N]): Promise<void>;
}

const idIn = (key: string) => `$2::jsonb ->> '${key}'`;

/** SQL: the project, installation or user that a job is about, by each field of its payload $2 that says it. The first one counts. */
const ownerBy = {
  account: idIn('account'),
  projectId: idIn('projectId'),
  taskId: `(select project_id from tasks where id = ${idIn('taskId')})`,
  repositoryId: `(select project_id from repositories where id = ${idIn('repositoryId')})`,
  sprintId: `(select project_id from sprints where id = ${idIn('sprintId')})`,
  automationId: `(select project_id from automations where id = ${idIn('automationId')})`,
  trialId: `(select r.project_id from environment_trials t join repositories r on r.id = t.repository_id
    where t.id = ${idIn('trialId')})`,
  userId: idIn('userId'),
};

/**
 * Returns the SQL of whose job it is, usually a project's, by its payload $2; see `QueueOptions`. The projects that a person created
 * without an installation count as one, as in the budget of a day: otherwise, more projects would be more turns.
 */
export function tenantOf(payload: object): string {
  const owners = Object.entries(ownerBy).flatMap(([field, owner]) => (field in payload ? [owner] : []));
  return `(select coalesce(p.created_by, o.owner) from (select coalesce(${[...owners, 'null'].join(', ')}) as owner) o
    left join projects p on p.id = o.owner)`;
}

/** Returns a handler that asks GitHub as a stranger does when the job is about what a stranger did. */
function ofWhom<P extends object>(handle: (app: App, payload: Omit<P, 'isOfStranger'>) => Promise<void>) {
  return (app: App, { isOfStranger, ...payload }: P & { isOfStranger?: boolean }): Promise<void> =>
    isOfStranger ? forStranger(() => handle(app, payload)) : handle(app, payload);
}

export const jobs: { [N in JobName]: Job<N> } = {
  delivery: {
    once: false,
    retries: 6,
    concurrency: 6,
    isShared: true,
    handle: (app, { guid }) => handleDelivery(app, guid),
  },
  run: {
    once: false,
    // Not retried: the schedule looks for runs to claim every few seconds.
    retries: 0,
    concurrency: (config) => config.MAX_CONCURRENT_RUNS,
    isShared: false,
    handle: async (app) => {
      if (await hasRoom(app.workDir)) await workOnRuns(app);
    },
  },
  continue: {
    once: true,
    retries: 5,
    concurrency: 2,
    isShared: true,
    handle: (app, { taskId }) => continueTask(app, taskId),
  },
  mirror: { once: true, retries: 10, concurrency: 6, isShared: true, handle: (app, job) => syncTask(app, job) },
  tidy: { once: true, retries: 10, concurrency: 2, isShared: true, handle: (app, job) => tidy(app, job) },
  sprint: {
    once: true,
    retries: 5,
    concurrency: 2,
    isShared: true,
    handle: (app, { projectId }) => advanceSprint(app, projectId),
  },
  // Not retried: the schedule sends it again while it is due.
  automation: {
    once: true,
    retries: 0,
    concurrency: 4,
    isShared: true,
    handle: (app, { automationId }) => makeDueTask(app, automationId),
  },
  digest: {
    once: false,
    retries: 2,
    concurrency: 2,
    isShared: true,
    handle: (app, { sprintId }) => writeDigest(app, sprintId),
  },
  // Not retried: a later reader asks again.
  suggestions: {
    once: false,
    retries: 0,
    concurrency: 2,
    isShared: true,
    handle: (app, asked) => writeSuggestions(app, asked),
  },
  milestones: {
    once: true,
    retries: 10,
    concurrency: 2,
    isShared: true,
    handle: (app, { projectId }) => syncMilestones(app, projectId),
  },
  // Not retried: the next sweep sends it again.
  compare: {
    once: false,
    retries: 0,
    concurrency: 4,
    isShared: true,
    handle: (app, { projectId }) => compareJob(app, projectId),
  },
  plan: { once: true, retries: 6, concurrency: 4, isShared: true, handle: (app, plan) => advancePlan(app, plan) },
  cancel: {
    once: false,
    retries: 6,
    concurrency: 2,
    isShared: true,
    handle: (app, { taskId, runId }) => cancelSprintRun(app, taskId, runId),
  },
  prd: {
    once: true,
    retries: 5,
    concurrency: 2,
    isShared: true,
    handle: proposePrd,
  },
  trial: {
    once: false,
    retries: 2,
    concurrency: (config) => Math.max(2, config.MAX_CONCURRENT_RUNS),
    isShared: true,
    handle: runEnvironmentTrial,
  },
  trialAnswer: { once: false, retries: 6, concurrency: 2, isShared: true, handle: answerTrial },
  agentTrial: { once: true, retries: 5, concurrency: 2, isShared: true, handle: (app, job) => advanceTrial(app, job) },
  pull: { once: true, retries: 5, concurrency: 2, isShared: true, handle: (app, pull) => refreshPullJob(app, pull) },
  // Until an installation that GitHub has asked to pause for an hour may ask again.
  proofCheck: {
    once: true,
    retries: 120,
    concurrency: 2,
    isShared: true,
    handle: (app, head) => showHeadJob(app, head),
  },
  proof: {
    once: true,
    retries: 120,
    concurrency: 2,
    isShared: true,
    handle: ofWhom(proveAgainJob),
  },
  // Each retry may clone for minutes. The next reading of the pull request asks again.
  diff: { once: true, retries: 2, concurrency: 2, isShared: true, handle: (app, pull) => refreshDiffJob(app, pull) },
  // As `diff`: each retry may clone, and the next push asks again.
  collisions: {
    once: true,
    retries: 2,
    concurrency: 2,
    isShared: true,
    handle: ofWhom(findCollisions),
  },
  review: { once: true, retries: 5, concurrency: 2, isShared: true, handle: (app, asked) => reviewAgain(app, asked) },
  // Not retried: deliveries have their own times, and the schedule looks for those that are due.
  webhook: { once: true, retries: 0, concurrency: 6, isShared: true, handle: (app, job) => sendWebhook(app, job) },
  mail: { once: true, retries: 10, concurrency: 2, isShared: true, handle: (app, { userId }) => sendMail(app, userId) },
  redeliver: { once: true, retries: 0, concurrency: 1, isShared: false, handle: (app) => redeliverFailed(app) },
  sweep: { once: true, retries: 0, concurrency: 1, isShared: false, handle: sweep },
};

/** Jobs that continue the traces of what they handle: deliveries and runs. */
const continuing: ReadonlySet<JobName> = new Set<JobName>(['delivery', 'run']);

function idsIn(payload: Jobs[JobName]): LogIds {
  return {
    ...('taskId' in payload && { taskId: payload.taskId }),
    ...('runId' in payload && { runId: payload.runId }),
  };
}

/** Returns the job handlers for the queue of a worker process. */
export function workersOf(app: App): Workers {
  const worker = <N extends JobName>(name: N, { concurrency: of, isShared, handle }: Job<N>): Worker<N> => {
    const concurrency = typeof of === 'number' ? of : of(app.config);
    const limit = isShared ? { mostOfTenant: Math.ceil(concurrency / 2) } : {};
    const traced = (payload: Jobs[N], parent: string | undefined) =>
      app.traces.begin({ name: `job ${name}`, kind: 'consumer', parent, ids: idsIn(payload) }, () =>
        handle(app, payload),
      );
    return { concurrency, ...limit, handle: continuing.has(name) ? (payload) => handle(app, payload) : traced };
  };
  const named = Object.entries(jobs).map(([name, job]) => [name, worker(name as JobName, job as Job<JobName>)]);
  return Object.fromEntries(named) as unknown as Workers;
}

async function sweep(app: App): Promise<void> {
  // These need only the database, so they come before the work that fails while GitHub is unavailable.
  const parts = {
    removeOld,
    requeueForgotten,
    pauseBroken,
    tidyAgain,
    syncInstallations,
    reconcile: () => reconcileAll(app, 'scheduled'),
    advanceAllSprints,
  };
  const about = ([part]: [string, unknown]) => ({ part });
  await eachApart(app, Object.entries(parts), about, ([, work]) => work(app));
}

/** Queues the jobs for what webhooks and people are to get now. */
export async function wakeNotices(app: App): Promise<void> {
  await wakeWebhooks(app);
  await wakeMail(app);
}

/** Returns the scheduled work: cron expressions and actions. */
export function scheduleOf(app: App, workerId: string): [string, () => Promise<void>][] {
  const wakeAutomations = automationWaker(app);
  let beats = 0;
  return [
    [
      `*/${Math.min(59, app.config.RUN_HEARTBEAT_SECONDS)} * * * * *`,
      async () => {
        await noteWorker(app.db.manager, workerId, app.config.RUNS_ON);
        await queueRunJobIfDue(app);
        await wakeTrials(app);
        await wakeNotices(app);
        // What may wait is looked for less often, because an idle worker should cost the database little.
        if (beats++ % 3 !== 0) return;
        // Another process may have stored an App that was created on its setup page.
        await adoptStoredApp(app);
        await releaseUnclaimed(app.db.manager);
        await queueRunJobIfExpired(app);
        await endDueSnoozes(app.db.manager);
      },
    ],
    // Automations may have seconds.
    ['*/2 * * * * *', wakeAutomations],
    [
      `30 */${app.config.REDELIVERY_MINUTES} * * * *`,
      () => app.queue.send(undefined, 'redeliver', {}, { key: 'redeliver' }),
    ],
    [`0 */${app.config.RECONCILE_MINUTES} * * * *`, () => app.queue.send(undefined, 'sweep', {}, { key: 'sweep' })],
  ];
}
