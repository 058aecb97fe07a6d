/**
 * Writes what a full disk, a standby or a read-only database refuses, and leaves nothing behind: a lock on a row is a write
 * of that row and of the log, flushed at the commit; a result that does not fit into `work_mem` makes a file grow by
 * about 1 MB, which a write to an existing page would not. One message is one transaction.
 */
export const writeProbe = `
  set local work_mem = '64kB';
  select count(*) from generate_series(1, 50000);
  select 1 from migrations order by id limit 1 for no key update`;
