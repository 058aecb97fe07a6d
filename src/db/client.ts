import pg from 'pg';

/**
 * A client for pools. A lost connection never ends the process: a pool hands out a client before the borrower can add
 * an `error` handler, and PostgreSQL may accept a client and report a fatal error in one packet. Queries still fail,
 * and the pool drops the client.
 */
export class PooledClient extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super(config);
    this.on('error', () => {});
  }
}
