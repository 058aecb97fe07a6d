import type { EntityManager } from 'typeorm';
import type { Failure } from '../../domain/run.ts';
import type { TaskStatus } from '../../domain/task.ts';
import type { WaitReason } from '../../domain/waiting.ts';

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
export async function listChatTasks(em: EntityManager, sprintId: string, limit: number): Promise<ChatTask[]> {
  return em.query(
    `select t.id, t.title, t.status, a.name as owner, t.issue_number as "issueNumber", t.failure,
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
export async function listCarriedIn(em: EntityManager, sprintId: string, limit: number) {
  const rows: { id: string; title: string; from: string }[] = await em.query(
    `select distinct on (t.id) t.id, t.title, e.name as from
     from tasks t
     join sprint_history h on h.task_id = t.id and h.sprint_id <> $1
     join digests d on d.sprint_id = h.sprint_id and d.carried_over @> to_jsonb(t.id)
     join sprints e on e.id = d.sprint_id
     where t.sprint_id = $1 order by t.id, d.created_at desc limit $2`,
    [sprintId, limit],
  );
  return rows;
}

/** Returns the report of a completed sprint, with the titles of the tasks that it carried over. */
export async function findChatDigest(em: EntityManager, sprintId: string, limit: number) {
  const rows: { markdown: string; carriedOut: { id: string; title: string }[] }[] = await em.query(
    `select d.markdown, array(
       select json_build_object('id', t.id, 'title', t.title) from tasks t
       where t.id in (select jsonb_array_elements_text(d.carried_over)) order by t.id limit $2) as "carriedOut"
     from digests d where d.sprint_id = $1`,
    [sprintId, limit],
  );
  return rows[0];
}
