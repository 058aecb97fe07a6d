import type { PgBoss } from 'pg-boss';
import type { QueryRunner } from 'typeorm';
import type { JobName, Jobs } from './names.ts';

export type Queries = Pick<ReturnType<PgBoss['getDb']>, 'executeSql'>;

/**
 * The priority of a job that has no turn yet, because it is for later or will be retried. `giveTurns` gives it one when it
 * is due. With a turn of the time when it was sent or failed, it would go ahead of all that waited in between.
 */
const noTurn = -2_000_000_000;

/**
 * What pg-boss lacks, created once, because even creating an index that exists would lock its table:
 * - an index for the waiting jobs of a tenant, and one for those that have no turn yet;
 * - an index that makes keys unique; see `JobPolicy.once`. pg-boss cannot change the policy of a queue that exists;
 * - a trigger for a claimed job that goes back to the queue, because its tenant has enough slots: if another one with its key
 *   waits by now, that stands for both, and pg-boss would violate its index;
 * - a trigger that takes the turn of a job that will be retried. pg-boss inserts such a job again, with the priority that
 *   it had, not only when its handler fails but also when the worker was killed.
 */
export const prepareTurns = `do $$ begin
  if to_regprocedure('pgboss.stand_for()') is not null then return; end if;
  perform pg_advisory_xact_lock(hashtextextended('pgboss.job_unfinished', 0));
  create index if not exists job_waiting_by_group on pgboss.job_common (name, group_id, priority)
    where state < 'active' and group_id is not null;
  create index if not exists job_without_turn on pgboss.job_common (start_after)
    where state < 'active' and priority = ${noTurn};
  create or replace function pgboss.take_turn() returns trigger language plpgsql as $f$
    begin
      new.priority := ${noTurn};
      return new;
    end $f$;
  create or replace trigger job_retry before insert on pgboss.job_common
    for each row when (new.state = 'retry') execute function pgboss.take_turn();
  create or replace function pgboss.stand_for() returns trigger language plpgsql as $f$
    begin
      if exists (select from pgboss.job_common where name = new.name and state = 'created' and policy = 'short'
          and coalesce(singleton_key, '') = coalesce(new.singleton_key, '') and id <> new.id) then
        new.state := 'completed';
        new.completed_on := now();
      end if;
      return new;
    end $f$;
  create or replace trigger job_restored before update on pgboss.job_common for each row
    when (old.state = 'active' and new.state = 'created' and new.policy = 'short') execute function pgboss.stand_for();
  create unique index if not exists job_unfinished on pgboss.job_common (name, singleton_key)
    where state < 'completed' and policy = 'standard' and singleton_key is not null;
end $$`;

/** SQL: whether a job of this name with this key (SQL) waits, is running or will be retried, for names without `once`. */
export function isUnfinished(name: JobName, key: string): string {
  return `exists (select 1 from pgboss.job where name = '${name}' and singleton_key = ${key} and state < 'completed'
    and policy = 'standard')`;
}

/**
 * SQL: the turn of a tenant's next job. The first job of a tenant gets the priority of the job that is claimed next, and
 * each further one comes one turn later. This is start-time fair queueing (Goyal and others, 1996) with jobs of the same
 * length.
 */
function turnOf(name: string, tenant: string): string {
  const waiting = `from pgboss.job where name = ${name} and state < 'active' and priority > ${noTurn}`;
  return `coalesce(least(
    (select priority ${waiting} and not blocked order by priority desc, created_on limit 1),
    (select priority - 1 ${waiting} and group_id = ${tenant} order by priority limit 1)), 0)`;
}

/** Returns the SQL of whose job it is, by its payload, which the SQL gets as $2 (JSON); null for nobody's. */
export type TenantOf = (payload: Jobs[JobName]) => string;

export interface NewJob {
  name: JobName;
  data: Jobs[JobName];
  afterSeconds?: number;
}

/**
 * Returns the tenant of a new job as its group, and its turn as its priority: workers claim jobs with a higher priority
 * first.
 */
async function readTurn(db: Queries, { name, data, afterSeconds }: NewJob, tenantOf: TenantOf) {
  const { rows } = await db.executeSql(
    `select tenant, case when $3 then ${noTurn} else ${turnOf('$1', 'tenant')} end as priority
     from (select coalesce(${tenantOf(data)}, 'none') as tenant, $2::jsonb as payload) t`,
    [name, JSON.stringify(data), afterSeconds !== undefined],
  );
  const [turn] = rows as [{ tenant: string; priority: number }];
  return turn;
}

/** Due jobs that get their turns with one statement. */
const portion = 1000;

/**
 * SQL: gives a turn to the jobs that were for later, or will be retried, and are due now. Without a turn they come after all
 * others. Of jobs with the same turn the oldest is claimed first, so a retry counts as new: otherwise two jobs that take long to fail
 * would hold up everybody until their last retry. The lock of the rows suits those of `lockWaiting`.
 */
export const turnsOfDue = `
  with due as materialized (
    select name, id, group_id, start_after, state = 'retry' as is_retry from pgboss.job_common
    where state < 'active' and priority = ${noTurn} and start_after <= now()
    order by start_after limit ${portion} for no key update skip locked),
  tenants as materialized (
    select name, group_id, ${turnOf('t.name', 't.group_id')} as turn
    from (select distinct name, group_id from due) t),
  turns as (
    select d.name, id, turn - row_number() over (partition by d.name, d.group_id order by start_after, id) + 1 as turn, is_retry
    from due d join tenants t on t.name = d.name and t.group_id is not distinct from d.group_id)
  update pgboss.job_common j set priority = turns.turn, created_on = case when is_retry then now() else j.created_on end
  from turns where j.name = turns.name and j.id = turns.id`;

/**
 * SQL: which of the names $1 have jobs that are due, whether some of these have no turn yet, and whether the worker of a job
 * was killed: jobs under way have a heartbeat. Each job has a group, and pg-boss has an index for the groups of those.
 */
export const dueJobs = `
  select array(select name from unnest($1::text[]) as name where exists (select 1 from pgboss.job_common j
      where j.name = name.name and j.state < 'active' and not j.blocked and j.start_after <= now())) as due,
    exists (select 1 from pgboss.job_common
      where state < 'active' and priority = ${noTurn} and start_after <= now()) as "lacksTurn",
    exists (select 1 from pgboss.job_common where state = 'active' and group_id is not null
      and heartbeat_on + heartbeat_seconds * interval '1 second' < now()) as "isLost"`;

/**
 * Gives their turns to the jobs that are due; see `turnsOfDue`. Only one process at a time does this, because two would give
 * the same turns. It is a block of two statements, each of which sees what was committed when it begins: a single one would
 * not see the turns that another process gave just before it let go of the lock.
 */
export async function giveTurns(db: Queries): Promise<void> {
  await db.executeSql(`do $$ begin
    if not pg_try_advisory_xact_lock(hashtextextended('pgboss.give_turns', 0)) then return; end if;
    ${turnsOfDue};
  end $$`);
}

/** Gives a job its turn. `runner` is that of the transaction in which it is sent. Call `haveSent` once it is sent. */
export type TurnOf = (
  db: Queries,
  job: NewJob,
  runner: QueryRunner | undefined,
) => Promise<{ group: { id: string }; priority: number; haveSent(): void }>;

/** A turn of a job that others may not see yet. */
interface Given {
  tenant: string;
  priority: number;
  runner: QueryRunner | undefined;
  isSent: boolean;
}

/**
 * Returns a function that gives new jobs their turns. Jobs that are sent at the same time cannot see each other before
 * they are committed, and would all get the same turn. So the turns that this process gave count, too, but only until
 * their transactions end: otherwise a tenant that never pauses would wait behind all jobs that it ever sent.
 */
export function givenTurns(tenantOf: TenantOf): TurnOf {
  const unseen = new Map<JobName, Given[]>();
  return async (db, job, runner) => {
    const before = (unseen.get(job.name) ?? []).filter(isUnseen);
    unseen.set(job.name, before);
    const { tenant, priority: seen } = await readTurn(db, job, tenantOf);
    const given: Given = { tenant, priority: seen, runner, isSent: false };
    const haveSent = () => {
      given.isSent = true;
    };
    if (seen > noTurn) unseen.set(job.name, counted(given, before, unseen.get(job.name) ?? []));
    return { group: { id: tenant }, priority: given.priority, haveSent };
  };
}

/** Moves a turn behind those of its tenant that others do not see yet. Returns the turns that count from now on. */
function counted(given: Given, before: Given[], now: Given[]): Given[] {
  const { tenant, runner } = given;
  for (const other of [...before, ...now])
    if (other.tenant === tenant) given.priority = Math.min(given.priority, other.priority - 1);
  // The jobs of one transaction see each other, so its last one is enough.
  const others = runner === undefined ? now : now.filter((each) => each.runner !== runner || each.tenant !== tenant);
  return [...others, given];
}

/** Returns whether a job is not committed yet. */
function isUnseen({ runner, isSent }: Given): boolean {
  return runner === undefined ? !isSent : runner.isTransactionActive && !runner.isReleased;
}
