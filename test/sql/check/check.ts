import { type Node, parse } from 'libpg-query';
import ts from 'typescript-checker';
import { Comparison } from './compare.ts';
import type { Schema } from './describe.ts';
import { columnsOf, markSaid, Statement } from './nulls.ts';
import type { Program } from './program.ts';
import { findQueries, type Query } from './queries.ts';

export interface Checked {
  calls: number;
  /** One line each, with the place in the program. */
  problems: string[];
  /** The calls whose text or parameters are only known when the program runs. */
  unreadable: string[];
}

/** Compares each statement of a program with a schema. */
export async function checkQueries(program: Program, schema: Schema): Promise<Checked> {
  const { queries, unreadable, calls } = findQueries(program);
  const problems = new Set<string>();
  const unread = unreadable.map(({ call, why }) => `${program.place(call)}: ${why}`);
  const compare = new Comparison(program);
  for (const query of queries) {
    const found = await problemsOf(query, program, schema, compare);
    for (const problem of found) problems.add(`${program.place(query.call)}: ${problem}`);
    if (query.parameters === undefined) unread.push(`${program.place(query.call)}: its parameters`);
  }
  for (const problem of compare.neverNull()) problems.add(problem);
  return { calls, problems: [...problems].sort(), unreadable: [...new Set(unread)].sort() };
}

/** Compares one call with what PostgreSQL says about it. Several statements in one text have no parameters. */
async function problemsOf(query: Query, program: Program, schema: Schema, compare: Comparison): Promise<string[]> {
  try {
    const { stmts = [] } = await parse(markSaid(query.text));
    const [statement] = stmts;
    if (stmts.length === 1 && statement?.stmt !== undefined)
      return await ofStatement(query, statement.stmt, program, schema, compare);
    for (const text of query.text.split(';')) await schema.describe(text);
    return [];
  } catch (error) {
    return [`${(error as Error).message} in ${query.text.replace(/\s+/g, ' ').slice(0, 200)}`];
  }
}

async function ofStatement(
  { call, text, parameters }: Query,
  statement: Node,
  { checker }: Program,
  schema: Schema,
  compare: Comparison,
): Promise<string[]> {
  const described = await schema.describe(text);
  const problems: string[] = [];
  if (parameters !== undefined && parameters.length !== described.parameters.length)
    problems.push(`it takes ${described.parameters.length} parameters, but is given ${parameters.length}`);
  for (const [i, type] of described.parameters.entries()) {
    const given = parameters?.[i];
    if (given !== undefined) problems.push(...compare.parameter(i + 1, type, given));
  }
  const facts = { tables: schema.tables, parameters: (parameters ?? []).map((type) => compare.nulls(type)) };
  const nulls = columnsOf(facts, statement);
  const columns = described.columns.map((column, i) => ({ ...column, mayBeNull: nulls[i]?.mayBeNull ?? true }));
  return [...problems, ...rowProblems(call, statement, columns, checker, compare)];
}

/** Compares what a call says that it returns with the columns. */
function rowProblems(
  call: ts.CallExpression,
  statement: Node,
  columns: Parameters<Comparison['row']>[1],
  checker: ts.TypeChecker,
  compare: Comparison,
): string[] {
  const promised = resultOf(call, checker);
  // Nobody reads the results of clients of `pg`.
  if (promised === undefined || promised.symbol?.name === 'QueryResult') return [];
  if (promised.flags & ts.TypeFlags.Any) return isDiscarded(call) ? [] : ['its result is not declared'];
  const isChange = 'UpdateStmt' in statement || 'DeleteStmt' in statement;
  const rows = isChange && textOfMethod(call) === 'query' ? changedRows(promised, checker) : promised;
  if (typeof rows === 'string') return [rows];
  if (rows.flags & ts.TypeFlags.Unknown) return [];
  const row = checker.getIndexTypeOfType(rows, ts.IndexKind.Number);
  if (row === undefined) return ['its result is not declared as rows'];
  const isOneRow = checker.isTupleType(rows) && rows === promised;
  const several = isOneRow && !hasOneRow(statement) ? ['it may return no row, or several'] : [];
  return [...several, ...compare.row(row, columns, call)];
}

/** Returns the rows in `[rows, count]`, which TypeORM returns for an update or delete, or what is wrong. */
function changedRows(promised: ts.Type, checker: ts.TypeChecker): ts.Type | string {
  const parts = checker.isTupleType(promised) ? checker.getTypeArguments(promised as ts.TypeReference) : [];
  const [rows, count] = parts;
  if (rows === undefined) return 'an update or delete returns [rows, count]';
  return count === undefined || count.flags & ts.TypeFlags.Number
    ? rows
    : 'the count of an update or delete is a number';
}

function hasOneRow(statement: Node): boolean {
  const on = new Statement({ tables: new Map(), parameters: [] });
  if ('InsertStmt' in statement) {
    const { selectStmt, onConflictClause } = statement.InsertStmt;
    const isOne = selectStmt !== undefined && 'SelectStmt' in selectStmt && on.hasOneRow(selectStmt.SelectStmt);
    return isOne && onConflictClause?.action !== 'ONCONFLICT_NOTHING' && onConflictClause?.whereClause === undefined;
  }
  return 'SelectStmt' in statement && on.hasOneRow(statement.SelectStmt);
}

const textOfMethod = (call: ts.CallExpression) => (call.expression as ts.PropertyAccessExpression).name.text;

/** Returns what the promise of a call is said to give. */
function resultOf(call: ts.CallExpression, checker: ts.TypeChecker): ts.Type | undefined {
  const signature = checker.getResolvedSignature(call);
  return signature && checker.getAwaitedType(checker.getReturnTypeOfSignature(signature));
}

/** Returns whether a call stands alone, so that nobody reads its result. */
function isDiscarded(call: ts.CallExpression): boolean {
  let node: ts.Node = call.parent;
  while (ts.isAwaitExpression(node) || ts.isPropertyAccessExpression(node) || ts.isCallExpression(node))
    node = node.parent;
  return ts.isExpressionStatement(node);
}
