import type { EntityManager } from 'typeorm';
import type { App } from '../../app.ts';
import { newId } from '../../db/ids.ts';
import type { RunRow } from '../../db/tables/run.ts';
import { oneLine } from '../../domain/text/sanitize.ts';
import type { Journal } from '../../runs/journal.ts';
import { park } from '../../runs/waiting/park.ts';
import { addWait } from '../../runs/waiting/store.ts';

/**
 * A worker that has not said for this long that it is running counts as stopped. It says so with every heartbeat, which
 * takes at most 59 seconds.
 */
const silentSeconds = 90;
/** A queued run waits this long for a worker with its labels before people are told. */
const unclaimedSeconds = 60;

/** Thrown when the settings of a repository ask for labels that this worker does not have. */
export class OtherWorkerNeeded extends Error {
  readonly wanted: string[];

  constructor(wanted: string[]) {
    super(`the repository asks for a worker with the labels ${wanted.join(', ')}`);
    this.name = 'OtherWorkerNeeded';
    this.wanted = wanted;
  }
}

/** SQL: whether a worker with these labels, an SQL expression, is running. */
const hasWorker = (labels: string) => `exists (select from workers w
  where ${labels} <@ w.labels and w.seen_at > now() - interval '${silentSeconds} seconds')`;

/**
 * Stores which labels a repository asks for, for the runs that begin later.
 * @throws OtherWorkerNeeded if this worker lacks one of them
 */
export async function assertLabels(app: App, repositoryId: string, wanted: string[]): Promise<void> {
  await app.db.manager.query('update repositories set runs_on = $2 where id = $1 and runs_on <> $2', [
    repositoryId,
    wanted,
  ]);
  if (wanted.some((label) => !app.config.RUNS_ON.includes(label))) throw new OtherWorkerNeeded(wanted);
}

/**
 * Leaves a run to workers that have the labels which its repository asks for. If none is running, the run waits for one, and
 * says so.
 */
export async function leaveToOthers(
  app: App,
  run: RunRow,
  journal: Journal,
  { wanted }: OtherWorkerNeeded,
): Promise<void> {
  await journal.write(async (em) => {
    const [{ exists }]: [{ exists: boolean }] = await em.query(`select ${hasWorker('$1::text[]')} as exists`, [wanted]);
    await em.query('update runs set runs_on = $2, wait_host = null where id = $1', [run.id, wanted]);
    if (exists) return requeue(em, run.id);
    const which = wanted.length === 1 ? 'the label' : 'the labels';
    const text = oneLine(`No running worker has ${which} ${wanted.join(', ')}, which .deckhand.yml asks for.`, 1000);
    await park(app, em, run, { id: newId('wait'), reason: 'host', text, options: [], seconds: null });
  });
  await app.db.tell('runs', '');
}

/** Queues a running run. The clock of the run stands still until a worker claims it. */
async function requeue(em: EntityManager, runId: string): Promise<void> {
  await em.query(
    `update runs set status = 'queued', lease_until = null, not_before = null, ${addWait}, waiting_since = now(),
       resume_at = null where id = $1`,
    [runId],
  );
}

/** Says that a worker with these labels is running. Runs that waited for it can be claimed. */
export async function noteWorker(em: EntityManager, id: string, labels: string[]): Promise<void> {
  await em.query(
    `with gone as (delete from workers where seen_at < now() - interval '1 day' and id <> $1)
     insert into workers (id, labels) values ($1, $2)
     on conflict (id) do update set labels = excluded.labels, seen_at = now()`,
    [id, labels],
  );
  if (labels.length === 0) return;
  await em.query(
    `update runs r set resume_at = now()
     where r.status = 'waiting' and r.wait_reason = 'host' and r.runs_on <> '{}' and r.runs_on <@ $1 and r.resume_at is null`,
    [labels],
  );
}

/** Returns whether a worker is the one that reports what is the same for all: of those running, the first by id. */
export async function isFirstWorker(em: EntityManager, id: string): Promise<boolean> {
  const [{ isFirst }]: [{ isFirst: boolean }] = await em.query(
    `select coalesce($1 = (select min(id) from workers where seen_at > now() - interval '${silentSeconds} seconds'), false)
       as "isFirst"`,
    [id],
  );
  return isFirst;
}

/** Says that a worker has stopped. */
export async function forgetWorker(em: EntityManager, id: string): Promise<void> {
  await em.query('delete from workers where id = $1', [id]);
}

/**
 * Lets any worker claim the runs for which no worker has been running for a minute. It reads the settings of the repository,
 * which may ask for other labels by now; otherwise the run waits, and says so.
 */
export async function releaseUnclaimed(em: EntityManager): Promise<void> {
  await em.query(
    `update runs r set runs_on = '{}'
     where r.status in ('queued', 'running') and r.runs_on <> '{}' and not ${hasWorker('r.runs_on')}
       and (r.status = 'queued' and greatest(r.created_at, r.waiting_since) < now() - interval '${unclaimedSeconds} seconds'
         or r.lease_until < now() - interval '${unclaimedSeconds} seconds')`,
  );
}

/** Returns whether a run is queued that only workers with other labels can claim. */
export async function waitsForOthers(em: EntityManager, labels: string[]): Promise<boolean> {
  const [{ exists }]: [{ exists: boolean }] = await em.query(
    `select exists (select from runs where status in ('queued', 'running') and runs_on <> '{}' and not runs_on <@ $1
       and (status = 'queued' or lease_until < now())) as exists`,
    [labels],
  );
  return exists;
}
