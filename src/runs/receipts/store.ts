import type { EntityManager } from 'typeorm';
import type { Envelope } from '../../domain/receipt/envelope.ts';
import { storableText } from '../../domain/text/sanitize.ts';

/** A receipt that was given for the pull request of a task. */
export interface StoredReceipt {
  runId: string;
  taskId: string;
  repositoryId: string;
  repositoryName: string;
  prUrl: string;
  commit: string;
  envelope: Envelope;
  createdAt: Date;
}

type NewReceipt = Pick<StoredReceipt, 'runId' | 'repositoryId' | 'prUrl' | 'commit' | 'envelope'> & { number: number };

/** Stores a receipt. A worker that takes over keeps the one that is there. */
export async function insertReceipt(em: EntityManager, receipt: NewReceipt): Promise<void> {
  await em.query(
    `insert into receipts (run_id, repository_id, number, pull_url, commit_sha, envelope) values ($1, $2, $3, $4, $5, $6)
     on conflict do nothing`,
    [
      ...[receipt.runId, receipt.repositoryId, receipt.number, receipt.prUrl, receipt.commit],
      JSON.stringify(receipt.envelope),
    ],
  );
}

const columns = `c.run_id as "runId", r.task_id as "taskId", c.repository_id as "repositoryId",
  o.name as "repositoryName", c.pull_url as "prUrl", c.commit_sha as commit, c.envelope, c.created_at as "createdAt"
  from receipts c join runs r on r.id = c.run_id join repositories o on o.id = c.repository_id`;

interface Page {
  limit: number;
  offset: number;
}

/** Returns the receipts of a run, a row more than `limit` if there are more. */
export async function listReceiptsOfRun(
  em: EntityManager,
  runId: string,
  { limit, offset }: Page,
): Promise<StoredReceipt[]> {
  return em.query(`select ${columns} where c.run_id = $1 order by c.created_at, c.repository_id limit $2 offset $3`, [
    runId,
    limit + 1,
    offset,
  ]);
}

/** Returns the receipts of a pull request in the projects of a user, or in one of them, newest first. */
export async function listReceiptsOfPull(
  em: EntityManager,
  { userId, projectId, prUrl }: { userId: string; projectId: string | null; prUrl: string },
  { limit, offset }: Page,
): Promise<StoredReceipt[]> {
  return em.query(
    `select ${columns} join members m on m.project_id = r.project_id and m.user_id = $1
     where c.pull_url = $3 and ($2::text is null or r.project_id = $2)
     order by c.created_at desc, c.run_id limit $4 offset $5`,
    [userId, projectId, storableText(prUrl), limit + 1, offset],
  );
}

/** Returns the run whose receipt is about a commit; undefined if there is none. */
export async function findRunOfReceipt(
  em: EntityManager,
  taskId: string,
  repositoryId: string,
  commit: string,
): Promise<string | undefined> {
  const rows: { runId: string }[] = await em.query(
    `select c.run_id as "runId" from receipts c join runs r on r.id = c.run_id
     where c.repository_id = $1 and c.commit_sha = $2 and r.task_id = $3 order by c.created_at desc limit 1`,
    [repositoryId, commit, taskId],
  );
  return rows[0]?.runId;
}

/** Returns the hosts to which commands for a repository connected during a run, in the order of their names. */
export async function listHostsOfRun(em: EntityManager, runId: string, repositoryId: string): Promise<string[]> {
  const rows: { host: string | null }[] = await em.query(
    `select distinct e.data->>'host' as host from run_events e
     where e.run_id = $1 and e.type = 'network' and e.data->>'reachedFor' = $2 order by 1`,
    [runId, repositoryId],
  );
  return rows.flatMap(({ host }) => host ?? []);
}

interface Approval {
  what: 'plan' | 'push' | 'setup';
  by: string | null;
  at: Date;
}

/** Returns what people have approved about a tree of a repository, and the plan that its run follows. */
export async function listApprovals(
  em: EntityManager,
  { taskId, planOf, repositoryId, tree }: { taskId: string; planOf: string | null; repositoryId: string; tree: string },
): Promise<Approval[]> {
  return em.query(
    `select a.what /* not null */, u.login as by, a.at /* not null */ from (
       select h.purpose as what, h.approved_by, h.approved_at as at from held_changes h
       where h.task_id = $1 and h.approved_at is not null and h.trees ->> $3 = $4
       union
       select * from (select 'plan', p.approved_by, p.approved_at from plans p
         where p.run_id = $2 and p.approved_at is not null order by p.approved_at desc limit 1) p) a
     left join users u on u.id = a.approved_by
     order by a.at, a.what limit 50`,
    [taskId, planOf, repositoryId, tree],
  );
}
