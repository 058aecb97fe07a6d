import type { EntityManager } from 'typeorm';
import { z } from 'zod';
import { idFrom, newId } from '../../db/ids.ts';
import { placesOfTask } from '../../db/tables/task.ts';
import { storableText } from '../../domain/text/sanitize.ts';
import { badField } from '../../errors.ts';
import { isDay, Timestamp, titleText, wholeNumber } from '../../http/route.ts';

export const AskInChat = z.strictObject({ message: titleText(10_000) });

const timePattern = /^(\d{4}-\d\d-\d\d)T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-](0\d|1[0-4]):?\d\d)$/;

/** Returns the time of an ISO 8601 text with a zone. `Date.parse` alone accepts February 30 and a zone such as +20:00. */
function timeIn(text: string): Date | undefined {
  const day = timePattern.exec(text)?.[1];
  const time = new Date(text);
  return day === undefined || !isDay(day) || Number.isNaN(time.getTime()) ? undefined : time;
}

export const HistoryQuery = z.strictObject({
  limit: wholeNumber(1, 100)
    .default(100)
    .meta({ override: { type: 'integer', minimum: 1, maximum: 100, default: 100 }, description: 'messages' }),
  before: z
    .string()
    .max(100, 'must be the id of a message or a time such as 2026-01-15T09:30:00Z')
    .transform((text, ctx) => {
      const before = /^msg_[0-9a-z]{26}$/.test(text) ? text : timeIn(text);
      if (before !== undefined) return before;
      ctx.addIssue({ code: 'custom', message: 'must be the id of a message or a time such as 2026-01-15T09:30:00Z' });
      return z.NEVER;
    })
    .optional()
    .meta({
      override: { type: 'string', maxLength: 100 },
      description: 'the id of a message or a time; the messages before it are returned',
    }),
});

export const ChatMessage = z
  .object({
    id: z.string(),
    at: Timestamp,
    role: z.enum(['user', 'assistant']),
    author: z
      .object({ id: z.string(), login: z.string() })
      .nullable()
      .meta({ description: 'null for the agent and for deleted accounts' }),
    text: z.string(),
  })
  .meta({ id: 'ChatMessage' });

/** What a conversation is about. */
export type Subject = { taskId: string } | { sprintId: string };

export interface ChatMessage {
  id: string;
  role: 'user' | 'assistant' | 'summary';
  content: string;
  /** The login of the author; null for the agent and for deleted accounts. */
  login: string | null;
}

const columns = (about: Subject) =>
  'taskId' in about ? (['task_id', about.taskId] as const) : (['sprint_id', about.sprintId] as const);

/** The ids of a message and its answer, if the request has an id. */
const idsOf = (request: string | undefined) =>
  request === undefined
    ? ([newId('msg'), newId('msg')] as const)
    : ([idFrom('msg', request), idFrom('msg', `answer ${request}`)] as const);

/**
 * Stores a message and its answer. They follow each other in the conversation, also when other people ask at the same
 * time. Times have milliseconds, so that a time that a client has read is exact.
 */
export async function insertExchange(
  em: EntityManager,
  about: Subject,
  exchange: { userId: string; message: string; answer: string; request: string | undefined },
): Promise<void> {
  const [column, id] = columns(about);
  await em.query(
    `insert into chat_messages (id, ${column}, role, user_id, content, at)
     select m.id, $1, m.role, m.user_id, m.content, now.at + m.place * interval '1 millisecond'
     from (select date_trunc('milliseconds', clock_timestamp()) as at) now,
       (values ($2::text, 'user', $3::text, $4::text, 0), ($5, 'assistant', null, $6, 1)) m (id, role, user_id, content, place)
     on conflict (id) do nothing`,
    [
      id,
      idsOf(exchange.request)[0],
      exchange.userId,
      storableText(exchange.message),
      idsOf(exchange.request)[1],
      storableText(exchange.answer),
    ],
  );
}

/** Finds the stored answer to a request that is repeated. */
export async function findAnswer(em: EntityManager, request: string): Promise<string | undefined> {
  const rows: { content: string }[] = await em.query('select content from chat_messages where id = $1', [
    idsOf(request)[1],
  ]);
  return rows[0]?.content;
}

/** Stores a summary of the conversation up to a message. */
export async function insertSummary(em: EntityManager, about: Subject, content: string, upTo: string): Promise<void> {
  const [column, id] = columns(about);
  await em.query(
    `insert into chat_messages (id, ${column}, role, content, at)
     select $1, $2, 'summary', $3, at from chat_messages where id = $4`,
    [newId('msg'), id, storableText(content), upTo],
  );
}

/** Returns the newest summary and all messages after it, oldest first. */
export async function listMessages(em: EntityManager, about: Subject): Promise<ChatMessage[]> {
  const [column, id] = columns(about);
  return em.query(
    `with summary as (select at from chat_messages where ${column} = $1 and role = 'summary' order by at desc limit 1)
     select m.id, m.role, m.content, u.login from chat_messages m left join users u on u.id = m.user_id
     where m.${column} = $1 and (m.role = 'summary' and m.at = (select at from summary)
       or m.role <> 'summary' and m.at > coalesce((select at from summary), '-infinity'))
     order by m.at, (m.role = 'summary') desc, m.id`,
    [id],
  );
}

/**
 * Returns the ids of everybody who has ever spoken in a conversation: summaries contain their words too, and answers
 * follow them. A deleted account is `''`, which is nobody.
 */
export async function listSpeakers(em: EntityManager, about: Subject): Promise<string[]> {
  const [column, id] = columns(about);
  const rows: { id: string }[] = await em.query(
    `select distinct coalesce(user_id, '') as id from chat_messages where ${column} = $1 and role = 'user'`,
    [id],
  );
  return rows.map((row) => row.id);
}

/** A message as people read it. */
export interface HistoryEntry {
  id: string;
  at: Date;
  role: 'user' | 'assistant';
  author: { id: string; login: string } | null;
  text: string;
}

/**
 * Returns the last messages of a conversation, oldest first. `before` is the id of a message or a time.
 * @throws AppError 400 when `before` is an id that is not in the conversation
 */
export async function listHistory(
  em: EntityManager,
  about: Subject,
  { limit, before }: { limit: number; before?: string | Date | undefined },
): Promise<HistoryEntry[]> {
  const [column, subject] = columns(about);
  const values: unknown[] = [subject, limit];
  let older = '';
  if (before instanceof Date) older = `and at < $${values.push(before)}`;
  else if (before !== undefined) {
    const rows: unknown[] = await em.query(`select 1 from chat_messages where id = $1 and ${column} = $2`, [
      before,
      subject,
    ]);
    if (rows.length === 0) throw badField('before', 'before must be the id of a message of this conversation');
    older = `and (at, id) < (select at, id from chat_messages where id = $${values.push(before)})`;
  }
  return em.query(
    `select m.id, m.at, m.role, m.content as text,
       case when u.id is not null then json_build_object('id', u.id, 'login', u.login) end as author
     from (select * from chat_messages where ${column} = $1 and role <> 'summary' ${older}
       order by at desc, id desc limit $2) m
     left join users u on u.id = m.user_id
     order by m.at, m.id`,
    values,
  );
}

/**
 * Returns those of the given ids that are tasks of a project, with their titles, their repositories and those whose content their
 * text may repeat.
 */
export async function findTitles(
  em: EntityManager,
  projectId: string,
  ids: string[],
): Promise<{ id: string; title: string; repositoryIds: string[] }[]> {
  if (ids.length === 0) return [];
  return em.query(
    `select o.id, o.title, ${placesOfTask} as "repositoryIds" /* not null */
     from tasks o where o.project_id = $1 and o.id = any($2)`,
    [projectId, ids],
  );
}

/**
 * Finds the issues of tasks and the pull requests of a project by their numbers. `url` is null for an issue. A number
 * that means different things in different repositories is left out.
 */
export async function findNumbered(
  em: EntityManager,
  projectId: string,
  numbers: number[],
): Promise<{ number: number; repositoryId: string; taskId: string; url: string | null }[]> {
  if (numbers.length === 0) return [];
  return em.query(
    `with found as (
       select t.issue_number as number, r.id as repository_id, t.id as task_id, null as url from tasks t
       join repositories r on r.id = t.issue_repository_id
       where r.project_id = $1 and t.project_id = $1 and t.issue_number = any($2)
       union all
       select p.number, r.id, p.task_id, p.url from pull_requests p join repositories r on r.id = p.repository_id
       where r.project_id = $1 and p.number = any($2))
     select number, min(repository_id) as "repositoryId", min(task_id) as "taskId", min(url) as url from found group by number having count(*) = 1`,
    [projectId, numbers],
  );
}
