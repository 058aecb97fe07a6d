import pg from 'pg';

/**
 * A client for pools whose loss never ends the process. A pool hands out a client before the borrower can add an `error`
 * handler, and PostgreSQL may send its last words in the same packet as its greeting. Queries still fail, and the pool
 * drops the client.
 */
export class PooledClient extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super(config);
    this.on('error', () => {});
  }
}
