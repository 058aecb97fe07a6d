import type { EntityManager } from 'typeorm';
import { type HandoffRow, Handoffs, PullRequests, type PullStatus } from '../db/work-tables.ts';
import { storableJson } from '../domain/text/storable.ts';
import type { TreeDiff } from '../git/diff.ts';

/** What was merged or closed before no longer counts for the task's lifecycle (decisions, section 5). */
export async function discountSettledPulls(em: EntityManager, taskId: string): Promise<void> {
  await em.query(`update pull_requests set counts = false where task_id = $1 and status in ('merged', 'closed')`, [
    taskId,
  ]);
}

export async function listHandoffs(em: EntityManager, taskId: string): Promise<HandoffRow[]> {
  return em.find(Handoffs, { where: { taskId }, order: { createdAt: 'ASC', id: 'ASC' } });
}

/** The last handoff of each task that this one waited for: dependencies, and its own subtasks. */
export async function listRelatedHandoffs(em: EntityManager, taskId: string) {
  const rows: { title: string; summary: string; nextSteps: string[] }[] = await em.query(
    `select o.title, h.summary, h.next_steps as "nextSteps"
     from tasks o join lateral (
       select * from handoffs where task_id = o.id order by created_at desc, id desc limit 1) h on true
     where o.parent_id = $1 or o.id in (select depends_on_id from task_dependencies where task_id = $1)
     order by o.created_at, o.id limit 30`,
    [taskId],
  );
  return rows;
}

export async function listPulls(em: EntityManager, taskId: string) {
  const rows: { repositoryId: string; repositoryName: string; prUrl: string; prNumber: number; status: PullStatus }[] =
    await em.query(
      `select p.repository_id as "repositoryId", r.name as "repositoryName", p.url as "prUrl", p.number as "prNumber", p.status
       from pull_requests p join repositories r on r.id = p.repository_id
       where p.task_id = $1 order by p.created_at, p.number`,
      [taskId],
    );
  return rows;
}

/** Open pull requests in the order in which their repositories were connected, which is the order of merging. */
export async function listOpenPulls(em: EntityManager, taskId: string) {
  return em
    .createQueryBuilder(PullRequests, 'p')
    .innerJoin('repositories', 'r', 'r.id = p.repositoryId')
    .where(`p.taskId = :taskId and p.status in ('open', 'draft')`, { taskId })
    .orderBy('r.created_at')
    .addOrderBy('p.number')
    .getMany();
}

/** Whether a pull request was merged that still counts for where the task belongs. */
export async function hasMergedPull(em: EntityManager, taskId: string): Promise<boolean> {
  return em.existsBy(PullRequests, { taskId, status: 'merged', counts: true });
}

export interface StoredDiff extends TreeDiff {
  branchName: string;
  baseBranch: string;
  /** The commit it was computed for. */
  headSha: string;
}

export async function upsertDiff(em: EntityManager, taskId: string, diff: StoredDiff): Promise<void> {
  await em.query(
    `insert into diffs (task_id, branch_name, base_branch, files, truncated, head_sha) values ($1, $2, $3, $4, $5, $6)
     on conflict (task_id) do update set branch_name = excluded.branch_name, base_branch = excluded.base_branch,
       files = excluded.files, truncated = excluded.truncated, head_sha = excluded.head_sha, at = now()`,
    [taskId, diff.branchName, diff.baseBranch, storableJson(diff.files), diff.truncated, diff.headSha],
  );
}

export async function findDiff(em: EntityManager, taskId: string): Promise<StoredDiff | undefined> {
  const rows: StoredDiff[] = await em.query(
    `select branch_name as "branchName", base_branch as "baseBranch", head_sha as "headSha", files, truncated from diffs where task_id = $1`,
    [taskId],
  );
  return rows[0];
}
