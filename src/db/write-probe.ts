/**
 * A write that fails on a full disk, a standby or a read-only database, and that leaves no trace. Locking a row writes
 * to the row and to the write-ahead log, which is flushed at the commit. A result that does not fit into `work_mem`
 * needs about 1 MB of new disk space. The statements are sent as one message, so they form one transaction.
 */
export const writeProbe = `
  set local work_mem = '64kB';
  select count(*) from generate_series(1, 50000);
  select 1 from migrations order by id limit 1 for no key update`;
