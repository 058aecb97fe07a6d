import type { EntityManager } from 'typeorm';
import type { ProofStatus } from '../../domain/proof/proof.ts';

/** How many of the pull requests that were judged last in a month are proved. */
export interface ProofMonth {
  /** Such as `2026-11`, in UTC. */
  month: string;
  proved: number;
  judged: number;
}

/** At most this many months are shown, the latest ones, of at most this many heads, those that were judged last. */
const [maxMonths, maxJudged] = [12, 5000];

/** Returns the share of proved pull requests by month, the latest month first. Each counts with its last judged head. */
export async function listProofMonths(em: EntityManager, repositoryId: string): Promise<ProofMonth[]> {
  return em.query(
    `select to_char(p.at at time zone 'UTC', 'YYYY-MM') as month /* not null */,
       (count(*) filter (where p.status = 'proved'))::int as proved, count(*)::int as judged
     from (select distinct on (number) status, at
       from (select number, status, at from pull_proofs
         where repository_id = $1 and status is not null and status <> 'not_run'
           and at > now() - interval '12 months'
         order by at desc, id limit ${maxJudged}) latest
       order by number, at desc) p
     group by 1 order by 1 desc limit ${maxMonths}`,
    [repositoryId],
  );
}

/** A check and how long it takes. */
export interface SlowCheck {
  command: string;
  seconds: number;
}

/** Checks are timed in this many of the latest proofs, and this many of them are shown. */
const [maxRuns, maxSlow] = [50, 10];

/** Returns the checks of a repository that take longest in the median of its latest proofs, the slowest first. */
export async function listSlowChecks(em: EntityManager, repositoryId: string): Promise<SlowCheck[]> {
  return em.query(
    `select regexp_replace(e.text, ': (passed|failed)$', '') as command /* not null */,
       percentile_cont(0.5) within group (order by (e.data->>'seconds')::float8)::float8 as seconds /* not null */
     from (select p.run_id as id from pull_asks p join runs r on r.id = p.run_id and r.kind = 'prove'
       where p.repository_id = $1 order by p.created_at desc limit ${maxRuns}) latest
     join run_events e on e.run_id = latest.id and e.type = 'check' and e.data ? 'seconds'
     group by 1 order by 2 desc, 1 limit ${maxSlow}`,
    [repositoryId],
  );
}

/** A proof as the list of a repository shows it. */
export interface ListedProof {
  pullRequest: number;
  headSha: string;
  author: string | null;
  status: ProofStatus;
  reason: string | null;
  seconds: number;
  at: Date;
}

/** Returns the proofs of a repository that have ended, newest first. A run that failed proved nothing. */
export async function listPullProofs(
  em: EntityManager,
  repositoryId: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<ListedProof[]> {
  return em.query(
    `select p.number as "pullRequest", p.head_sha as "headSha", p.author, p.status as status /* not null */, p.reason,
       p.seconds, p.at as at /* not null */
     from pull_proofs p where p.repository_id = $1 and p.status is not null
     order by p.at desc, p.id limit $2 offset $3`,
    [repositoryId, limit + 1, offset],
  );
}
