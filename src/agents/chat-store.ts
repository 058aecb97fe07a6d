import type { EntityManager } from 'typeorm';
import { idFrom, newId } from '../db/ids.ts';
import { storableText } from '../domain/text/storable.ts';

/** What a conversation is about. */
export type Subject = { taskId: string } | { sprintId: string };

export interface ChatMessage {
  id: string;
  role: 'user' | 'assistant' | 'summary';
  content: string;
}

const columns = (about: Subject) =>
  'taskId' in about ? (['task_id', about.taskId] as const) : (['sprint_id', about.sprintId] as const);

export async function insertMessage(
  em: EntityManager,
  about: Subject,
  message: {
    role: ChatMessage['role'];
    content: string;
    userId?: string | undefined;
    /** The id of the last message that a summary covers. */
    covers?: string;
    /**
     * The id of the request. When a request is repeated, its message moves to the end and is not stored a second time.
     */
    request?: string | undefined;
  },
): Promise<void> {
  const [column, id] = columns(about);
  await em.query(
    // The time of the covered message is copied in SQL, because the database stores microseconds and JavaScript only
    // milliseconds.
    `insert into chat_messages (id, ${column}, role, user_id, content, at)
     values ($1, $2, $3, $4, $5, coalesce((select at from chat_messages where id = $6), clock_timestamp()))
     on conflict (id) do update set at = excluded.at`,
    [
      message.request === undefined ? newId('msg') : idFrom('msg', message.request),
      id,
      message.role,
      message.userId ?? null,
      storableText(message.content),
      message.covers ?? null,
    ],
  );
}

/** Returns the newest summary and all messages after it, oldest first. */
export async function listMessages(em: EntityManager, about: Subject): Promise<ChatMessage[]> {
  const [column, id] = columns(about);
  return em.query(
    `with summary as (select at from chat_messages where ${column} = $1 and role = 'summary' order by at desc limit 1)
     select id, role, content from chat_messages
     where ${column} = $1 and (role = 'summary' and at = (select at from summary)
       or role <> 'summary' and at > coalesce((select at from summary), '-infinity'))
     order by at, (role = 'summary') desc, id`,
    [id],
  );
}
