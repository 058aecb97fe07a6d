import type { EntityManager } from 'typeorm';
import type { Failure, RunKind, RunStatus } from '../../domain/run.ts';
import type { TaskStatus } from '../../domain/task.ts';

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
export async function listChatRuns(em: EntityManager, taskId: string, limit: number): Promise<ChatRun[]> {
  return em.query(
    `select r.id, r.kind, r.status, a.name as agent, u.login as "startedBy", r.created_at as "createdAt", r.steps,
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
  parent: RelatedTask | null;
  dependencies: RelatedTask[];
  subtasks: RelatedTask[];
}
interface RelatedTask {
  id: string;
  title: string;
  status: TaskStatus;
  /** Whether its repository is private or unknown, or that of its issue is private. */
  isPrivate: boolean;
}

/** Returns the names of what a task belongs to, and its dependencies and subtasks, at most 30 each. */
export async function findSurroundings(em: EntityManager, taskId: string): Promise<Surroundings> {
  const related = `json_build_object('id', o.id, 'title', o.title, 'status', o.status, 'isPrivate', coalesce(
    (select bool_or(r.is_private) from repositories r where r.id in (o.repository_id, o.issue_repository_id)), true))`;
  const [row] = await em.query(
    `select a.name as owner, s.name as sprint,
       (select ${related} from tasks o where o.id = t.parent_id) as parent,
       array(select ${related} from tasks o join task_dependencies d on d.depends_on_id = o.id
         where d.task_id = t.id order by o.created_at, o.id limit 30) as dependencies,
       array(select ${related} from tasks o where o.parent_id = t.id order by o.created_at, o.id limit 30) as subtasks
     from tasks t left join agents a on a.id = t.owner left join sprints s on s.id = t.sprint_id where t.id = $1`,
    [taskId],
  );
  return row;
}
