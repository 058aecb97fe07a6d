import type { EntityManager } from 'typeorm';
import { type MergeRow, Merges } from '../../db/tables/github.ts';

type PullKey = Pick<MergeRow, 'repositoryId' | 'number'>;

/** What GitHub does to merge a pull request when it is ready, and since when. */
export interface Merging {
  state: 'waiting' | 'queued';
  since: Date;
  /** What it waits for, as a sentence. */
  reason: string;
}

export async function findMerge(em: EntityManager, { repositoryId, number }: PullKey): Promise<MergeRow | null> {
  return em.findOneBy(Merges, { repositoryId, number });
}

/** Stores who asks for a merge, of which commit and into which branch. Call it before you ask GitHub. */
export async function noteAsked(
  em: EntityManager,
  { repositoryId, number, headSha }: PullKey & { headSha: string },
  { askedBy, base }: { askedBy: string; base: string },
): Promise<void> {
  await em.upsert(Merges, { repositoryId, number, askedBy, headSha, base, updates: 0, dropped: null }, [
    'repositoryId',
    'number',
  ]);
}

/** Stores what GitHub does now; returns whether that is news. */
export async function setMerging(em: EntityManager, { repositoryId, number }: PullKey, now: Merging): Promise<boolean> {
  const rows: unknown[] = await em.query(
    `insert into merges as m (repository_id, number, state, since, reason) values ($1, $2, $3, $4, $5)
     on conflict (repository_id, number) do update
       set state = excluded.state, since = excluded.since, reason = excluded.reason, dropped = null
       where (m.state, m.since, m.reason, m.dropped) is distinct from (excluded.state, excluded.since, excluded.reason, null)
     returning 1`,
    [repositoryId, number, now.state, now.since, now.reason],
  );
  return rows.length > 0;
}

/** Notes that the pull request has another head, which brings the agreed commit up to date with the base branch. */
export async function setAgreedHead(em: EntityManager, { repositoryId, number }: PullKey, headSha: string) {
  await em.update(Merges, { repositoryId, number }, { headSha });
}

export async function countUpdate(em: EntityManager, { repositoryId, number }: PullKey): Promise<void> {
  await em.increment(Merges, { repositoryId, number }, 'updates', 1);
}

/** Forgets that a pull request is to be merged; keeps why it was stopped, if anything did. */
export async function endMerging(
  em: EntityManager,
  { repositoryId, number }: PullKey,
  dropped: string | null,
): Promise<void> {
  const none = { state: null, since: null, reason: null, askedBy: null, headSha: null, base: null };
  await em.upsert(Merges, { repositoryId, number, ...none, dropped }, ['repositoryId', 'number']);
}

/** Finds the pull requests with a number that GitHub merges when they are ready, by the id of their repository on GitHub. */
export async function listMergingAt(
  em: EntityManager,
  githubId: number,
  number: number,
): Promise<{ repositoryId: string; number: number; url: string }[]> {
  return em.query(
    `select p.repository_id as "repositoryId", p.number, p.url from merges m
       join pull_requests p on p.repository_id = m.repository_id and p.number = m.number
       join repositories r on r.id = m.repository_id
     where r.github_id = $1 and m.number = $2 and m.state is not null`,
    [githubId, number],
  );
}

/** Finds the pull requests of a task that GitHub merges when they are ready. */
export async function listMergingPulls(
  em: EntityManager,
  taskId: string,
): Promise<(PullKey & { url: string; baseBranch: string | null })[]> {
  return em.query(
    `select p.repository_id as "repositoryId", p.number, p.url, p.base_branch as "baseBranch" from merges m
       join pull_requests p on p.repository_id = m.repository_id and p.number = m.number
     where p.task_id = $1 and m.state is not null order by p.created_at, p.number`,
    [taskId],
  );
}

/** Returns why the merges of a task's open pull requests were stopped, one sentence each. */
export async function listDropped(em: EntityManager, taskId: string): Promise<{ why: string; isPrivate: boolean }[]> {
  return em.query(
    `select m.dropped as why /* not null */, r.is_private as "isPrivate" from merges m
       join pull_requests p on p.repository_id = m.repository_id and p.number = m.number
       join repositories r on r.id = p.repository_id
     where p.task_id = $1 and p.status in ('open', 'draft') and m.dropped is not null order by p.created_at, p.number`,
    [taskId],
  );
}
