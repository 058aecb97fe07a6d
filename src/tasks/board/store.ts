import type { EntityManager } from 'typeorm';
import { agentNames } from '../../agents/store.ts';
import type { Failure, RunKind, RunStatus } from '../../domain/run.ts';
import type { SprintStatus } from '../../domain/sprint.ts';
import type { TaskStatus } from '../../domain/task.ts';
import type { WaitReason } from '../../domain/waiting.ts';

interface CardRun {
  id: string;
  kind: RunKind;
  status: RunStatus;
  steps: number;
  waitReason: WaitReason | null;
  createdAt: Date;
  startedAt: Date | null;
  finishedAt: Date | null;
  waitingSince: Date | null;
  waitedSeconds: number;
}

interface CardRow {
  id: string;
  projectId: string;
  title: string;
  status: TaskStatus;
  owner: string | null;
  repositoryId: string | null;
  parentId: string | null;
  sprintId: string | null;
  dependsOn: string[];
  prUrl: string | null;
  issueNumber: number | null;
  failure: Failure | null;
  runCount: number;
  costUsd: number | null;
  hasFailedChecks: boolean;
  hasPassedChecks: boolean;
  createdAt: Date;
  updatedAt: Date;
  statusSince: Date;
  runId: string | null;
  runKind: RunKind;
  runStatus: RunStatus;
  runSteps: number;
  runWaitReason: WaitReason | null;
  runCreatedAt: Date;
  runStartedAt: Date | null;
  runFinishedAt: Date | null;
  runWaitingSince: Date | null;
  runWaitedSeconds: number;
}

/** What a board shows of a task. */
export interface Card extends Omit<CardRow, `run${Capitalize<keyof CardRun>}` | 'hasFailedChecks' | 'hasPassedChecks'> {
  run: CardRun | null;
  checks: 'passed' | 'failed' | null;
}

/**
 * SQL: cards of the tasks t. Checks have failed if the newest run ended with them, or if GitHub reported failing ones that no
 * run has taken up. They have passed if the change has a proof, because a proof is only made after them. The proof `not_run`
 * does not count, because it may mean that there are no checks.
 */
const cards = `select t.id, t.project_id as "projectId", t.title, t.status, t.owner, t.repository_id as "repositoryId",
    t.parent_id as "parentId", t.sprint_id as "sprintId", t.issue_number as "issueNumber", t.failure,
    t.created_at as "createdAt", t.updated_at as "updatedAt", t.status_since as "statusSince",
    array(select d.depends_on_id from task_dependencies d where d.task_id = t.id order by 1) as "dependsOn",
    (select p.url from pull_requests p where p.task_id = t.id and p.repository_id = t.repository_id
      order by p.created_at desc, p.number desc limit 1) as "prUrl",
    s.runs as "runCount", s.cost as "costUsd",
    coalesce(r.failure->>'category' = 'checks', false) or exists (
      select 1 from revisions v where v.task_id = t.id and v.source = 'checks' and v.run_id is null) as "hasFailedChecks",
    coalesce((select p.status <> 'not_run' from proofs p where p.task_id = t.id order by p.at desc limit 1),
      false) as "hasPassedChecks",
    r.id as "runId", r.kind as "runKind", r.status as "runStatus", r.steps as "runSteps", r.wait_reason as "runWaitReason",
    r.created_at as "runCreatedAt", r.started_at as "runStartedAt", r.finished_at as "runFinishedAt",
    r.waiting_since as "runWaitingSince", r.waited_seconds as "runWaitedSeconds"`;

const joins = `left join lateral (select * from runs r where r.task_id = t.id
    order by r.created_at desc, r.id desc limit 1) r on true
  cross join lateral (select count(*)::int as runs, sum(r.cost_usd)::float8 as cost from runs r where r.task_id = t.id) s`;

/** Returns the cards of a project's tasks, newest first. */
export async function listCards(
  em: EntityManager,
  projectId: string,
  page: { limit: number; offset: number },
): Promise<Card[]> {
  // Selects the page first, so that runs and pull requests are looked up for its tasks only.
  const rows: CardRow[] = await em.query(
    `${cards} from (select * from tasks t where t.project_id = $1
       order by t.created_at desc, t.id limit $2 offset $3) t ${joins}
     order by t.created_at desc, t.id`,
    [projectId, page.limit, page.offset],
  );
  return rows.map(toCard);
}

/** Returns the cards of those tasks of a project that have one of these ids, or a run with one of them. */
export async function findCards(em: EntityManager, projectId: string, ids: string[]): Promise<Card[]> {
  const rows: CardRow[] = await em.query(
    `${cards} from (select * from tasks t where t.project_id = $1 and t.id in (
       select unnest($2::text[]) union select r.task_id from runs r where r.id = any($2))) t ${joins}
     order by t.created_at desc, t.id`,
    [projectId, ids],
  );
  return rows.map(toCard);
}

/** Returns the cards of the tasks that a task of a project depends on, and of those that depend on it. */
export async function findCardsNear(
  em: EntityManager,
  projectId: string,
  taskId: string,
  limit: number,
): Promise<Card[]> {
  const rows: CardRow[] = await em.query(
    `${cards} from (select * from tasks t where t.project_id = $1 and t.id in (
       select depends_on_id from task_dependencies where task_id = $2
       union select task_id from task_dependencies where depends_on_id = $2)
       order by t.created_at desc, t.id limit $3) t ${joins}
     order by t.created_at desc, t.id`,
    [projectId, taskId, limit],
  );
  return rows.map(toCard);
}

function toCard(row: CardRow): Card {
  return { ...row, run: row.runId === null ? null : runOf(row, row.runId), checks: checksOf(row) };
}

function checksOf({ hasFailedChecks, hasPassedChecks }: CardRow): Card['checks'] {
  if (hasFailedChecks) return 'failed';
  return hasPassedChecks ? 'passed' : null;
}

function runOf(row: CardRow, id: string): CardRun {
  return {
    id,
    kind: row.runKind,
    status: row.runStatus,
    steps: row.runSteps,
    waitReason: row.runStatus === 'waiting' ? row.runWaitReason : null,
    createdAt: row.runCreatedAt,
    startedAt: row.runStartedAt,
    finishedAt: row.runFinishedAt,
    waitingSince: row.runWaitingSince,
    waitedSeconds: row.runWaitedSeconds,
  };
}

/** More sprints than these are not offered as filters of a board. */
const maxSprints = 200;

/** What a board shows besides its cards. */
export interface Frame {
  /** How many tasks the project has. */
  total: number;
  agents: { id: string; name: string }[];
  /** The newest sprints. */
  sprints: { id: string; name: string; status: SprintStatus }[];
}

/** Returns what the board of a project shows besides its cards, with one statement. */
export async function readFrame(em: EntityManager, projectId: string): Promise<Frame> {
  const rowsOf = (select: string) => `(select coalesce(json_agg(row_to_json(r)), '[]') from (${select}) r)`;
  const newestSprints = `select id, name, status from sprints where project_id = $1
    order by created_at desc, id desc limit ${maxSprints}`;
  const [frame] = await em.query(
    `select (select coalesce(sum(tasks), 0)::int from task_counts where project_id = $1) as total,
       ${rowsOf(agentNames)} as agents, ${rowsOf(newestSprints)} as sprints`,
    [projectId],
  );
  return frame;
}
