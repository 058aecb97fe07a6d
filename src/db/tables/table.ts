import { type ColumnType, EntitySchema, type EntitySchemaColumnOptions } from 'typeorm';

type Column = EntitySchemaColumnOptions;

/**
 * Declares a table: properties in camelCase, columns in snake_case. Migrations create the tables, and a test checks
 * that they match these declarations, so `synchronize` is off.
 */
export function table<Row extends object>(name: string, columns: { [property in keyof Row]-?: Column }) {
  const named = Object.entries<Column>(columns).map(([property, column]) => [
    property,
    { name: property.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), ...column },
  ]);
  return new EntitySchema<Row>({ name, tableName: name, columns: Object.fromEntries(named) });
}

const column = (type: ColumnType, more: Partial<Column> = {}): Column => ({ type, ...more });

export const key = () => column('text', { primary: true });
export const text = (more: Partial<Column> = {}) => column('text', more);
export const maybeText = () => column('text', { nullable: true });
export const flag = (preset: boolean) => column('boolean', { default: preset });
export const whole = (more: Partial<Column> = {}) => column('integer', more);
export const json = (more: Partial<Column> = {}) => column('jsonb', more);
/** Declares a JSON column that keeps its text as it was written, with the order of its keys. */
export const orderedJson = (more: Partial<Column> = {}) => column('json', more);
export const time = (more: Partial<Column> = {}) => column('timestamptz', more);
export const maybeTime = () => column('timestamptz', { nullable: true });
export const madeNow = () => column('timestamptz', { default: () => 'now()' });
/** Declares a bigint column. `pg` returns bigint as text; GitHub's numbers fit into a double. */
export const big = (more: Partial<Column> = {}) =>
  column('bigint', { transformer: { to: (n) => n, from: (n) => (n === null ? null : Number(n)) }, ...more });
