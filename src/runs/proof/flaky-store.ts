import type { EntityManager } from 'typeorm';
import type { ComparedCheck } from '../../domain/proof/flaky.ts';
import { storableJson, storableText } from '../../domain/text/sanitize.ts';

/** A check whose result differed between two tries on the same files. */
export interface FlakyCheck {
  command: string;
  /** How often it differed. */
  seen: number;
  /** How often two tries were compared. */
  of: number;
  /** When it differed last. */
  lastAt: Date;
  /** The single tests that differed last, where the output names them. */
  tests: string[];
}

/** Longer commands are cut: they are names here. */
const maxCommand = 2000;

/** Counts what two tries of checks on the same files said. */
export async function countCompared(em: EntityManager, repositoryId: string, compared: ComparedCheck[]): Promise<void> {
  for (const { command, differs, tests } of compared)
    await em.query(
      `insert into compared_checks (repository_id, command, seen, compared, last_at, tests)
       values ($1, $2, $3::int, 1, case when $3::int > 0 then now() end, $4)
       on conflict (repository_id, command) do update set seen = compared_checks.seen + excluded.seen,
         compared = compared_checks.compared + 1, last_at = coalesce(excluded.last_at, compared_checks.last_at),
         tests = case when excluded.seen > 0 then excluded.tests else compared_checks.tests end`,
      [repositoryId, storableText(command).slice(0, maxCommand), differs ? 1 : 0, storableJson(tests)],
    );
}

/** Counts, once for each commit, that a check of another service had different results on it. */
export async function countDiffering(
  em: EntityManager,
  repositoryId: string,
  command: string,
  sha: string,
): Promise<void> {
  await em.query(
    `insert into compared_checks (repository_id, command, seen, compared, last_at, last_sha)
     values ($1, $2, 1, 1, now(), $3)
     on conflict (repository_id, command) do update set seen = compared_checks.seen + 1,
       compared = compared_checks.compared + 1, last_at = now(), last_sha = excluded.last_sha
     where compared_checks.last_sha is distinct from excluded.last_sha`,
    [repositoryId, storableText(command).slice(0, maxCommand), sha],
  );
}

/** A check that did not differ for this many days is not known as flaky any more. */
const knownDays = 90;

/** Whether a check is known to be flaky. */
export async function isKnownFlaky(em: EntityManager, repositoryId: string, command: string): Promise<boolean> {
  const rows: unknown[] = await em.query(
    `select 1 from compared_checks where repository_id = $1 and command = $2 and seen > 0
       and last_at > now() - make_interval(days => ${knownDays})`,
    [repositoryId, storableText(command).slice(0, maxCommand)],
  );
  return rows.length > 0;
}

/** Returns the flaky checks of a repository, those that differed last first. */
export async function listFlaky(
  em: EntityManager,
  repositoryId: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<FlakyCheck[]> {
  return em.query(
    `select c.command, c.seen, c.compared as of, c.last_at as "lastAt" /* not null */, c.tests from compared_checks c
     where c.repository_id = $1 and c.seen > 0 order by c.last_at desc, c.command limit $2 offset $3`,
    [repositoryId, limit + 1, offset],
  );
}
