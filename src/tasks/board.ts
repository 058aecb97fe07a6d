import type { EntityManager } from 'typeorm';
import { z } from 'zod';
import { agentNames } from '../agents/store.ts';
import type { App } from '../app.ts';
import { type Failure as RunFailure, type RunKind, type RunStatus, runKinds, runStatuses } from '../domain/run.ts';
import { type SprintStatus, sprintStatuses } from '../domain/sprint.ts';
import { type Priority, priorities, type TaskStatus, taskStatuses } from '../domain/task.ts';
import { type WaitReason, waitReasons } from '../domain/waiting.ts';
import { inProject } from '../http/access/access.ts';
import { listText } from '../http/lists.ts';
import { IdText, type Route, route, Serialized, Timestamp, wholeNumber } from '../http/route.ts';
import { Failure } from './schemas.ts';

/** The most tasks of one reply. */
const maxTasks = 2000;
/** The most ids that a request may name. */
const maxIds = 100;

const BoardQuery = z.strictObject({
  ids: z
    .string()
    .max(maxIds * 64, `must have at most ${maxIds} ids`)
    .refine((text) => !text.includes('\0'), 'must not contain a NUL character')
    .transform((text) => [...new Set(text.split(',').map((id) => id.trim()))].filter((id) => id !== ''))
    .refine((ids) => ids.length > 0 && ids.length <= maxIds, `must have 1 to ${maxIds} ids`)
    .optional()
    .meta({
      override: { type: 'string' },
      description: `ids of tasks and runs, separated by commas, at most ${maxIds}; the reply then has only the tasks that they name. A deleted task is missing`,
    }),
  near: IdText.optional().meta({
    override: { type: 'string' },
    description: `the id of a task, instead of \`ids\`; the reply then has only the tasks that it depends on and those that depend on it, at most ${maxTasks} and up to 5 MB`,
  }),
  limit: wholeNumber(1, maxTasks)
    .default(200)
    .meta({
      override: { type: 'integer', minimum: 1, maximum: maxTasks, default: 200 },
      description:
        'tasks per page. A page ends earlier before its tasks have more than 5 MB: the next one begins at the offset after the last of them',
    }),
  offset: wholeNumber(0, 999_999_999)
    .default(0)
    .meta({ override: { type: 'integer', minimum: 0, default: 0 }, description: 'tasks to skip' }),
});

const CardRun = z
  .object({
    id: z.string(),
    kind: z.enum(runKinds),
    status: z.enum(runStatuses),
    steps: z.int(),
    waitReason: z.enum(waitReasons).nullable(),
    createdAt: Timestamp,
    startedAt: Timestamp.nullable(),
    finishedAt: Timestamp.nullable(),
    waitingSince: Timestamp.nullable().meta({
      description: 'since when it has been waiting; null while it is not waiting',
    }),
    waitedSeconds: z.int().meta({ description: 'how long it waited before; its clock does not count this' }),
  })
  .meta({ id: 'CardRun', description: 'The newest run of a task' });

const Card = z
  .object({
    id: z.string(),
    projectId: z.string(),
    title: z.string(),
    status: z.enum(taskStatuses),
    priority: z.enum(priorities),
    owner: z.string().nullable(),
    responsible: z.string().nullable(),
    repositoryId: z.string().nullable(),
    base: z.string().nullable(),
    parentId: z.string().nullable(),
    sprintId: z.string().nullable(),
    dependsOn: z.array(z.string()),
    prUrl: z.string().nullable(),
    merging: z
      .enum(['waiting', 'queued'])
      .nullable()
      .meta({ description: 'what GitHub does to merge its pull requests when they are ready' }),
    issueNumber: z.int().nullable(),
    collisions: z
      .int()
      .meta({ description: 'how many open pull requests git cannot merge together with those of the task' }),
    failure: Failure.nullable(),
    runCount: z.int(),
    run: CardRun.nullable(),
    costUsd: z.number().nullable().meta({ description: 'the cost of all its runs; null when it is not known' }),
    checks: z
      .enum(['passed', 'failed'])
      .nullable()
      .meta({ description: 'the last result of the checks of its change' }),
    createdAt: Timestamp,
    updatedAt: Timestamp,
    statusSince: Timestamp,
  })
  .meta({ id: 'TaskCard', description: 'What a board shows of a task' });

const Frame = z.object({
  total: z.int().meta({ description: 'how many tasks the project has' }),
  agents: z.array(z.object({ id: z.string(), name: z.string() })).meta({ description: 'who can own its tasks' }),
  people: z
    .array(z.object({ id: z.string(), login: z.string(), avatarUrl: z.string() }))
    .meta({ description: 'the members of the project, by login, at most 500' }),
  sprints: z
    .array(z.object({ id: z.string(), name: z.string(), status: z.enum(sprintStatuses) }))
    .meta({ description: 'the newest 200' }),
});
const Cards = z.array(Card);
const Board = Frame.extend({ tasks: Cards }).meta({ id: 'Board' });

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

interface CardColumns {
  id: string;
  projectId: string;
  title: string;
  status: TaskStatus;
  priority: Priority;
  owner: string | null;
  responsible: string | null;
  repositoryId: string | null;
  base: string | null;
  parentId: string | null;
  sprintId: string | null;
  dependsOn: string[];
  prUrl: string | null;
  merging: 'waiting' | 'queued' | null;
  issueNumber: number | null;
  collisions: number;
  failure: RunFailure | null;
  runCount: number;
  costUsd: number | null;
  hasFailedChecks: boolean;
  hasPassedChecks: boolean;
  createdAt: Date;
  updatedAt: Date;
  statusSince: Date;
}

/** The newest run of a task. */
interface RunColumns {
  runId: string;
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

type CardRow = Omit<CardColumns, 'dependsOn'> & { dependsOn: string | null } & (
    | RunColumns
    | { [column in keyof RunColumns]: null }
  );

/** What a board shows of a task. */
export interface Card extends Omit<CardColumns, 'hasFailedChecks' | 'hasPassedChecks'> {
  run: CardRun | null;
  checks: 'passed' | 'failed' | null;
}

/**
 * SQL: cards of the tasks t. Checks have failed if the newest run ended with them, or if GitHub reported failing ones that no
 * run has taken up. They have passed if the change has a proof, because a proof is only made after them. The proof `not_run`
 * does not count, because it may mean that there are no checks. The ids of a task's dependencies are one text: with a hundred of
 * each of 2,000 tasks, reading arrays took the driver most of the time.
 */
const cards = `select t.id, t.project_id as "projectId", t.title, t.status, t.priority, t.owner, t.responsible, t.repository_id as "repositoryId", t.base,
    t.parent_id as "parentId", t.sprint_id as "sprintId", t.issue_number as "issueNumber", t.failure,
    t.created_at as "createdAt", t.updated_at as "updatedAt", t.status_since as "statusSince",
    (select string_agg(d.depends_on_id, ',' order by d.depends_on_id) from task_dependencies d where d.task_id = t.id) as "dependsOn",
    (select p.url from pull_requests p where p.task_id = t.id and p.repository_id = t.repository_id
      order by p.created_at desc, p.number desc limit 1) as "prUrl",
    (select max(m.state) from pull_requests p join merges m on m.repository_id = p.repository_id and m.number = p.number
      where p.task_id = t.id) as merging,
    (select count(*)::int from collisions c where c.task_id = t.id) as collisions,
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
async function listCards(
  em: EntityManager,
  projectId: string,
  page: { limit: number; offset: number },
): Promise<CardRow[]> {
  // Selects the page first, so that runs and pull requests are looked up for its tasks only.
  return em.query(
    `${cards} from (select * from tasks t where t.project_id = $1 and not t.hidden
       order by t.created_at desc, t.id limit $2 offset $3) t ${joins}
     order by t.created_at desc, t.id`,
    [projectId, page.limit, page.offset],
  );
}

/** Returns the cards of those tasks of a project that have one of these ids, or a run with one of them. */
async function findCards(em: EntityManager, projectId: string, ids: string[]): Promise<CardRow[]> {
  return em.query(
    `${cards} from (select * from tasks t where t.project_id = $1 and not t.hidden and t.id in (
       select unnest($2::text[]) union select r.task_id from runs r where r.id = any($2))) t ${joins}
     order by t.created_at desc, t.id`,
    [projectId, ids],
  );
}

/** Returns the cards of the tasks that a task of a project depends on, and of those that depend on it. */
async function findCardsNear(em: EntityManager, projectId: string, taskId: string, limit: number): Promise<CardRow[]> {
  return em.query(
    `${cards} from (select * from tasks t where t.project_id = $1 and t.id in (
       select depends_on_id from task_dependencies where task_id = $2
       union select task_id from task_dependencies where depends_on_id = $2)
       order by t.created_at desc, t.id limit $3) t ${joins}
     order by t.created_at desc, t.id`,
    [projectId, taskId, limit],
  );
}

function toCard(row: CardRow): Card {
  const dependsOn = row.dependsOn?.split(',') ?? [];
  return { ...row, dependsOn, run: row.runId === null ? null : runOf(row), checks: checksOf(row) };
}

function checksOf({ hasFailedChecks, hasPassedChecks }: CardRow): Card['checks'] {
  if (hasFailedChecks) return 'failed';
  return hasPassedChecks ? 'passed' : null;
}

function runOf(row: RunColumns): CardRun {
  return {
    id: row.runId,
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

/** More sprints and people than these are not offered as filters of a board. */
const [maxSprints, maxPeople] = [200, 500];

/** What a board shows besides its cards. */
export interface Frame {
  /** How many tasks the project has. */
  total: number;
  agents: { id: string; name: string }[];
  /** The members of the project. */
  people: { id: string; login: string; avatarUrl: string }[];
  /** The newest sprints. */
  sprints: { id: string; name: string; status: SprintStatus }[];
}

/** Returns what the board of a project shows a member besides its cards, with one statement. */
async function readFrame(em: EntityManager, projectId: string, userId: string): Promise<Frame> {
  const rowsOf = (select: string) => `(select coalesce(json_agg(row_to_json(r)), '[]') from (${select}) r)`;
  const newestSprints = `select id, name, status from sprints where project_id = $1
    order by created_at desc, id desc limit ${maxSprints}`;
  const members = `select u.id, u.login, u.avatar_url as "avatarUrl" from members m join users u on u.id = m.user_id
    where m.project_id = $1 order by u.login limit ${maxPeople}`;
  const [frame]: [Frame] = await em.query(
    `select (select coalesce(sum(tasks), 0)::int from task_counts where project_id = $1) as total,
       ${rowsOf(agentNames)} as agents, ${rowsOf(members)} as people, ${rowsOf(newestSprints)} as sprints`,
    [projectId, userId],
  );
  return frame;
}

interface Asked {
  ids?: string[] | undefined;
  near?: string | undefined;
  limit: number;
  offset: number;
}

/** Reads everything that a board shows, so that it needs one request when it opens, and one for each change. */
async function readBoard({ db: { manager: em } }: App, projectId: string, userId: string, asked: Asked) {
  const frame = JSON.stringify(Frame.parse(await readFrame(em, projectId, userId)));
  const tasks = await listText(userId, Cards, await cardsFor(em, projectId, asked), toCard);
  return new Serialized(`${frame.slice(0, -1)},"tasks":${tasks}}`);
}

function cardsFor(em: EntityManager, projectId: string, { ids, near, ...page }: Asked): Promise<CardRow[]> {
  if (near !== undefined) return findCardsNear(em, projectId, near, maxTasks);
  return ids === undefined ? listCards(em, projectId, page) : findCards(em, projectId, ids);
}

export const boardRoutes: Route[] = [
  route({
    operationId: 'getBoard',
    method: 'get',
    path: '/projects/:projectId/board',
    summary: 'Get what the board of a project shows: its tasks, newest first, and the names of its agents and sprints',
    guide: null,
    tag: 'tasks',
    access: inProject('viewer'),
    query: BoardQuery,
    reply: [200, Board],
    handle: (app, { projectId, user, query }) => readBoard(app, projectId, user.id, query),
  }),
];
