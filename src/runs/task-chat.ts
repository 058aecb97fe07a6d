import type { EntityManager } from 'typeorm';
import { z } from 'zod';
import { type Asking, converseInChat, type MayName } from '../agents/chat/converse.ts';
import { AskInChat, ChatMessage, HistoryQuery, listHistory } from '../agents/chat/store.ts';
import { agentInChat, findAgent, findBuiltInAgent, mayContinue } from '../agents/store.ts';
import type { App } from '../app.ts';
import type { AgentRow } from '../db/tables/project.ts';
import { type HandoffRow, placesOfTask } from '../db/tables/task.ts';
import { defaultAgentKey } from '../domain/agent.ts';
import { costText } from '../domain/budget.ts';
import { proofSentence } from '../domain/proof/proof.ts';
import type { Failure, RunKind, RunStatus } from '../domain/run.ts';
import type { TaskStatus } from '../domain/task.ts';
import { joinParts, listPart, textPart } from '../domain/text/name-links.ts';
import { fenced, oneLine } from '../domain/text/sanitize.ts';
import { notFound } from '../errors.ts';
import { type Route, route } from '../http/route.ts';
import { findRepository } from '../repositories/store.ts';
import { onTask } from '../tasks/routes.ts';
import type { TaskView } from '../tasks/store.ts';
import { findDiff, findHeldDiff, listHandoffs, listPulls, type StoredDiff } from '../tasks/work-store.ts';
import { listOpenedOfTasks, listTextPlaces } from './directors.ts';
import { findProof } from './proof/proof-store.ts';
import { listFollowed } from './store.ts';

/** A run as it is described in the chat of its task. */
export interface ChatRun {
  id: string;
  kind: RunKind;
  status: RunStatus;
  agent: string | null;
  startedBy: string | null;
  createdAt: Date;
  steps: number;
  costUsd: number | null;
  failure: Failure | null;
  /** The results of its checks, oldest first. */
  checks: string[];
}

/** Returns the latest runs of a task, newest first, with at most 20 results of checks each. */
async function listChatRuns(em: EntityManager, taskId: string, limit: number): Promise<ChatRun[]> {
  return em.query(
    `select r.id, r.kind, r.status, ${agentInChat} as agent, u.login as "startedBy", r.created_at as "createdAt", r.steps,
       r.cost_usd::float8 as "costUsd", r.failure,
       array(select left(c.text, 300) from (
         select e.id, e.text from run_events e where e.run_id = r.id and e.type = 'check' order by e.id desc limit 20) c
         order by c.id) as checks
     from runs r left join agents a on a.id = r.agent_id left join users u on u.id = r.started_by
     where r.task_id = $1 order by r.created_at desc, r.id desc limit $2`,
    [taskId, limit],
  );
}

/** The owner, sprint and related tasks of a task. */
export interface Surroundings {
  owner: string | null;
  sprint: string | null;
  /** The ids of the people who wrote its name; null without a sprint. */
  sprintWriters: string[] | null;
  parent: RelatedTask | null;
  dependencies: RelatedTask[];
  subtasks: RelatedTask[];
}
interface RelatedTask {
  id: string;
  title: string;
  status: TaskStatus;
  /** Its repository, that of its issue, and those whose content its text may repeat. */
  repositoryIds: string[];
}

/**
 * Returns the names of what a task belongs to, and its dependencies and subtasks, at most 30 each.
 * @throws AppError 404 if the task was deleted
 */
async function getSurroundings(em: EntityManager, taskId: string): Promise<Surroundings> {
  const related = `json_build_object('id', o.id, 'title', o.title, 'status', o.status, 'repositoryIds',
    ${placesOfTask})`;
  const [row]: Surroundings[] = await em.query(
    `select ${agentInChat} as owner, s.name as sprint, s.directed_by as "sprintWriters",
       (select ${related} from tasks o where o.id = t.parent_id) as parent,
       array(select ${related} from tasks o join task_dependencies d on d.depends_on_id = o.id
         where d.task_id = t.id order by o.created_at, o.id limit 30) as dependencies,
       array(select ${related} from tasks o where o.parent_id = t.id order by o.created_at, o.id limit 30) as subtasks
     from tasks t left join agents a on a.id = t.owner left join sprints s on s.id = t.sprint_id where t.id = $1`,
    [taskId],
  );
  if (row === undefined) throw notFound('Task', taskId);
  return row;
}

/** Characters of each text in the prompt. The agent can read the files to see more of the change. */
const diffChars = 20_000;
const descriptionChars = 10_000;
const attentionChars = 4000;
const handoffChars = 1500;
/** At most this many of the latest runs and handoffs, of files, and of other entries. */
const maxRuns = 5;
const maxFiles = 100;
const maxEntries = 30;

type ShownDiff = Omit<StoredDiff, 'headSha'>;

/** A comment on GitHub, which people read who are not members of the project. */
export interface InComment {
  /** Whether everybody reads the comment, so that it leaves out what may be private. */
  hidesPrivate: boolean;
  /** Returns whether the comment may contain what runs have read in a repository. */
  mayTellOf(repositoryId: string): Promise<boolean>;
}

/** Returns whether a comment may name a task or a pull request that belongs to some repositories, or to none. */
export function mayNameIn({ hidesPrivate, mayTellOf }: InComment): MayName {
  return async (repositoryIds) => {
    for (const id of repositoryIds) if (!(await mayTellOf(id))) return false;
    return repositoryIds.length > 0 || !hidesPrivate;
  };
}

/** What a model may use for its answer. */
interface Shown {
  description: string;
  around: Surroundings;
  diff: ShownDiff | undefined;
  attention: TaskView['attention'];
  failure: TaskView['failure'];
  handoffs: HandoffRow[];
  runs: ChatRun[];
  pulls: Awaited<ReturnType<typeof listPulls>>;
  proof: Awaited<ReturnType<typeof findProof>>;
}

async function shownToMembers({ db: { manager: em } }: App, task: TaskView): Promise<Shown> {
  const { attention, failure, description } = task;
  return {
    description,
    around: await getSurroundings(em, task.id),
    diff: (await findHeldDiff(em, task.id)) ?? (await findDiff(em, task.id)),
    attention,
    failure,
    handoffs: (await listHandoffs(em, task.id)).slice(-maxRuns),
    runs: await listChatRuns(em, task.id, maxRuns),
    pulls: await listPulls(em, task.id),
    proof: await findProof(em, task.id),
  };
}

/**
 * Leaves out what only the dashboard shows: changes that are not pushed, what a run waits for, and handoffs. Nothing of a
 * run remains that says what it found in a repository of which the comment must not tell.
 */
async function shownInComment(app: App, task: TaskView, comment: InComment): Promise<Shown> {
  const em = app.db.manager;
  const all = await shownToMembers(app, task);
  const opened = await listOpenedOfTasks(em, [task.id]);
  const { sprint, parent, dependencies, subtasks } = all.around;
  const ids = [...opened, ...all.pulls].map(({ repositoryId }) => repositoryId);
  const secretOf = async (repositoryIds: string[]) => {
    const secret = new Set<string>();
    for (const id of new Set(repositoryIds)) if (!(await comment.mayTellOf(id))) secret.add(id);
    return secret;
  };
  const secret = await secretOf(ids);
  const nameable = async (tasks: RelatedTask[]) => {
    const known: RelatedTask[] = [];
    for (const each of tasks) if (await mayNameIn(comment)(each.repositoryIds)) known.push(each);
    return known;
  };
  const isTextSecret = (await secretOf(await listTextPlaces(em, task.id))).size > 0;
  const secretRuns = new Set(opened.filter((each) => secret.has(each.repositoryId)).map(({ runId }) => runId));
  return {
    description: isTextSecret ? '' : all.description,
    around: {
      ...all.around,
      sprint: comment.hidesPrivate ? null : sprint,
      sprintWriters: comment.hidesPrivate ? null : all.around.sprintWriters,
      parent: (await nameable(parent === null ? [] : [parent]))[0] ?? null,
      dependencies: await nameable(dependencies),
      subtasks: await nameable(subtasks),
    },
    diff: task.repositoryId === null ? undefined : await findDiff(em, task.id),
    attention: null,
    failure: secret.size > 0 ? null : all.failure,
    handoffs: [],
    runs: all.runs.map((run) => (secretRuns.has(run.id) ? { ...run, failure: null, checks: [] } : run)),
    pulls: all.pulls.filter((pull) => !secret.has(pull.repositoryId)),
    proof: secret.size > 0 ? undefined : all.proof,
  };
}

/** Describes a task for a model that answers questions about it. Every part is bounded. */
function describeTask(task: TaskView, shown: Shown): string {
  const { description, around, attention, failure, handoffs, runs, pulls, proof, diff } = shown;
  const related = (t: { id: string; title: string; status: string }) => `${t.id} (${t.status}): ${t.title}`;
  const facts = [
    `Task ${task.id}, status: ${task.status}`,
    ...(around.owner === null ? ['It has no owner.'] : [`Its agent: ${around.owner}`]),
    ...(around.sprint === null ? [] : [`Sprint: ${around.sprint}`]),
    ...(around.parent === null ? [] : [`Part of ${around.parent.id}: ${around.parent.title}`]),
    ...(task.branchName === null ? [] : [`Branch: ${task.branchName}`]),
    ...(task.issueNumber === null ? [] : [`Issue: #${task.issueNumber}`]),
    ...(failure === null ? [] : [`Last failure: ${failure.category}: ${failure.message}`]),
  ];
  return joinParts([
    `# The task: ${oneLine(task.title, 200)}\n${facts.map((fact) => `- ${oneLine(fact, 600)}`).join('\n')}`,
    textPart('Description', description, descriptionChars),
    attention === null ? '' : textPart(`Waits for a person (${attention.reason})`, attention.text, attentionChars),
    listPart('Waits for these tasks', around.dependencies, maxEntries, related),
    listPart('Subtasks', around.subtasks, maxEntries, related),
    listPart('Runs, newest first', runs, maxRuns, runLine),
    proof === undefined ? '' : `## What its tests prove\n${oneLine(proofSentence(proof), 1000)}`,
    listPart('Test files that the change touches', proof?.testsChanged ?? [], maxEntries, (path) => path),
    listPart('Handoffs, oldest first', handoffs, maxRuns, handoffLine, handoffChars),
    listPart('Pull requests', pulls, maxEntries, (p) => `${p.prUrl} (${p.status})`),
    ...diffParts(diff),
  ]);
}

const handoffLine = ({ summary, nextSteps }: { summary: string; nextSteps: string[] }) =>
  [summary, ...nextSteps].join('; next: ');

function runLine(run: ChatRun): string {
  const { kind, status, agent, startedBy, steps, costUsd, failure, checks } = run;
  return [
    `${run.createdAt.toISOString()} ${kind}: ${status}`,
    agent === null ? '' : `by ${agent}`,
    startedBy === null ? '' : `started by @${startedBy}`,
    `${steps} ${steps === 1 ? 'step' : 'steps'}`,
    costUsd === null ? '' : costText(costUsd),
    failure === null ? '' : `${failure.category}: ${failure.message}`,
    checks.length === 0 ? '' : `checks: ${checks.join(', ')}`,
  ]
    .filter(Boolean)
    .join('; ');
}

function diffParts(diff: ShownDiff | undefined): string[] {
  if (diff === undefined) return [];
  const hunks = diff.files.flatMap(({ path, hunks: parts }) => [
    `--- ${path}`,
    ...parts.flatMap(({ oldStart, newStart, lines }) => [`@@ -${oldStart} +${newStart} @@`, ...lines]),
  ]);
  let length = 0;
  const fitting = hunks.filter((line) => {
    length += line.length + 1;
    return length <= diffChars;
  });
  const note = fitting.length < hunks.length ? '\nThe diff is cut. Read the files to see the rest.' : '';
  return [
    listPart(
      `Changed files, ${diff.branchName} compared to ${diff.baseBranch}`,
      diff.files,
      maxFiles,
      (f) => `${f.path} (${f.status}, +${f.additions} -${f.deletions})`,
    ),
    fitting.length === 0 ? '' : `## The diff\n${fenced(fitting.join('\n'))}${note}`,
  ];
}

/**
 * Asks the agent of a task about the task and returns its reply. The agent sees the runs with their checks, the proof, the
 * diff and the handoffs, and can read the repository at the branch of the task. It changes nothing. An answer in a comment
 * uses only what may appear there, and nothing of the members' conversation. It does not become part of that either.
 * @throws AppError 502 when the model fails, 503 when none is configured
 */
export async function chatAboutTask(
  app: App,
  task: TaskView,
  asking: Asking,
  comment?: InComment | undefined,
): Promise<string> {
  const em = app.db.manager;
  const agent = await agentFor(em, task);
  const shown = await (comment === undefined ? shownToMembers(app, task) : shownInComment(app, task, comment));
  const diff = await findDiff(em, task.id);
  const paths = diff?.files.filter(({ status }) => status !== 'deleted').map(({ path }) => path) ?? [];
  return converseInChat(app, {
    about: comment === undefined ? { taskId: task.id } : undefined,
    at: { taskId: task.id },
    projectId: task.projectId,
    agent,
    context: describeTask(task, shown),
    reads: {
      repository: task.repositoryId === null ? null : await findRepository(em, task.repositoryId),
      branch: task.branchName,
    },
    directedBy: await directorsOfChat(em, task, { shown, agent }),
    mayName: comment && mayNameIn(comment),
    changed: diff === undefined ? undefined : { commit: diff.headSha, paths },
    ...asking,
  });
}

/**
 * Returns the agent of a task, or the default agent if the task has none that may work in the project: a person who left the project, or
 * only views it, could change the prompt of their own agent.
 */
async function agentFor(em: EntityManager, { owner, projectId }: TaskView): Promise<AgentRow | undefined> {
  const own = owner !== null && (await mayContinue(em, owner, projectId)) ? await findAgent(em, owner) : null;
  return own ?? (await findBuiltInAgent(em, projectId, defaultAgentKey)) ?? undefined;
}

/** Returns the ids of the people whose words a model gets: those of tasks, of the sprint's name, and of the prompt of a personal agent. */
async function directorsOfChat(
  em: EntityManager,
  task: TaskView,
  { shown, agent }: { shown: Shown; agent: AgentRow | undefined },
): Promise<string[]> {
  const maker = agent?.projectId === null ? agent.creatorId : null;
  const followed = await listFollowed(em, namedIn(task, shown), task.repositoryId ?? undefined);
  return [...new Set([...followed, ...(shown.around.sprintWriters ?? []), ...(maker === null ? [] : [maker])])];
}

/** Returns the ids of the tasks whose words a model gets. */
function namedIn({ id }: TaskView, { around: { parent, dependencies, subtasks } }: Shown): string[] {
  return [id, ...[parent, ...dependencies, ...subtasks].flatMap((each) => each?.id ?? [])];
}

const TaskReply = z.object({ response: z.string(), taskId: z.string() }).meta({ id: 'TaskReply' });

export const taskChatRoutes: Route[] = [
  route({
    operationId: 'listTaskChat',
    method: 'get',
    path: '/tasks/:id/chat',
    summary: 'List the last messages of the chat about a task, oldest first. All members share the conversation',
    guide: null,
    tag: 'tasks',
    access: onTask('viewer'),
    query: HistoryQuery,
    reply: [200, z.array(ChatMessage)],
    handle: (app, { task, query }) => listHistory(app.db.manager, { taskId: task.id }, query),
  }),
  route({
    operationId: 'chatAboutTask',
    method: 'post',
    path: '/tasks/:id/chat',
    summary: 'Chat with the agent of a task. The agent can read the repository but changes nothing',
    guide: null,
    tag: 'tasks',
    access: onTask('member'),
    audit: { action: 'task.chat', object: ({ task }) => task },
    body: AskInChat,
    reply: [200, TaskReply],
    errors: { 502: 'The model answered with an error', 503: 'No model is configured' },
    costs: 'model',
    waits: 'before it writes',
    streams: 'Events `text` with `{ text }`, each a piece of the reply, then `done` with the whole reply, or `error`',
    stream: async (app, { task, user, body, keyed }, { send }) => {
      const onText = (text: string) => send({ event: 'text', data: { text } });
      const asking = { user, message: body.message, asMember: true, request: keyed?.id, onText };
      const response = await chatAboutTask(app, task, asking);
      send({ event: 'done', data: { response, taskId: task.id } });
    },
    handle: async (app, { task, user, body, keyed }) => {
      const asking = { user, message: body.message, asMember: true, request: keyed?.id };
      return { response: await chatAboutTask(app, task, asking), taskId: task.id };
    },
  }),
];
