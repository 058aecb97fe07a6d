import type { A_Expr, CaseExpr, FuncCall, Node, SubLink } from 'libpg-query';
import { aggregates, type Statement } from './nulls.ts';
import type { Tables } from './scope.ts';

/** Functions that are null only if an argument is. */
const strict = new Set(
  `lower upper length char_length octet_length btrim ltrim rtrim left right replace translate substr substring reverse
   split_part regexp_replace starts_with position abs round floor ceil ceiling trunc sqrt power mod sign date_trunc extract date_part to_char
   timezone to_timestamp make_interval md5 sha256 encode decode convert_from convert_to hashtext hashtextextended to_hex to_jsonb
   to_json row_to_json jsonb_array_length json_array_length jsonb_set jsonb_strip_nulls cardinality string_to_array array_append
   array_cat array_remove array_replace array_to_string isfinite age text pg_column_size repeat lpad rpad overlay ascii chr
   jsonb_typeof date txid_visible_in_snapshot pg_snapshot_xmin pg_snapshot_xmax pg_size_bytes justify_hours`.split(
    /\s+/,
  ),
);
/** Functions that are never null. */
const total = new Set(
  `now count row_number rank dense_rank percent_rank cume_dist clock_timestamp statement_timestamp transaction_timestamp
   json_build_object jsonb_build_object json_build_array jsonb_build_array concat num_nulls num_nonnulls gen_random_uuid random
   pg_current_snapshot pg_current_xact_id pg_try_advisory_xact_lock pg_try_advisory_lock pg_advisory_unlock current_database
   pg_backend_pid version pg_is_in_recovery`.split(/\s+/),
);
/** Aggregates and window functions that are null only for no rows or for rows that are. */
const ofRows = new Set('sum min max avg bool_and bool_or every string_agg first_value last_value'.split(' '));
/** Aggregates that are null only for no rows. */
const ofAnyRows = /^(array_agg|jsonb?_agg|jsonb?_object_agg)$/;
/** Operators that look for something that may be missing. */
const lookUps = new Set(['->', '->>', '#>', '#>>']);

export function textOf(node: Node | undefined): string {
  return node !== undefined && 'String' in node ? (node.String.sval ?? '') : '';
}

/** Returns the name that PostgreSQL gives a column without `as`. */
export function nameOf(node: Node | undefined): string {
  if (node === undefined) return '';
  if ('ColumnRef' in node) return textOf(node.ColumnRef.fields?.at(-1));
  if ('FuncCall' in node) return textOf(node.FuncCall.funcname?.at(-1));
  if ('TypeCast' in node) return nameOf(node.TypeCast.arg) || textOf(node.TypeCast.typeName?.names?.at(-1));
  if ('CoalesceExpr' in node) return 'coalesce';
  if ('CaseExpr' in node) return nameOf(node.CaseExpr.defresult) || 'case';
  return 'SubLink' in node ? nameOfSubquery(node.SubLink) : '';
}

function nameOfSubquery({ subLinkType, subselect }: SubLink): string {
  if (subLinkType === 'EXISTS_SUBLINK') return 'exists';
  if (subLinkType === 'ARRAY_SUBLINK') return 'array';
  const [target] = subselect !== undefined && 'SelectStmt' in subselect ? (subselect.SelectStmt.targetList ?? []) : [];
  return target !== undefined && 'ResTarget' in target ? (target.ResTarget.name ?? nameOf(target.ResTarget.val)) : '';
}

/** Returns whether an expression may be null, as far as can be proven. */
export function mayBeNull(on: Statement, node: Node | undefined, tables: Tables): boolean {
  if (node === undefined) return true;
  if (tables.known.has(keyOf(node))) return false;
  if ('A_Const' in node) return node.A_Const.isnull === true;
  if ('ColumnRef' in node) return ofColumn(node.ColumnRef.fields ?? [], tables);
  if ('ParamRef' in node) return on.facts.parameters[(node.ParamRef.number ?? 0) - 1]?.mayBeNull ?? true;
  if ('A_Expr' in node) return ofOperator(on, node.A_Expr, tables);
  if ('FuncCall' in node) return ofFunction(on, node.FuncCall, tables);
  if ('SubLink' in node) return ofSubquery(on, node.SubLink, tables);
  if ('CaseExpr' in node) return ofCase(on, node.CaseExpr, tables);
  const any = anyOf(node);
  if (any !== undefined) return any.some((part) => mayBeNull(on, part, tables));
  const all = allOf(node);
  if (all !== undefined) return all.every((part) => mayBeNull(on, part, tables));
  return !neverNull.some((kind) => kind in node);
}

/** Returns the parts of an expression that may be null if one of them may. */
function anyOf(node: Node): (Node | undefined)[] | undefined {
  if ('TypeCast' in node) return [node.TypeCast.arg];
  if ('CollateClause' in node) return [node.CollateClause.arg];
  return 'BoolExpr' in node ? node.BoolExpr.args : undefined;
}

/** Returns the parts of an expression that may be null if all of them may. */
function allOf(node: Node): Node[] | undefined {
  if ('CoalesceExpr' in node) return node.CoalesceExpr.args;
  return 'MinMaxExpr' in node ? node.MinMaxExpr.args : undefined;
}

const neverNull = [
  'NullTest',
  'BooleanTest',
  'A_ArrayExpr',
  'RowExpr',
  'SQLValueFunction',
  'JsonObjectConstructor',
  'JsonArrayConstructor',
];

function ofCase(on: Statement, { args = [], defresult }: CaseExpr, tables: Tables): boolean {
  return mayBeNull(on, defresult, tables) || args.some((when) => ofWhen(on, when, tables));
}

function ofWhen(on: Statement, node: Node, tables: Tables): boolean {
  if (!('CaseWhen' in node)) return true;
  const { expr, result } = node.CaseWhen;
  const inside = tables.copy();
  learn(expr, inside);
  return mayBeNull(on, result, inside);
}

function ofColumn(fields: Node[], tables: Tables): boolean {
  const names = fields.map(textOf);
  const [first = '', second] = names;
  if (second !== undefined) return tables.source(first)?.find(second)?.mayBeNull ?? true;
  const source = tables.ofColumn(first);
  // A name without a column is a table, of which a whole row is meant.
  return source?.find(first)?.mayBeNull ?? tables.source(first)?.isOptional ?? true;
}

function ofOperator(on: Statement, { kind, name, lexpr, rexpr }: A_Expr, tables: Tables): boolean {
  if (kind === 'AEXPR_DISTINCT' || kind === 'AEXPR_NOT_DISTINCT') return false;
  if (kind === 'AEXPR_NULLIF' || lookUps.has(textOf(name?.at(-1)))) return true;
  const sides = [lexpr, rexpr].filter((side) => side !== undefined);
  const parts = sides.flatMap((side) => ('List' in side ? (side.List.items ?? []) : [side]));
  return parts.some((part) => mayBeNull(on, part, tables));
}

function ofFunction(on: Statement, call: FuncCall, tables: Tables): boolean {
  const { funcname, args = [], agg_filter, agg_within_group, over } = call;
  const name = textOf(funcname?.at(-1));
  if (total.has(name)) return false;
  if (name === 'unnest') return args.some((arg) => on.itemsMayBeNull(arg));
  const ofArgs = () => args.some((arg) => mayBeNull(on, 'NamedArgExpr' in arg ? arg.NamedArgExpr.arg : arg, tables));
  if (strict.has(name)) return ofArgs();
  if (name === 'lag' || name === 'lead') return args.length < 3 || ofArgs();
  if (name === 'ntile') return false;
  const hasRows = agg_filter === undefined && !agg_within_group && (over !== undefined || tables.isGrouped);
  if (ofAnyRows.test(name)) return !hasRows;
  return !(ofRows.has(name) && hasRows) || ofArgs();
}

function ofSubquery(on: Statement, { subLinkType, subselect, testexpr }: SubLink, tables: Tables): boolean {
  if (subLinkType === 'EXISTS_SUBLINK' || subLinkType === 'ARRAY_SUBLINK') return false;
  const columns = on.columns(subselect, tables);
  if (subLinkType !== 'EXPR_SUBLINK')
    return mayBeNull(on, testexpr, tables) || columns.some((column) => column.mayBeNull);
  const isOne = subselect !== undefined && 'SelectStmt' in subselect && on.hasOneRow(subselect.SelectStmt);
  return !isOne || (columns[0]?.mayBeNull ?? true);
}

/** Names an expression, wherever it is written. */
const keyOf = (node: Node) => JSON.stringify(node, (key, value) => (key === 'location' ? undefined : value));

/** Notes which columns a condition that holds proves not to be null. */
export function learn(condition: Node | undefined, tables: Tables): void {
  if (condition === undefined) return;
  if ('BoolExpr' in condition) {
    const { boolop, args = [] } = condition.BoolExpr;
    if (boolop === 'AND_EXPR') for (const arg of args) learn(arg, tables);
    if (boolop === 'NOT_EXPR') for (const arg of args) learnStrict(arg, tables);
    return;
  }
  if ('NullTest' in condition) {
    if (condition.NullTest.nulltesttype === 'IS_NOT_NULL') learnStrict(condition.NullTest.arg, tables);
    return;
  }
  learnStrict(condition, tables);
}

/** Notes the columns without which an expression would be null. */
function learnStrict(node: Node | undefined, tables: Tables): void {
  if (node === undefined || aggregates(node)) return;
  if ('ColumnRef' in node) learnColumn(node.ColumnRef.fields ?? [], tables);
  else tables.known.add(keyOf(node));
  for (const part of partsOf(node)) learnStrict(part, tables);
}

function learnColumn(fields: Node[], tables: Tables): void {
  const [first = '', second] = fields.map(textOf);
  const source = second === undefined ? tables.ofColumn(first) : tables.source(first);
  // What is learned about a table of an outer statement holds only here.
  if (source !== undefined && tables.sources.includes(source)) source.set(second ?? first, false);
}

/** Returns the parts of an expression that is null if one of them is. */
function partsOf(node: Node): (Node | undefined)[] {
  if ('TypeCast' in node) return [node.TypeCast.arg];
  if ('SubLink' in node) return node.SubLink.subLinkType === 'ANY_SUBLINK' ? [node.SubLink.testexpr] : [];
  if ('FuncCall' in node) return strict.has(textOf(node.FuncCall.funcname?.at(-1))) ? (node.FuncCall.args ?? []) : [];
  if (!('A_Expr' in node)) return [];
  const { kind = '', lexpr, rexpr } = node.A_Expr;
  if (['AEXPR_DISTINCT', 'AEXPR_NOT_DISTINCT', 'AEXPR_NULLIF'].includes(kind)) return [];
  return kind === 'AEXPR_OP' ? [lexpr, rexpr] : [lexpr];
}
