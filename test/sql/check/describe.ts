import type { EventEmitter } from 'node:events';
import pg from 'pg';
import type { Column } from './scope.ts';

/** What PostgreSQL says about a statement without running it. */
export interface Described {
  /** The type of each parameter. */
  parameters: string[];
  columns: { name: string; type: string }[];
}

/** A connection to a migrated database. */
export interface Schema {
  /**
   * Lets PostgreSQL parse and analyse a statement.
   * @throws the error of `pg` for a statement that it refuses
   */
  describe(text: string): Promise<Described>;
  tables: Map<string, Column[]>;
  close(): Promise<void>;
}

interface Protocol extends EventEmitter {
  parse(query: { name: string; text: string }): void;
  describe(what: { type: 'S'; name: string }): void;
  sync(): void;
}

/** Connects to a database and reads its columns. */
export async function openSchema(url: string): Promise<Schema> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const types = new Map<number, string>();
  for (const { oid, name } of (await client.query('select oid::int8::int as oid, typname as name from pg_type')).rows)
    types.set(oid, name);
  const tables = new Map<string, Column[]>();
  const { rows } = await client.query(
    `select c.relname as table, a.attname as name, not a.attnotnull as nullable from pg_attribute a
     join pg_class c on c.oid = a.attrelid
     where a.attnum > 0 and not a.attisdropped and c.relkind in ('r', 'v', 'p', 'm') and pg_table_is_visible(c.oid)
     order by c.relname, a.attnum`,
  );
  for (const { table, name, nullable } of rows)
    tables.set(table, [...(tables.get(table) ?? []), { name, mayBeNull: nullable }]);
  const typeOf = (oid: number) => types.get(oid) ?? `type ${oid}`;
  return { tables, describe: (text) => describe(client, text, typeOf), close: () => client.end() };
}

async function describe(client: pg.Client, text: string, typeOf: (oid: number) => string): Promise<Described> {
  const { connection } = client as unknown as { connection: Protocol };
  const described: Described = { parameters: [], columns: [] };
  const hearParameters = ({ dataTypeIDs }: { dataTypeIDs: number[] }) => {
    described.parameters = dataTypeIDs.map(typeOf);
  };
  connection.once('parameterDescription', hearParameters);
  try {
    await new Promise<void>((resolve, reject) => {
      // The part of a query that `pg` calls back. Nothing is executed.
      client.query({
        submit: (on: Protocol) => {
          on.parse({ name: '', text });
          on.describe({ type: 'S', name: '' });
          on.sync();
        },
        handleRowDescription: ({ fields }: { fields: { name: string; dataTypeID: number }[] }) => {
          described.columns = fields.map(({ name, dataTypeID }) => ({ name, type: typeOf(dataTypeID) }));
        },
        handleError: reject,
        handleReadyForQuery: () => resolve(),
      } as unknown as pg.Submittable);
    });
  } finally {
    connection.off('parameterDescription', hearParameters);
  }
  return described;
}
