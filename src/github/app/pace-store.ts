import type { Database } from '../../db/database.ts';

/**
 * Reserves the next free write slot of an installation; the slot after it starts `intervalMs` later. Returns the time
 * until the slot, in milliseconds. When the installation is parked for longer than `longestWaitMs`, reserves nothing
 * and returns undefined, so that later writes do not queue behind an abandoned slot.
 */
export async function takeWriteSlot(
  db: Database,
  installationId: number,
  intervalMs: number,
  longestWaitMs: number,
): Promise<number | undefined> {
  const [row] = await db.prepared<{ seconds: string }>(
    'pace write',
    `insert into github_pace as p (installation_id, next_write_at, hour, hour_writes)
       values ($1, now() + make_interval(secs => $2::float8), date_trunc('hour', now()), 1)
     on conflict (installation_id) do update
       set next_write_at = greatest(now(), p.next_write_at, p.parked_until) + make_interval(secs => $2::float8),
         hour = date_trunc('hour', now()),
         hour_writes = case when p.hour = date_trunc('hour', now()) then p.hour_writes + 1 else 1 end
       where p.parked_until < now() + make_interval(secs => $3::float8)
     returning extract(epoch from next_write_at - now()) - $2::float8 as seconds`,
    [installationId, intervalMs / 1000, longestWaitMs / 1000],
  );
  return row && inMilliseconds(row.seconds);
}

/** Returns how long an installation stays parked, in milliseconds; 0 when it is not parked. */
export async function readParkedTime(db: Database, installationId: number): Promise<number> {
  const [row] = await db.prepared<{ seconds: string }>(
    'pace read',
    'select extract(epoch from parked_until - now()) as seconds from github_pace where installation_id = $1',
    [installationId],
  );
  return row === undefined ? 0 : inMilliseconds(row.seconds);
}

/** Parks an installation: no request is sent to GitHub for this many seconds. */
export async function parkInstallation(db: Database, installationId: number, seconds: number): Promise<void> {
  await db.prepared(
    'park',
    `insert into github_pace as p (installation_id, parked_until) values ($1, now() + make_interval(secs => $2::float8))
     on conflict (installation_id) do update
       set parked_until = greatest(p.parked_until, now() + make_interval(secs => $2::float8))`,
    [installationId, seconds],
  );
}

/** GitHub allows about this many writes per hour that create content (docs.github.com, "Rate limits"). */
const writesPerHour = 500;

/** Returns how many writes the installation has left in this hour. */
export async function writesLeft(db: Database, installationId: number): Promise<number> {
  const [row] = await db.prepared<{ writes: number }>(
    'writes left',
    `select hour_writes as writes from github_pace where installation_id = $1 and hour = date_trunc('hour', now())`,
    [installationId],
  );
  return Math.max(0, writesPerHour - (row?.writes ?? 0));
}

function inMilliseconds(seconds: string): number {
  return Math.max(0, Math.round(Number(seconds) * 1000));
}
