import type { EntityManager } from 'typeorm';
import { newId } from '../../db/ids.ts';
import type { Judged, ProofStatus } from '../../domain/proof/proof.ts';
import type { Failure, RunStatus } from '../../domain/run.ts';
import { storableJson } from '../../domain/text/sanitize.ts';
import type { PullRef } from '../reviewing/store.ts';
import { boundedCommits } from './outdated-proofs.ts';

/**
 * Why a proof is not tried: a person who may write has to ask first, the minutes of the day are used up, or the settings of the
 * repository cannot be used; then `reason` says why, and is null once they can be used again and want no proof.
 */
export type ProofHold = 'writer' | 'minutes' | 'settings';

/** A remark at a line of a file that decides about a proof. */
export interface ProofNote {
  path: string;
  line: number;
  level: 'notice' | 'warning';
  text: string;
}

/** The proof of one head of a pull request. */
export interface PullProof extends PullRef {
  id: string;
  headSha: string;
  author: string | null;
  runId: string | null;
  hold: ProofHold | null;
  /**
   * It is that of somebody who may not write here, and nobody who may has asked for it. Also once its pull request is closed,
   * when it has no hold any more.
   */
  isForeign: boolean;
  /** Weakened tests make the check run fail. */
  isRequired: boolean;
  /** The minutes that the repository allows a day; null where a person asked. */
  minutesPerDay: number | null;
  /** The branch into which the pull request went then; null if an earlier release did not store it. */
  base: string | null;
  /** A digest of the settings with which it was asked for, later of those with which it was judged; null from an earlier release. */
  rules: string | null;
  /** Its base branch or the settings have changed since, so that its result does not count, and has the status `not_run`. */
  isOutdated: boolean;
  /** Null until it is judged. */
  status: ProofStatus | null;
  reason: string | null;
  isHindered: boolean;
  notes: ProofNote[];
  seconds: number;
  checkRunId: number | null;
  checkShown: string | null;
  createdAt: Date;
  /** The state of its run; null without one. */
  runStatus: RunStatus | null;
  failure: Failure | null;
}

/** SQL: the status that counts. */
const status = `case when p.outdated_reason is not null and p.status is not null then 'not_run' else p.status end`;

const columns = `p.id, p.repository_id as "repositoryId", p.number, p.head_sha as "headSha", p.author, p.run_id as "runId",
  p.hold, (p.is_foreign or coalesce(p.hold = 'writer', false)) and p.status is null and p.run_id is null as "isForeign", p.is_required as "isRequired", p.minutes_per_day::float8 as "minutesPerDay", p.base_branch as base, p.rules, p.outdated_reason is not null as "isOutdated", ${status} as status,
  case when p.outdated_reason is not null and p.status is not null then p.outdated_reason else p.reason end as reason,
  p.is_hindered as "isHindered", case when p.outdated_reason is null then p.notes else '[]' end as notes /* not null */, p.seconds,
  p.check_run_id::float8 as "checkRunId", p.check_shown as "checkShown", p.created_at as "createdAt",
  r.status as "runStatus", r.failure`;

const from = 'pull_proofs p left join runs r on r.id = p.run_id';

type Asked = Pick<
  PullProof,
  | 'repositoryId'
  | 'number'
  | 'headSha'
  | 'author'
  | 'runId'
  | 'hold'
  | 'isRequired'
  | 'minutesPerDay'
  | 'base'
  | 'rules'
> & {
  isForeign?: boolean;
  /** Why the settings cannot be used. */
  reason?: string | null;
};

/**
 * Stores that a head is to be proved, or why it is not. Its result counts no longer, but what was found out about its files is kept.
 * The caller has the lock of the repository's reviews, and the time is that of the clock, so that of two heads the one stored last is the latest.
 */
export async function upsertPullProof(em: EntityManager, asked: Asked): Promise<void> {
  await em.query(
    `insert into pull_proofs (id, repository_id, number, head_sha, author, run_id, hold, is_required, minutes_per_day, reason,
       base_branch, is_foreign, rules, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, clock_timestamp())
     on conflict (repository_id, number, head_sha) do update set author = excluded.author, run_id = excluded.run_id,
       hold = excluded.hold, is_required = excluded.is_required, minutes_per_day = excluded.minutes_per_day,
       base_branch = excluded.base_branch, is_foreign = excluded.is_foreign, rules = excluded.rules, outdated_reason = null, own_head = null,
       base_requires = null, base_looked_at = null, status = null, commits = '{}', reason = excluded.reason, is_hindered = false,
       notes = '[]', seconds = 0, at = null, created_at = excluded.created_at`,
    [
      ...[newId('proof'), asked.repositoryId, asked.number, asked.headSha, asked.author, asked.runId, asked.hold],
      ...[
        asked.isRequired,
        asked.minutesPerDay,
        asked.reason ?? null,
        asked.base,
        asked.isForeign ?? false,
        asked.rules,
      ],
    ],
  );
}

export async function findPullProof(
  em: EntityManager,
  { repositoryId, number }: PullRef,
  headSha: string,
): Promise<PullProof | undefined> {
  const rows: PullProof[] = await em.query(
    `select ${columns} from ${from} where p.repository_id = $1 and p.number = $2 and p.head_sha = $3`,
    [repositoryId, number, headSha],
  );
  return rows[0];
}

/** Finds the proof that a run tries. */
export async function findProofOfRun(em: EntityManager, runId: string): Promise<PullProof | undefined> {
  const rows: PullProof[] = await em.query(`select ${columns} from ${from} where p.run_id = $1`, [runId]);
  return rows[0];
}

/** At most this many heads of a pull request are shown anew, the latest ones. Older ones have ended. */
const maxShown = 10;

/** A proof with the hidden task that stands for its pull request. */
export interface ShownProof extends PullProof {
  taskId: string;
  /** Whether the pull request had no other head since, as far as is known. */
  isLatest: boolean;
  /** Whether the base branch of a stranger's requires the check; null while GitHub was not asked. */
  baseRequires: boolean | null;
  baseLookedAt: Date | null;
}

const withTask = `select ${columns}, v.task_id as "taskId", p.base_requires as "baseRequires", p.base_looked_at as "baseLookedAt",
    not exists (select from pull_proofs n
      where n.repository_id = p.repository_id and n.number = p.number and n.created_at > p.created_at) as "isLatest"
  from reviewed_pulls v
  join pull_proofs p on p.repository_id = v.repository_id and p.number = v.number and v.purpose = 'proof'
  left join runs r on r.id = p.run_id`;

/** Returns the proofs of the latest heads of a pull request that a hidden task stands for. */
export async function listProofsOfHidden(em: EntityManager, taskId: string): Promise<ShownProof[]> {
  return em.query(`${withTask} where v.task_id = $1 order by p.created_at desc, p.id desc limit ${maxShown}`, [taskId]);
}

/** At most this many proofs of a head are read. */
const maxOfHead = 200;

/**
 * Returns the proofs of a head in all pull requests that had it. Those that may forbid a merge come first, and those of strangers
 * last: of these, the ones that wait, and whose base branch requires the check or was not looked at. Of the others, those come first
 * that were required, because many closed ones may be from a time when nothing was.
 */
export async function listProofsOfHead(
  em: EntityManager,
  { repositoryId, headSha }: Pick<PullProof, 'repositoryId' | 'headSha'>,
): Promise<ShownProof[]> {
  return em.query(
    `${withTask} where p.repository_id = $1 and p.head_sha = $2
     order by "isForeign", p.is_foreign and p.hold is null, p.base_requires is not distinct from false, p.status is null or ${status} in ('weakened', 'not_run') desc,
       p.is_required desc, p.created_at desc, p.id limit ${maxOfHead}`,
    [repositoryId, headSha],
  );
}

/** What the settings of a repository say about proofs. */
export interface RulesOfProof {
  /** A digest of everything that decides. */
  rules: string;
  /** Weakened tests make the check run fail. */
  isRequired: boolean;
}

/**
 * Marks a proof as that of the latest head, because the pull request has this head again. `settings` is what they say now, where they
 * can be used, and nothing was found out with others.
 */
export async function markLatestProof(
  em: EntityManager,
  id: string,
  settings?: Pick<RulesOfProof, 'isRequired'> & Partial<RulesOfProof>,
): Promise<void> {
  await em.query(
    `update pull_proofs set created_at = clock_timestamp(), is_required = coalesce($2::boolean, is_required),
       rules = coalesce($3, rules) where id = $1`,
    [id, settings?.isRequired ?? null, settings?.rules ?? null],
  );
}

/** Returns whether a pull request had no other head since a proof, as far as is known. */
export async function isLatestProof(em: EntityManager, id: string): Promise<boolean> {
  const rows: unknown[] = await em.query(
    `select from pull_proofs p join pull_proofs n
       on n.repository_id = p.repository_id and n.number = p.number and n.created_at > p.created_at
     where p.id = $1 limit 1`,
    [id],
  );
  return rows.length === 0;
}

export interface JudgedPull {
  proof: Judged;
  notes: ProofNote[];
  seconds: number;
  /** Identifies everything that decided; null if the same files have to be tried again. */
  fingerprint: string | null;
  /**
   * The commits below the head that the base branch lacked. If it takes one of them in from elsewhere, the pull request differs
   * from another commit, and may remove what was not there before.
   */
  commits: string[];
  /** What the settings of the run say; undefined if they were not read. */
  settings?: RulesOfProof;
}

/** Returns whether weakened tests made the check runs of a repository fail when its settings were read last; undefined if nothing was proved. */
export async function wasRequired(em: EntityManager, repositoryId: string): Promise<boolean | undefined> {
  const rows: { isRequired: boolean }[] = await em.query(
    `select is_required as "isRequired" from pull_proofs where repository_id = $1 order by created_at desc, id desc limit 1`,
    [repositoryId],
  );
  return rows[0]?.isRequired;
}

/** Evidence that was not confirmed for this long is deleted. */
const evidenceKept = `interval '90 days'`;

/**
 * Stores what the run of a proof found out, and that the same files need not be tried again, unless it was unclear. If the proof was
 * outdated in the meantime, it does not count, because the job that proves it again may fail for long.
 */
export async function storeJudged(em: EntityManager, runId: string, judged: JudgedPull): Promise<void> {
  const { proof, notes, seconds, fingerprint, commits, settings } = judged;
  const found = [proof.status, proof.reason, storableJson(notes), proof.isHindered ?? false];
  const [[shown]]: [{ repositoryId: string; headSha: string }[]] = await em.query(
    `update pull_proofs set status = $2, reason = $3, notes = $4, is_hindered = $5, seconds = $6, commits = $7,
       rules = coalesce(case when outdated_reason is null then $8 end, rules),
       is_required = coalesce(case when outdated_reason is null then $9::boolean end, is_required), at = now(), hold = null
     where run_id = $1 returning repository_id as "repositoryId", head_sha as "headSha"`,
    [runId, ...found, seconds, boundedCommits(commits), settings?.rules ?? null, settings?.isRequired ?? null],
  );
  if (shown === undefined || fingerprint === null || proof.status === 'not_run') return;
  await em.query(`delete from proof_evidence where repository_id = $1 and at < now() - ${evidenceKept}`, [
    shown.repositoryId,
  ]);
  await em.query(
    `insert into proof_evidence (status, reason, notes, is_hindered, repository_id, fingerprint, head_sha, at)
     values ($1, $2, $3, $4, $5, $6, $7, now())
     on conflict (repository_id, fingerprint) do update set status = excluded.status, reason = excluded.reason,
       notes = excluded.notes, is_hindered = excluded.is_hindered, head_sha = excluded.head_sha, at = excluded.at`,
    [...found, shown.repositoryId, fingerprint, shown.headSha],
  );
}

/** Stores that the minutes of the day are used up, so that a proof is not tried today. */
export async function holdForMinutes(em: EntityManager, runId: string): Promise<void> {
  await em.query(`update pull_proofs set hold = 'minutes' where run_id = $1`, [runId]);
}

/** Returns what was proved about the same files in a repository; undefined if nothing was, or if it was unclear. */
export async function findKnownProof(
  em: EntityManager,
  repositoryId: string,
  fingerprint: string,
): Promise<(Judged & { notes: ProofNote[]; headSha: string }) | undefined> {
  const rows: (Judged & { notes: ProofNote[]; headSha: string })[] = await em.query(
    `select status, reason, is_hindered as "isHindered", notes, head_sha as "headSha" from proof_evidence
     where repository_id = $1 and fingerprint = $2 and at >= now() - ${evidenceKept}`,
    [repositoryId, fingerprint],
  );
  return rows[0];
}

/** SQL: the beginning of this day (UTC). */
const today = `date_trunc('day', now() at time zone 'UTC') at time zone 'UTC'`;

/** Returns how many minutes the proofs of a repository took today (UTC), apart from those of one run. */
export async function minutesToday(em: EntityManager, repositoryId: string, exceptRunId: string | null) {
  const [row]: [{ minutes: number }] = await em.query(
    `select coalesce(sum(extract(epoch from coalesce(r.finished_at, now()) - r.started_at) - r.waited_seconds), 0)::float8 / 60
       as minutes
     from pull_asks p join runs r on r.id = p.run_id and r.kind = 'prove'
     where p.repository_id = $1 and p.created_at >= now() - interval '2 days' and r.started_at >= ${today}
       and r.id is distinct from $2`,
    [repositoryId, exceptRunId],
  );
  return row.minutes;
}

/** At most this many proofs are tried again at once that waited for another day. */
const maxHeld = 10;

/**
 * Returns the pull requests whose latest head waits for a day with minutes left, and that day has come, or for settings that can be
 * used.
 */
export async function listHeldNumbers(em: EntityManager, repositoryId: string): Promise<number[]> {
  const rows: { number: number }[] = await em.query(
    `select p.number from pull_proofs p where p.repository_id = $1
       and (p.hold = 'minutes' and p.created_at < ${today} or p.hold = 'settings' and p.reason is not null)
       and not exists (select from pull_proofs n where n.repository_id = p.repository_id and n.number = p.number
         and n.created_at > p.created_at)
     order by p.is_foreign, p.created_at limit ${maxHeld}`,
    [repositoryId],
  );
  return rows.map(({ number }) => number);
}

/** SQL: whether a stranger's proof waits for somebody. */
const isStrangers = `(hold = 'writer' or hold = 'settings' and is_foreign)`;

/** Returns whether a stranger's pull request waits for somebody, so that its end would release it. */
export async function waitsForWriter(em: EntityManager, { repositoryId, number }: PullRef): Promise<boolean> {
  const rows: unknown[] = await em.query(
    `select from pull_proofs where repository_id = $1 and number = $2 and ${isStrangers} limit 1`,
    [repositoryId, number],
  );
  return rows.length > 0;
}

/**
 * Lets proofs of a stranger's closed pull request wait no longer. When it is reopened, they do again. It stays known that they are
 * a stranger's.
 */
export async function releaseClosed(em: EntityManager, { repositoryId, number }: PullRef): Promise<void> {
  await em.query(
    `update pull_proofs set hold = null, is_foreign = true where repository_id = $1 and number = $2 and ${isStrangers}`,
    [repositoryId, number],
  );
}

/** Stores whether a branch requires the check, for the strangers' pull requests of a head that go into it. */
export async function markBaseLooked(
  em: EntityManager,
  { repositoryId, headSha }: Pick<PullProof, 'repositoryId' | 'headSha'>,
  { base, isRequired }: { base: string; isRequired: boolean },
): Promise<void> {
  await em.query(
    `update pull_proofs set base_requires = $4, base_looked_at = now()
     where repository_id = $1 and head_sha = $2 and base_branch = $3 and (is_foreign or hold = 'writer')`,
    [repositoryId, headSha, base, isRequired],
  );
}

/** Gives up the proofs of a pull request that wait for another day, or for settings. */
export async function forgetHeld(em: EntityManager, { repositoryId, number }: PullRef): Promise<void> {
  await em.query(
    `update pull_proofs set hold = null where repository_id = $1 and number = $2
       and hold in ('minutes', 'settings')`,
    [repositoryId, number],
  );
}

/** Stores what the check run of a head shows. All proofs of the head share it. */
export async function markProofShown(
  em: EntityManager,
  { repositoryId, headSha }: Pick<PullProof, 'repositoryId' | 'headSha'>,
  { checkRunId, shown }: { checkRunId: number; shown: string },
): Promise<void> {
  await em.query(
    'update pull_proofs set check_run_id = $3, check_shown = $4 where repository_id = $1 and head_sha = $2',
    [repositoryId, headSha, checkRunId, shown],
  );
}

/** Forgets what the check run of a proof shows, because somebody has asked for it again. Returns the ids of its tasks. */
export async function forgetShownProof(
  em: EntityManager,
  repositoryId: string,
  of: { checkRunId: number } | { sha: string },
): Promise<string[]> {
  const [rows]: [{ taskId: string }[]] = await em.query(
    `update pull_proofs p set check_shown = null from reviewed_pulls v
     where p.repository_id = $1 and (p.check_run_id = $2 or p.head_sha = $3)
       and v.repository_id = p.repository_id and v.number = p.number and v.purpose = 'proof'
     returning v.task_id as "taskId"`,
    [repositoryId, 'checkRunId' in of ? of.checkRunId : null, 'sha' in of ? of.sha : null],
  );
  return rows.map(({ taskId }) => taskId);
}
