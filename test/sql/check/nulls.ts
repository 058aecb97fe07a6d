import type { Node, ResTarget, SelectStmt, UpdateStmt, WithClause } from 'libpg-query';
import { learn, mayBeNull, nameOf, textOf } from './expressions.ts';
import { type Column, Source, Tables } from './scope.ts';

/** What is known outside a statement. */
export interface Facts {
  /** The columns of each table. */
  tables: ReadonlyMap<string, Column[]>;
  /** For each parameter: whether it may be null, and whether an array has items that may be. */
  parameters: { mayBeNull: boolean; itemsMayBeNull: boolean }[];
}

/** Returns the columns of the result of a statement. What cannot be proven not to be null may be null. */
export function columnsOf(facts: Facts, statement: Node): Column[] {
  return new Statement(facts).columns(statement, new Tables());
}

/** The parts of an insert, update or delete that decide what it returns. */
type Change = Pick<UpdateStmt, 'relation' | 'withClause' | 'returningClause'> & {
  fromClause?: Node[] | undefined;
  whereClause?: Node;
  targetList?: Node[];
};

export class Statement {
  readonly facts: Facts;

  constructor(facts: Facts) {
    this.facts = facts;
  }

  columns(node: Node | undefined, outer: Tables): Column[] {
    if (node === undefined) return [];
    if ('SelectStmt' in node) return this.select(node.SelectStmt, outer);
    if ('InsertStmt' in node) return this.#change(node.InsertStmt, outer);
    if ('UpdateStmt' in node) return this.#change(node.UpdateStmt, outer);
    return 'DeleteStmt' in node
      ? this.#change({ ...node.DeleteStmt, fromClause: node.DeleteStmt.usingClause }, outer)
      : [];
  }

  #change({ relation, withClause, fromClause, whereClause, targetList, returningClause }: Change, outer: Tables) {
    const tables = new Tables(outer);
    this.#with(withClause, tables);
    const table = relation?.relname ?? '';
    const target = this.#table(relation?.alias?.aliasname, table, tables);
    tables.sources.push(target);
    this.#from(fromClause, tables);
    learn(whereClause, tables);
    this.#sets(targetList ?? [], target, table, tables);
    return this.#targets(returningClause?.exprs, tables);
  }

  select(select: SelectStmt, outer: Tables): Column[] {
    const tables = new Tables(outer);
    this.#with(select.withClause, tables);
    if (select.larg !== undefined && select.rarg !== undefined) {
      const [left, right] = [this.select(select.larg, tables), this.select(select.rarg, tables)];
      return left.map(({ name, mayBeNull }, i) => ({ name, mayBeNull: mayBeNull || (right[i]?.mayBeNull ?? true) }));
    }
    if (select.valuesLists !== undefined) return this.#values(select.valuesLists, tables);
    this.#from(select.fromClause, tables);
    learn(select.whereClause, tables);
    tables.isGrouped = (select.groupClause ?? []).length > 0 || countsRows(select.havingClause);
    return this.#targets(select.targetList, tables);
  }

  /** Whether a select has exactly one row: it reads no table, or makes one of all rows. */
  hasOneRow(select: SelectStmt): boolean {
    const {
      fromClause,
      whereClause,
      groupClause,
      havingClause,
      limitCount,
      targetList = [],
      larg,
      valuesLists,
    } = select;
    if (larg !== undefined || havingClause !== undefined || groupClause !== undefined) return false;
    if (valuesLists !== undefined) return valuesLists.length === 1;
    if (fromClause === undefined) return whereClause === undefined;
    const isOne = (limitCount === undefined || 'A_Const' in limitCount) && targetList.length > 0;
    return isOne && targetList.some((node) => 'ResTarget' in node && aggregates(node.ResTarget.val));
  }

  #values(lists: Node[], tables: Tables): Column[] {
    const rows = lists.map((list) => ('List' in list ? (list.List.items ?? []) : []));
    return (rows[0] ?? []).map((_, i) => ({
      name: `column${i + 1}`,
      mayBeNull: rows.some((row) => mayBeNull(this, row[i], tables)),
    }));
  }

  #with(clause: WithClause | undefined, tables: Tables): void {
    for (const node of clause?.ctes ?? []) {
      if (!('CommonTableExpr' in node)) continue;
      const { ctename = '', ctequery, aliascolnames } = node.CommonTableExpr;
      const named = (columns: Column[]) => rename(columns, aliascolnames);
      // The first part of a recursive query says what its columns are, until all of it is known.
      const first = clause?.recursive && ctequery && 'SelectStmt' in ctequery ? ctequery.SelectStmt.larg : undefined;
      if (first !== undefined) tables.queries.set(ctename, named(this.select(first, tables)));
      for (let i = first === undefined ? 1 : 0; i < 2; i++)
        tables.queries.set(ctename, named(this.columns(ctequery, tables)));
    }
  }

  #from(items: Node[] | undefined, tables: Tables): void {
    for (const item of items ?? []) this.#join(item, tables);
  }

  /** Adds the tables of one item of `from`, and returns them. */
  #join(node: Node, tables: Tables): Source[] {
    if ('JoinExpr' in node) {
      const { larg, rarg, jointype, quals } = node.JoinExpr;
      const left = larg === undefined ? [] : this.#join(larg, tables);
      const right = rarg === undefined ? [] : this.#join(rarg, tables);
      const missing = { JOIN_LEFT: right, JOIN_RIGHT: left, JOIN_FULL: [...left, ...right] }[jointype as string] ?? [];
      for (const source of missing) source.isOptional = true;
      // What was known about expressions may be about these tables.
      if (missing.length > 0) tables.known.clear();
      if (jointype === 'JOIN_INNER') learn(quals, tables);
      return [...left, ...right];
    }
    const source = this.#source(node, tables);
    if (source === undefined) return [];
    tables.sources.push(source);
    return [source];
  }

  #source(node: Node, tables: Tables): Source | undefined {
    if ('RangeVar' in node) {
      const { relname = '', alias } = node.RangeVar;
      const table = this.#table(alias?.aliasname, relname, tables);
      return alias?.colnames === undefined ? table : new Source(table.name, rename(table.columns, alias.colnames));
    }
    if ('RangeSubselect' in node) {
      const { subquery, alias } = node.RangeSubselect;
      return new Source(alias?.aliasname ?? '', rename(this.columns(subquery, tables), alias?.colnames));
    }
    if (!('RangeFunction' in node)) return undefined;
    const { functions = [], alias, coldeflist = [], ordinality } = node.RangeFunction;
    const calls = functions.flatMap((list) => ('List' in list ? (list.List.items ?? []) : []));
    const columns = coldeflist.map((column) => ({
      name: 'ColumnDef' in column ? (column.ColumnDef.colname ?? '') : '',
      mayBeNull: true,
    }));
    if (columns.length === 0) columns.push(...calls.flatMap((call) => this.#ofFunction(call, alias?.aliasname)));
    if (ordinality) columns.push({ name: 'ordinality', mayBeNull: false });
    return new Source(alias?.aliasname ?? columns[0]?.name ?? '', rename(columns, alias?.colnames));
  }

  #ofFunction(node: Node, alias: string | undefined): Column[] {
    if (!('FuncCall' in node)) return [];
    const name = textOf(node.FuncCall.funcname?.at(-1));
    if (/^jsonb?_each/.test(name))
      return [
        { name: 'key', mayBeNull: false },
        { name: 'value', mayBeNull: name.endsWith('text') },
      ];
    const args = node.FuncCall.args ?? [];
    if (name === 'unnest')
      return args.map((arg) => ({ name: alias ?? name, mayBeNull: args.length > 1 ? true : this.itemsMayBeNull(arg) }));
    if (/^jsonb?_array_elements/.test(name)) return [{ name: alias ?? 'value', mayBeNull: name.endsWith('text') }];
    return [{ name: alias ?? name, mayBeNull: !['generate_series', 'regexp_split_to_table'].includes(name) }];
  }

  itemsMayBeNull(node: Node): boolean {
    if ('TypeCast' in node && node.TypeCast.arg !== undefined) return this.itemsMayBeNull(node.TypeCast.arg);
    if ('ParamRef' in node) return this.facts.parameters[(node.ParamRef.number ?? 0) - 1]?.itemsMayBeNull ?? true;
    return true;
  }

  #table(alias: string | undefined, name: string, tables: Tables): Source {
    return new Source(alias ?? name, tables.query(name) ?? this.facts.tables.get(name) ?? []);
  }

  /** After an update, what was known about its columns holds only for those that it did not set. */
  #sets(targets: Node[], target: Source, table: string, tables: Tables): void {
    if (targets.length > 0) tables.known.clear();
    const before = tables.copy();
    for (const node of targets) {
      if (!('ResTarget' in node)) continue;
      const { name = '', val } = node.ResTarget;
      const always = this.facts.tables.get(table)?.find((column) => column.name === name)?.mayBeNull ?? true;
      target.set(name, always && mayBeNull(this, val, before));
    }
  }

  #targets(targets: Node[] | undefined, tables: Tables): Column[] {
    return (targets ?? []).flatMap((node) => ('ResTarget' in node ? this.#target(node.ResTarget, tables) : []));
  }

  #target({ val, name }: ResTarget, tables: Tables): Column[] {
    const fields = val !== undefined && 'ColumnRef' in val ? (val.ColumnRef.fields ?? []) : [];
    const last = fields.at(-1);
    if (last !== undefined && 'A_Star' in last) {
      const of = fields.length > 1 ? [tables.source(textOf(fields[0]))] : tables.sources;
      return of.flatMap((source) => source?.columns ?? []);
    }
    if (name?.endsWith(saidMark)) return [{ name: name.slice(0, -saidMark.length), mayBeNull: false }];
    return [{ name: name ?? nameOf(val), mayBeNull: mayBeNull(this, val, tables) }];
  }
}

/** Returns whether a condition is `count(*) > 0`, so that there is no row without others that it stands for. */
function countsRows(having: Node | undefined): boolean {
  const left = having !== undefined && 'A_Expr' in having ? having.A_Expr.lexpr : undefined;
  return left !== undefined && 'FuncCall' in left && left.FuncCall.agg_star === true;
}

/** Ends the names of columns that the SQL says are not null. */
const saidMark = '!';

/** Marks the columns of which the SQL says that they are not null, for the parser. */
export function markSaid(text: string): string {
  return text.replace(
    /\bas (?:"(\w+)"|(\w+)) \/\* not null \*\//g,
    (_, quoted, plain) => `as "${quoted ?? plain}${saidMark}"`,
  );
}

function rename(columns: Column[], names: Node[] | undefined): Column[] {
  return columns.map((column, i) => ({ ...column, name: names?.[i] === undefined ? column.name : textOf(names[i]) }));
}

const aggregateNames =
  /^(count|sum|min|max|avg|bool_and|bool_or|every|string_agg|array_agg|jsonb?_agg|jsonb?_object_agg|percentile_\w+)$/;

/** Returns whether an expression has an aggregate that makes one row of all rows. */
export function aggregates(node: unknown): boolean {
  if (typeof node !== 'object' || node === null) return false;
  if ('SubLink' in node) return false;
  if ('FuncCall' in node) {
    const { funcname, over } = node.FuncCall as { funcname?: Node[]; over?: unknown };
    if (over === undefined && aggregateNames.test(textOf(funcname?.at(-1)))) return true;
  }
  return Object.values(node).some((inner) => aggregates(inner));
}
