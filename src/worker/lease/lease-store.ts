import type { EntityManager } from 'typeorm';
import { violatedUnique } from '../../db/database.ts';
import { behindOthers, type RunRow, Runs, urgencyOf } from '../../db/tables/run.ts';
import { LeaseLost } from '../../domain/run.ts';
import type { Leased } from '../../runs/store.ts';
import { addWait, isDue } from '../../runs/waiting/store.ts';

/** A run fails after this many interruptions without progress. The pauses between them add up to five minutes. */
export const maxInterruptions = 10;

/** Builds the SQL for the pause after a number of interruptions in a row: 1, 2, 4 … 60 seconds. */
const pauseAfter = (count: string) =>
  `make_interval(secs => case when ${count} <= 0 then 0 else least(60, 2 ^ least(${count} - 1, 6)) end)`;

/**
 * SQL: the run is running, but its lease has expired and another worker may take it over. A worker that gave the run
 * back has set `not_before`. After a worker was lost, the first takeover happens when the lease expires, and later ones
 * happen after a pause.
 */
const isAbandoned = `r.status = 'running' and r.lease_until < now()
  and coalesce(r.not_before, r.lease_until + ${pauseAfter('r.interruptions')}) <= now()`;

/** How many of the oldest queued runs are looked at before all projects are, and how many of them may be chosen. */
const [maxLookedAt, maxEarly] = [500, 50];

/** SQL: whether no run of a project that goes first is queued. The order makes PostgreSQL use `runs_queued_by_agent`. */
const noneWaits = (projectId: string) => `(
  select w.id from runs w where w.status = 'queued' and w.kind not in ${behindOthers} and w.project_id = ${projectId}
  order by w.project_id, coalesce(w.agent_id, ''), w.runs_on, w.created_at, w.id limit 1) is null`;

/**
 * SQL: whether a queued run `q` may begin beside the running ones of its project. A harvest takes up to an hour, so one of a
 * project runs at a time: those of all its repositories could hold every slot.
 */
const mayBegin = `not (q.kind = 'harvest' and q.project_id in (select project_id from busy where harvests))`;

/** SQL: whether a run `r` lets the others of its project go first. */
const isBehind = `r.kind in ${behindOthers}`;

/** SQL: no run that lets others go first and is not in `oldest_behind` was created before this. */
const othersSince = `(
  select case when count(*) < ${maxLookedAt} then 'infinity' else max(created_at) end from oldest_behind)`;

/** SQL: whether the person who created the project of a run `q` without an installation has running runs in any such project. */
const isOfBusyCreator = `exists (
  select from creators join projects p on p.created_by = creators.person where p.id = q.project_id)`;

/**
 * SQL: the runs `r` that a worker may claim, as `with … from … where …`. $1 is the limit of running runs per project, 0
 * for none. An agent has one running run per project. `b.runs` counts the running runs of the project, `creators.runs` those of
 * all projects that its creator made without an installation: otherwise, more projects would be more turns. A run that lets
 * others go first is one of them only while no other run of its project is queued. If it also waited for the runs of other
 * projects, the long queue of one tenant would hold it up.
 *
 * What this reads must not grow with the queue of a project. The oldest run of a project without running runs is the
 * one to claim, and it is usually among the oldest of all (`early`). If not, `heads` finds the oldest run of each agent
 * in each project, for each set of labels: it jumps from one to the next in the index `runs_queued_by_agent`. Runs that let
 * others go first are found in the same two ways (`early_behind`, `behind`). `behind` is left out where an early run is older
 * than all that it could find for projects without running runs.
 *
 * @param labels an SQL expression: those of the worker. It claims no run that needs others
 */
const claimable = (columns: string, labels: string) => `
  with recursive busy as materialized (
    select project_id, count(*)::int as runs, coalesce(array_agg(slot) filter (where slot is not null), '{}') as slots,
      coalesce(array_agg(agent_id) filter (where agent_id is not null and kind not in ${behindOthers}), '{}') as agents,
      bool_or(kind = 'harvest') as harvests
    from runs where status = 'running' group by project_id
  ), creators as materialized (
    select p.created_by as person, sum(b.runs)::int as runs
    from busy b join projects p on p.id = b.project_id where p.created_by is not null group by 1
  ), early as materialized (
    select id, created_at from (select id, project_id, created_at, runs_on from runs
      where status = 'queued' and kind not in ${behindOthers} order by created_at, id limit ${maxLookedAt}) q
    where project_id not in (select project_id from busy) and runs_on <@ ${labels} and not ${isOfBusyCreator}
    order by created_at, id limit ${maxEarly}
  ), heads as (
    (select q.id, q.project_id, coalesce(q.agent_id, '') as agent, q.runs_on from runs q
     where q.status = 'queued' and q.kind not in ${behindOthers} and not exists (select from early)
     order by q.project_id, coalesce(q.agent_id, ''), q.runs_on, q.created_at, q.id limit 1)
    union all
    select next.* from heads h cross join lateral (
      select q.id, q.project_id, coalesce(q.agent_id, '') as agent, q.runs_on from runs q
      where q.status = 'queued' and q.kind not in ${behindOthers}
        and (q.project_id, coalesce(q.agent_id, ''), q.runs_on) > (h.project_id, h.agent, h.runs_on)
      order by q.project_id, coalesce(q.agent_id, ''), q.runs_on, q.created_at, q.id limit 1) next
  ), oldest_behind as materialized (
    select id, project_id, created_at, runs_on from runs
    where status = 'queued' and kind in ${behindOthers} order by created_at, id limit ${maxLookedAt}
  ), early_behind as materialized (
    select id from oldest_behind q
    where project_id not in (select project_id from busy) and runs_on <@ ${labels} and ${noneWaits('q.project_id')}
      and not ${isOfBusyCreator}
    order by created_at, id limit ${maxEarly}
  ), behind as (
    (select q.id, q.project_id, q.runs_on from runs q where q.status = 'queued' and q.kind in ${behindOthers} and ${mayBegin}
       and not exists (select from early_behind) and not exists (select from early where created_at <= ${othersSince})
     order by q.project_id, q.runs_on, q.created_at, q.id limit 1)
    union all
    select next.* from behind h cross join lateral (
      select q.id, q.project_id, q.runs_on from runs q
      where q.status = 'queued' and q.kind in ${behindOthers} and ${mayBegin} and (q.project_id, q.runs_on) > (h.project_id, h.runs_on)
      order by q.project_id, q.runs_on, q.created_at, q.id limit 1) next
  ), lost as (select r.id from runs r where ${isAbandoned})
  select ${columns}
  from (select id from early union all select id from heads union all select id from lost
    union all select id from early_behind union all select id from behind h where ${noneWaits('h.project_id')}) c
  join runs r on r.id = c.id join projects p on p.id = r.project_id
    left join busy b on b.project_id = r.project_id left join creators on creators.person = p.created_by
  where r.runs_on <@ ${labels} and (${isAbandoned} or r.status = 'queued' and (b.runs is null
    or (${isBehind} or coalesce(r.agent_id, '') <> all (b.agents)) and ($1::int = 0 or b.runs < $1::int)))`;

/**
 * SQL: whether a run is queued or abandoned. PostgreSQL takes ten milliseconds to plan the choice of a run, and usually there is none
 * when a worker asks, which it does after each run and with each heartbeat. With `order by`, PostgreSQL uses the indexes.
 */
const mayFind = `(
  (select id from runs where status = 'queued' and kind not in ${behindOthers} order by created_at, id limit 1) is not null
  or (select id from runs where status = 'queued' and kind in ${behindOthers} order by created_at, id limit 1) is not null
  or exists (select from runs r where ${isAbandoned}))`;

/** SQL: the lowest number that no running run of the project has. */
const freeSlot = `(
  select min(n) from generate_series(1, coalesce(b.runs, 0) + 1) n where n <> all (coalesce(b.slots, '{}')))`;

/**
 * SQL: instead of the run `was`, which decides whose turn it is, the most urgent run of its project that may begin; no row if
 * none is more urgent. Looks at a limited number, because those of busy agents may be many.
 */
const moreUrgent = `
  select r.id, r.status, r.not_before, r.heartbeat_at, was.slot
  from was cross join lateral (
      select q.id from runs q
      where q.status = 'queued' and q.kind not in ${behindOthers} and q.project_id = was.project_id
        and ${urgencyOf('q')} < ${urgencyOf('was')}
      order by ${urgencyOf('q')}, q.created_at, q.id limit ${maxLookedAt}) ahead
    join runs r on r.id = ahead.id
  where was.status = 'queued' and was.kind not in ${behindOthers} and r.status = 'queued' and r.runs_on <@ $3::text[]
    and coalesce(r.agent_id, '') <> all (was.busy_agents)
  order by ${urgencyOf('r')}, r.created_at, r.id limit 1 for update of r skip locked`;

export interface Claim {
  run: RunRow;
  /**
   * Set for a run that was running before: the seconds since its last heartbeat, and whether its worker gave it back.
   */
  takenOver: { seconds: number; isGivenBack: boolean } | undefined;
}

/**
 * Claims a run: one whose worker was lost, otherwise one of the project whose oldest run is the oldest of those of the
 * projects with the fewest running runs: its most urgent, then its oldest. The projects that a person created without an
 * installation count together. Claims one that lets others go first only while no other run of its project is queued; of
 * harvests, one of a project. At most `maxPerProject` runs of a project run at the same time (0 for no limit), and one of each
 * agent. A run that needs labels is claimed only by a worker that has them. Returns undefined when no run can be claimed.
 */
export async function claimRun(
  em: EntityManager,
  leaseSeconds: number,
  maxPerProject = 0,
  labels: string[] = [],
): Promise<Claim | undefined> {
  for (;;) {
    try {
      return await tryClaim(em, leaseSeconds, maxPerProject, labels);
    } catch (error) {
      // Another worker claimed a run of the same agent or project at the same time. A unique index allows one of them.
      if (!['runs_busy_agent', 'runs_slot'].includes(violatedUnique(error) ?? '')) throw error;
    }
  }
}

async function tryClaim(
  em: EntityManager,
  leaseSeconds: number,
  maxPerProject: number,
  labels: string[],
): Promise<Claim | undefined> {
  const [{ isWorthIt }]: [{ isWorthIt: boolean }] = await em.query(`select ${mayFind} as "isWorthIt"`);
  if (!isWorthIt) return undefined;
  const [rows]: [{ id: string; wasRunning: boolean; isGivenBack: boolean; seconds: number }[]] = await em.query(
    // The choice must be made once: as a part of the update, PostgreSQL may make it for each row of a small table.
    `with was as materialized (
       ${claimable(
         `r.id, r.project_id, r.kind, r.priority, r.status, r.not_before, r.heartbeat_at,
         coalesce(b.agents, '{}') as busy_agents,
         case when r.status = 'running' then r.slot else ${freeSlot} end as slot`,
         '$3::text[]',
       )}
       order by r.status = 'running' desc, coalesce(creators.runs, b.runs, 0), coalesce(b.runs, 0), r.created_at, r.id
       limit 1 for update of r skip locked),
     urgent as materialized (${moreUrgent}),
     chosen as (select * from urgent
       union all select id, status, not_before, heartbeat_at, slot from was where not exists (select from urgent))
     update runs set status = 'running', fence = fence + 1, started_at = coalesce(started_at, now()),
       heartbeat_at = now(), lease_until = now() + make_interval(secs => $2), not_before = null, slot = chosen.slot,
       ${addWait}, waiting_since = null,
       wait_id = null, wait_reason = null, wait_text = null, wait_options = null,
       interruptions = interruptions + (chosen.status = 'running' and chosen.not_before is null)::int
     from chosen where runs.id = chosen.id
     returning runs.id, chosen.status = 'running' as "wasRunning", chosen.not_before is not null as "isGivenBack",
       coalesce(extract(epoch from now() - chosen.heartbeat_at), 0)::float8 as seconds`,
    [maxPerProject, leaseSeconds, labels],
  );
  const [claimed] = rows;
  if (claimed === undefined) return undefined;
  const { id, wasRunning, isGivenBack, seconds } = claimed;
  return {
    run: await em.findOneByOrFail(Runs, { id }),
    takenOver: wasRunning ? { seconds: Math.round(seconds), isGivenBack } : undefined,
  };
}

/**
 * Returns whether a claim would find a run, or a run may stop waiting. Ignores runs queued in the last two seconds,
 * because their own job wakes a worker.
 */
export async function hasClaimable(em: EntityManager, maxPerProject = 0, labels: string[] = []): Promise<boolean> {
  const [seen]: [{ isWorthIt: boolean; isDue: boolean }] = await em.query(
    `select ${mayFind} as "isWorthIt", exists (select from runs r where ${isDue}) as "isDue"`,
  );
  if (seen.isDue || !seen.isWorthIt) return seen.isDue;
  const found: unknown[] = await em.query(
    `select where exists (${claimable('r.id', '$2::text[]')} and (r.status = 'running' or r.created_at < now() - interval '2 seconds'))`,
    [maxPerProject, labels],
  );
  return found.length > 0;
}

/** Extends the lease of a run. @throws LeaseLost */
export async function renewLease(em: EntityManager, leased: Leased, leaseSeconds: number): Promise<void> {
  const [, count]: [unknown, number] = await em.query(
    `update runs set heartbeat_at = now(), lease_until = now() + make_interval(secs => $3) where id = $1 and fence = $2 and status = 'running'`,
    [leased.id, leased.fence, leaseSeconds],
  );
  if (count === 0) throw new LeaseLost(leased.id);
}

/**
 * Releases a run because this worker is stopping, so that another worker can continue it immediately. This does not
 * count as an interruption.
 */
export async function handOver(em: EntityManager, leased: Leased): Promise<void> {
  await em.query(
    `update runs set heartbeat_at = now(), lease_until = now() - interval '1 second', not_before = now()
     where id = $1 and fence = $2 and status = 'running'`,
    [leased.id, leased.fence],
  );
}

/**
 * Gives back a run that cannot continue on this worker for now. Returns the pause in seconds; undefined when the run is
 * not leased.
 */
export async function giveBack(em: EntityManager, leased: Leased): Promise<number | undefined> {
  const [rows]: [{ seconds: number }[]] = await em.query(
    `update runs set interruptions = interruptions + 1, heartbeat_at = now(), lease_until = now() - interval '1 second',
       not_before = now() + ${pauseAfter('interruptions + 1')}
     where id = $1 and fence = $2 and status = 'running'
     returning extract(epoch from not_before - now())::float8 as seconds`,
    [leased.id, leased.fence],
  );
  return rows[0]?.seconds;
}

/** Returns the reason for the last interruption, from the log of the run. */
export async function lastInterruption(em: EntityManager, runId: string): Promise<string | undefined> {
  const rows: { why: string }[] = await em.query(
    `select data->>'interrupted' as why /* not null */ from run_events where run_id = $1 and data ? 'interrupted'
     order by run_events.id desc limit 1`,
    [runId],
  );
  return rows[0]?.why;
}
