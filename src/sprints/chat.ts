import type { EntityManager } from 'typeorm';
import { z } from 'zod';
import { type Asking, converseInChat } from '../agents/chat/converse.ts';
import { AskInChat, ChatMessage, HistoryQuery, listHistory } from '../agents/chat/store.ts';
import { agentInChat, findBuiltInAgent } from '../agents/store.ts';
import type { App } from '../app.ts';
import type { Forecast } from '../domain/forecast/forecast.ts';
import type { Failure } from '../domain/run.ts';
import type { TaskStatus } from '../domain/task.ts';
import { joinParts, listPart, textPart } from '../domain/text/name-links.ts';
import { oneLine } from '../domain/text/sanitize.ts';
import type { WaitReason } from '../domain/waiting.ts';
import { type Route, route } from '../http/route.ts';
import { findPrimary } from '../repositories/store.ts';
import { listFollowed } from '../runs/store.ts';
import { burndownOf, metricsOf } from './figures-store.ts';
import { forecastOf } from './forecast.ts';
import { onSprint } from './routes.ts';
import { findWriters, type SprintView } from './store.ts';

/** A task as it is described in the chat of its sprint. */
export interface ChatTask {
  id: string;
  title: string;
  status: TaskStatus;
  owner: string | null;
  issueNumber: number | null;
  failure: Failure | null;
  /** Why its run waits for a person; null when it does not. */
  waits: WaitReason | null;
  dependsOn: string[];
  pulls: string[];
  /** What its latest run left for the next. */
  handoff: string | null;
}

/** Returns the tasks of a sprint: those that are not done first, then by the last change. */
async function listChatTasks(em: EntityManager, sprintId: string, limit: number): Promise<ChatTask[]> {
  return em.query(
    `select t.id, t.title, t.status, ${agentInChat} as owner, t.issue_number as "issueNumber", t.failure,
       (select r.wait_reason from runs r where r.task_id = t.id and r.status = 'waiting') as waits,
       array(select d.depends_on_id from task_dependencies d where d.task_id = t.id order by 1 limit 20) as "dependsOn",
       array(select p.url || ' (' || p.status || ')' from pull_requests p where p.task_id = t.id
         order by p.created_at desc, p.number desc limit 5) as pulls,
       (select left(h.summary, 2000) from handoffs h where h.task_id = t.id
         order by h.created_at desc, h.id desc limit 1) as handoff
     from (select * from tasks where sprint_id = $1 order by status = 'done', updated_at desc, id limit $2) t
     left join agents a on a.id = t.owner
     order by t.status = 'done', t.updated_at desc, t.id`,
    [sprintId, limit],
  );
}

/** Returns the tasks of a sprint that were carried over from an earlier one, with the name of the latest of these. */
async function listCarriedIn(em: EntityManager, sprintId: string, limit: number) {
  const rows: { id: string; title: string; from: string; fromId: string }[] = await em.query(
    `select distinct on (t.id) t.id, t.title, e.name as from, e.id as "fromId"
     from tasks t
     join sprint_history h on h.task_id = t.id and h.sprint_id <> $1
     join digests d on d.sprint_id = h.sprint_id and d.carried_over @> to_jsonb(t.id)
     join sprints e on e.id = d.sprint_id
     where t.sprint_id = $1 order by t.id, d.created_at desc limit $2`,
    [sprintId, limit],
  );
  return rows;
}

/**
 * Returns the report of a completed sprint, with the titles of the tasks that it carried over, and whose words the report has. Tasks that
 * are in it may have been deleted since. A report of which nobody knows whose words it has stays out.
 */
async function findChatDigest(em: EntityManager, sprintId: string, limit: number) {
  const rows: { markdown: string; carriedOut: { id: string; title: string }[]; writers: string[] }[] = await em.query(
    `select case when d.directed_by is null then '' else d.markdown end as markdown /* not null */,
       coalesce(d.directed_by, '[]') as writers /* not null */, array(
       select json_build_object('id', t.id, 'title', t.title) from tasks t
       where t.id in (select jsonb_array_elements_text(d.carried_over)) order by t.id limit $2) as "carriedOut"
     from digests d where d.sprint_id = $1`,
    [sprintId, limit],
  );
  return rows[0];
}

/** At most this many tasks, handoffs, tasks carried over, and days of the burndown. */
const maxTasks = 100;
const maxHandoffs = 20;
const maxCarried = 50;
const maxDays = 60;
/** Characters of each text. */
const goalChars = 5000;
const digestChars = 8000;
const handoffChars = 800;

/**
 * Describes a sprint for a model that answers questions about it, and returns the ids of the tasks whose words it quotes, and the people
 * who wrote its other words. Every part is bounded.
 */
export async function describeSprint(
  app: App,
  sprint: SprintView,
): Promise<{ text: string; taskIds: string[]; writers: string[] }> {
  const em = app.db.manager;
  const { forecast } = await forecastOf(em, sprint);
  const tasks = await listChatTasks(em, sprint.id, maxTasks);
  const digest = await findChatDigest(em, sprint.id, maxCarried);
  const carriedIn = await listCarriedIn(em, sprint.id, maxCarried);
  const more = sprint.taskCount > tasks.length ? ` It has ${sprint.taskCount} tasks; those listed changed last.` : '';
  const text = joinParts([
    `# The sprint: ${oneLine(sprint.name, 200)}\nStatus: ${sprint.status}, ${sprint.startDay} to ${sprint.endDay}.${more}`,
    textPart('Goal', sprint.goal, goalChars),
    `## Metrics\n${JSON.stringify(await metricsOf(em, sprint))}`,
    `## Forecast\n${forecastText(forecast)}`,
    `## Burndown\n${JSON.stringify((await burndownOf(em, sprint)).slice(-maxDays))}`,
    listPart('Tasks', tasks, maxTasks, taskLine),
    listPart(
      'What the latest run of each task left for the next',
      tasks.filter(({ handoff }) => handoff !== null),
      maxHandoffs,
      ({ id, handoff }) => `${id}: ${handoff}`,
      handoffChars,
    ),
    listPart(
      'Carried over from earlier sprints',
      carriedIn,
      maxCarried,
      ({ id, title, from }) => `${id} from "${from}": ${title}`,
    ),
    listPart(
      'Carried over to later sprints or the backlog',
      digest?.carriedOut ?? [],
      maxCarried,
      ({ id, title }) => `${id}: ${title}`,
    ),
    textPart('Digest', digest?.markdown ?? '', digestChars),
  ]);
  const named = await findWriters(em, [sprint.id, ...carriedIn.map(({ fromId }) => fromId)]);
  return {
    text,
    taskIds: [...tasks, ...carriedIn, ...(digest?.carriedOut ?? [])].map(({ id }) => id),
    writers: [...named, ...(digest?.writers ?? [])],
  };
}

function forecastText({ p50, p80, p95, reason }: Forecast): string {
  if (reason !== null) return `None. ${reason}`;
  const [half, most, nearly] = [p50, p80, p95].map((at) => at?.toISOString());
  return `The open tasks will be done with a probability of 50 % by ${half}, of 80 % by ${most}, and of 95 % by ${nearly}.`;
}

function taskLine({ id, title, status, owner, issueNumber, failure, waits, dependsOn, pulls }: ChatTask): string {
  return [
    `${id} ${status}: ${oneLine(title, 200)}`,
    owner === null ? 'no owner' : `owner ${owner}`,
    issueNumber === null ? '' : `issue #${issueNumber}`,
    waits === null ? '' : `needs a person: ${waits}`,
    dependsOn.length === 0 ? '' : `waits for ${dependsOn.join(', ')}`,
    pulls.length === 0 ? '' : `pull requests ${pulls.join(', ')}`,
    failure === null ? '' : `FAILED ${failure.category}: ${failure.message}`,
  ]
    .filter(Boolean)
    .join('; ');
}

/**
 * Asks the project's Software Architect about a sprint. The prompt contains its tasks with their owners, pull requests and
 * handoffs, the figures, the forecast, the digest, and what was carried over.
 * @throws AppError 502, 503
 */
async function chatAboutSprint(app: App, sprint: SprintView, asking: Asking): Promise<string> {
  const em = app.db.manager;
  const { text, taskIds, writers } = await describeSprint(app, sprint);
  const repository = await findPrimary(em, sprint.projectId);
  return converseInChat(app, {
    about: { sprintId: sprint.id },
    at: { sprintId: sprint.id },
    projectId: sprint.projectId,
    agent: (await findBuiltInAgent(em, sprint.projectId, 'architect')) ?? undefined,
    context: text,
    directedBy: [...new Set([...writers, ...(await listFollowed(em, taskIds, repository?.id))])],
    reads: { repository, branch: null },
    ...asking,
  });
}

const SprintReply = z.object({ response: z.string() }).meta({ id: 'SprintReply' });

export const sprintChatRoutes: Route[] = [
  route({
    operationId: 'listSprintChat',
    method: 'get',
    path: '/sprints/:sprintId/chat',
    summary: 'List the last messages of the chat about a sprint, oldest first. All members share the conversation',
    guide: null,
    tag: 'sprints',
    access: onSprint('viewer'),
    query: HistoryQuery,
    reply: [200, z.array(ChatMessage)],
    handle: (app, { sprint, query }) => listHistory(app.db.manager, { sprintId: sprint.id }, query),
  }),
  route({
    operationId: 'chatAboutSprint',
    method: 'post',
    path: '/sprints/:sprintId/chat-with-dev-lead',
    summary: 'Chat with the Software Architect about a sprint',
    guide: null,
    tag: 'sprints',
    access: onSprint('member'),
    audit: { action: 'sprint.chat', object: ({ sprint }) => sprint },
    body: AskInChat,
    reply: [200, SprintReply],
    errors: { 502: 'The model answered with an error', 503: 'No model is configured' },
    costs: 'model',
    waits: 'before it writes',
    streams: 'Events `text` with `{ text }`, each a piece of the reply, then `done` with the whole reply, or `error`',
    stream: async (app, { sprint, user, body, keyed }, { send }) => {
      const onText = (text: string) => send({ event: 'text', data: { text } });
      const asking = { user, message: body.message, asMember: true, request: keyed?.id, onText };
      send({ event: 'done', data: { response: await chatAboutSprint(app, sprint, asking) } });
    },
    handle: async (app, { sprint, user, body, keyed }) => {
      const asking = { user, message: body.message, asMember: true, request: keyed?.id };
      return { response: await chatAboutSprint(app, sprint, asking) };
    },
  }),
];
