import type { EntityManager } from 'typeorm';
import type { Failure, RunStatus } from '../domain/run.ts';
import { storableJson, storableText } from '../domain/text/sanitize.ts';
import type { BenchmarkItem } from './benchmark-store.ts';

export const trialStatuses = ['running', 'done', 'cancelled', 'failed'] as const;
export type TrialStatus = (typeof trialStatuses)[number];

/** `error`: nobody knows whether the agent can do it, because something else prevented the run. It does not count. */
export const trialResults = ['solved', 'unsolved', 'error'] as const;
export type TrialResult = (typeof trialResults)[number];

/** A trial of an agent on the benchmark of a repository. */
export interface Trial {
  id: string;
  projectId: string;
  repositoryId: string;
  /** The version of the agent for which it was started. */
  agentId: string;
  startedBy: string | null;
  status: TrialStatus;
  /** Why it ended, as a sentence; null while it runs. */
  reason: string | null;
  /** From which the order of the items follows. */
  seed: string;
  /** What all runs of the trial may cost together. */
  budgetUsd: number;
  createdAt: Date;
  finishedAt: Date | null;
}

/** What a trial compares: 0 is tried, 1 is the other one. */
export interface TrialArm {
  arm: number;
  agentId: string;
  version: number;
  model: string;
  systemPrompt: string;
  promptHash: string;
}

/** An item of a benchmark as it was when the trial began. */
export type TrialItem = Pick<BenchmarkItem, 'title' | 'text' | 'baseSha' | 'solutionSha' | 'tests'> & {
  place: number;
  itemId: string;
};

/** A run of a trial, with what is known about it. */
export interface TrialRun {
  trialId: string;
  place: number;
  arm: number;
  itemId: string;
  title: string;
  runId: string;
  taskId: string;
  /** Null while the run is live. */
  result: TrialResult | null;
  reason: string | null;
  status: RunStatus;
  failure: Failure | null;
  costUsd: number | null;
  minutes: number;
}

const trialColumns = `t.id, t.project_id as "projectId", t.repository_id as "repositoryId", t.agent_id as "agentId",
  t.started_by as "startedBy", t.status, t.reason, t.seed, t.budget_usd::float8 as "budgetUsd",
  t.created_at as "createdAt", t.finished_at as "finishedAt"`;

/** For the access rule of a trial. */
export const trialSource = { columns: trialColumns, from: 'agent_trials t' };

const armColumns = `m.arm, m.agent_id as "agentId", m.version, m.model, m.system_prompt as "systemPrompt",
  m.prompt_hash as "promptHash"`;

const itemColumns = `i.place, i.item_id as "itemId", i.title, i.text, i.base_sha as "baseSha",
  i.solution_sha as "solutionSha", i.tests`;

export async function insertTrial(
  em: EntityManager,
  trial: Pick<Trial, 'id' | 'projectId' | 'repositoryId' | 'agentId' | 'startedBy' | 'seed' | 'budgetUsd'>,
  arms: TrialArm[],
  items: TrialItem[],
): Promise<void> {
  await em.query(
    `insert into agent_trials (id, project_id, repository_id, agent_id, started_by, status, seed, budget_usd)
     values ($1, $2, $3, $4, $5, 'running', $6, $7)`,
    [
      ...[trial.id, trial.projectId, trial.repositoryId, trial.agentId, trial.startedBy],
      ...[trial.seed, trial.budgetUsd],
    ],
  );
  for (const arm of arms)
    await em.query(
      `insert into agent_trial_arms (trial_id, arm, agent_id, version, model, system_prompt, prompt_hash)
       values ($1, $2, $3, $4, $5, $6, $7)`,
      [trial.id, arm.arm, arm.agentId, arm.version, arm.model, arm.systemPrompt, arm.promptHash],
    );
  for (const item of items)
    await em.query(
      `insert into agent_trial_items (trial_id, place, item_id, title, text, base_sha, solution_sha, tests)
       values ($1, $2, $3, $4, $5, $6, $7, $8)`,
      [
        ...[trial.id, item.place, item.itemId, storableText(item.title), storableText(item.text)],
        ...[item.baseSha, item.solutionSha, storableJson(item.tests)],
      ],
    );
}

export async function findTrial(em: EntityManager, id: string): Promise<Trial | undefined> {
  const rows: Trial[] = await em.query(`select ${trialColumns} from agent_trials t where t.id = $1`, [
    storableText(id),
  ]);
  return rows[0];
}

/** Locks a running trial until the transaction ends; undefined if it has ended. */
export async function lockRunningTrial(em: EntityManager, id: string): Promise<Trial | undefined> {
  const rows: Trial[] = await em.query(
    `select ${trialColumns} from agent_trials t where t.id = $1 and t.status = 'running' for update`,
    [id],
  );
  return rows[0];
}

/**
 * Returns the trials in which some version of an agent was tried or compared, in the projects of a user, the latest first.
 */
export async function listTrials(
  em: EntityManager,
  { userId, lineId }: { userId: string; lineId: string },
  { limit, offset }: { limit: number; offset: number },
): Promise<Trial[]> {
  return em.query(
    `select ${trialColumns} from agent_trials t join members u on u.project_id = t.project_id and u.user_id = $1
     where exists (
       select from agent_trial_arms m join agents a on a.id = m.agent_id where m.trial_id = t.id and a.line_id = $2)
     order by t.created_at desc, t.id desc limit $3 offset $4`,
    [userId, lineId, limit, offset],
  );
}

/** An arm with the name that its agent has now, and whether that has the prompt now that was tried. */
export type NamedArm = TrialArm & { trialId: string; name: string; isCurrent: boolean };

/** Returns the arms of some trials. */
export async function listArms(em: EntityManager, trialIds: string[]): Promise<NamedArm[]> {
  return em.query(
    `select m.trial_id as "trialId", ${armColumns}, a.name,
       m.prompt_hash = encode(sha256(convert_to(a.system_prompt, 'UTF8')), 'hex') as "isCurrent" /* not null */
     from agent_trial_arms m join agents a on a.id = m.agent_id where m.trial_id = any($1) order by 1, 2`,
    [trialIds],
  );
}

/** Returns how many items some trials have. */
export async function countItems(em: EntityManager, trialIds: string[]): Promise<Map<string, number>> {
  const rows: { trialId: string; count: number }[] = await em.query(
    `select i.trial_id as "trialId", count(*)::int as count from agent_trial_items i where i.trial_id = any($1) group by 1`,
    [trialIds],
  );
  return new Map(rows.map(({ trialId, count }) => [trialId, count]));
}

/** Returns the runs of some trials, in the order of the items. */
export async function listTrialRuns(em: EntityManager, trialIds: string[]): Promise<TrialRun[]> {
  return em.query(
    `select x.trial_id as "trialId", x.place, x.arm, i.item_id as "itemId", i.title, x.run_id as "runId",
       r.task_id as "taskId", x.result, x.reason, r.status, r.failure, r.cost_usd::float8 as "costUsd",
       coalesce(greatest(0, extract(epoch from r.finished_at - r.started_at) - r.waited_seconds) / 60, 0)::float8 as minutes
     from agent_trial_runs x join agent_trial_items i on i.trial_id = x.trial_id and i.place = x.place
     join runs r on r.id = x.run_id
     where x.trial_id = any($1) order by x.trial_id, x.place, x.arm`,
    [trialIds],
  );
}

/** Returns an item of a trial; undefined behind the last one. */
export async function findTrialItem(em: EntityManager, trialId: string, place: number): Promise<TrialItem | undefined> {
  const rows: TrialItem[] = await em.query(
    `select ${itemColumns} from agent_trial_items i where i.trial_id = $1 and i.place = $2`,
    [trialId, place],
  );
  return rows[0];
}

export async function insertTrialRun(
  em: EntityManager,
  { runId, trialId, place, arm }: Pick<TrialRun, 'runId' | 'trialId' | 'place' | 'arm'>,
): Promise<void> {
  await em.query('insert into agent_trial_runs (run_id, trial_id, place, arm) values ($1, $2, $3, $4)', [
    runId,
    trialId,
    place,
    arm,
  ]);
}

/** Stores how a run ended. A result that is known already stays. */
export async function setTrialResult(
  em: EntityManager,
  runId: string,
  { result, reason }: { result: TrialResult; reason: string | null },
): Promise<void> {
  await em.query('update agent_trial_runs set result = $2, reason = $3 where run_id = $1 and result is null', [
    runId,
    result,
    reason === null ? null : storableText(reason).slice(0, 2000),
  ]);
}

/** Returns what a run of the kind `trial` tries: the item, and the arm. */
export async function findTriedItem(
  em: EntityManager,
  runId: string,
): Promise<{ trialId: string; projectId: string; item: TrialItem; arm: TrialArm } | undefined> {
  const rows: (TrialItem & TrialArm & { trialId: string; projectId: string })[] = await em.query(
    `select x.trial_id as "trialId", t.project_id as "projectId", ${itemColumns}, ${armColumns}
     from agent_trial_runs x join agent_trials t on t.id = x.trial_id
     join agent_trial_items i on i.trial_id = x.trial_id and i.place = x.place
     join agent_trial_arms m on m.trial_id = x.trial_id and m.arm = x.arm where x.run_id = $1`,
    [runId],
  );
  const [found] = rows;
  if (found === undefined) return undefined;
  const { trialId, projectId, arm, agentId, version, model, systemPrompt, promptHash: hash, ...item } = found;
  return { trialId, projectId, item, arm: { arm, agentId, version, model, systemPrompt, promptHash: hash } };
}

export async function endTrial(
  em: EntityManager,
  id: string,
  status: Exclude<TrialStatus, 'running'>,
  reason: string,
): Promise<void> {
  await em.query(
    `update agent_trials set status = $2, reason = $3, finished_at = now() where id = $1 and status = 'running'`,
    [id, status, storableText(reason).slice(0, 2000)],
  );
}

/** Returns the running trials without a live run: nothing happens to them until somebody looks. */
export async function listIdleTrials(em: EntityManager): Promise<Pick<Trial, 'id' | 'projectId'>[]> {
  return em.query(
    `select t.id, t.project_id as "projectId" from agent_trials t where t.status = 'running' and not exists (
       select from agent_trial_runs x join runs r on r.id = x.run_id
       where x.trial_id = t.id and r.finished_at is null)
     limit 100`,
  );
}
