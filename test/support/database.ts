import { randomBytes } from 'node:crypto';
import pg from 'pg';

const server = process.env.TEST_POSTGRES_URL ?? '';

/**
 * One connection for all test files of this process, because opening one takes PostgreSQL more processor time than copying
 * a database. It does not keep the process alive, nor does it end it when the server stops.
 */
const admin = new pg.Pool({ connectionString: server, max: 1, idleTimeoutMillis: 0, allowExitOnIdle: true });
admin.on('error', () => {});

async function asAdmin(statement: string): Promise<void> {
  await admin.query(statement);
}

/**
 * Creates a database for one test file, as a copy of the migrated template or of another database to which nobody is
 * connected. `drop` removes it.
 */
export async function createTestDatabase(
  template = 'template_deckhand',
): Promise<{ url: string; drop(): Promise<void> }> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  // Copies of one template wait for each other. PostgreSQL refuses only while a client is connected to the template.
  for (let tries = 1; ; tries++)
    try {
      // Copying files takes a third of what copying through PostgreSQL's buffers takes.
      await asAdmin(`create database ${name} template ${template} strategy file_copy`);
      break;
    } catch (error) {
      // On a busy machine, a client that has disconnected may count for longer than PostgreSQL waits (5 s).
      if ((error as { code?: string }).code !== '55006' || tries === 5) throw error;
    }
  return {
    url: server.replace(/\/postgres$/, `/${name}`),
    drop: () => asAdmin(`drop database ${name} with (force)`),
  };
}
