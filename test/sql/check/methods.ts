import ts from 'typescript-checker';
import type { Evaluator } from './evaluate.ts';
import type { List, Value } from './values.ts';

/** Evaluates a call of a method of a list, a text or `Object`; undefined for others. */
export function callMethod(on: Evaluator, of: Value, node: ts.CallExpression, args: () => Value[]): Value | undefined {
  if (!ts.isPropertyAccessExpression(node.expression)) return undefined;
  const name = node.expression.name.text;
  if (of.kind === 'list') return ofList(on, of, name, node, args());
  if (of.kind === 'known' && typeof of.value === 'string') return ofText(on, of.value, name, node, args());
  const owner = node.expression.expression.getText();
  if (owner === 'Object') return ofObject(on, name, node, args());
  const passes = name === 'map' || name === 'flatMap' || name === 'filter' || name === 'sort';
  if (of.kind === 'unknown' && passes) return ofUnknown(on, of, name, node, args());
  return undefined;
}

/** One item of a list of which nothing is known stands for all. */
function ofUnknown(on: Evaluator, of: Value, name: string, node: ts.CallExpression, [code]: Value[]) {
  const item = on.checker.getIndexTypeOfType(of.type, ts.IndexKind.Number);
  if (item === undefined || code?.kind !== 'code' || name === 'filter' || name === 'sort') return undefined;
  const sample: Value = { kind: 'unknown', type: item, why: node };
  return ofList(on, { kind: 'list', items: [sample], isSample: true, type: of.type }, name, node, [code]);
}

function ofList(on: Evaluator, of: List, name: string, node: ts.CallExpression, args: Value[]): Value | undefined {
  const [first] = args;
  const made = (items: Value[]): Value => ({ kind: 'list', items, isSample: of.isSample, type: on.typeOf(node) });
  if (name === 'push') return on.known(node, of.items.push(...args));
  if (name === 'join') return join(on, of, first, node);
  if (name === 'concat')
    return made([...of.items, ...args.flatMap((arg) => (arg.kind === 'list' ? arg.items : [arg]))]);
  if (name === 'slice')
    return made(of.items.slice(...args.map((arg) => (arg.kind === 'known' ? Number(arg.value) : 0))));
  if (name === 'includes') return includes(on, of, first, node);
  if (first?.kind !== 'code') return undefined;
  const call = (item: Value, i: number) => on.apply(first, [item, on.known(node, i)], false);
  if (name === 'map') return made(of.items.map(call));
  if (name === 'flatMap')
    return made(of.items.map(call).flatMap((value) => (value.kind === 'list' ? value.items : [value])));
  if (name === 'filter') return made(of.items.filter((item, i) => isTrue(call(item, i))));
  return undefined;
}

const isTrue = (value: Value) => value.kind !== 'known' || Boolean(value.value);

function includes(on: Evaluator, of: List, sought: Value | undefined, node: ts.CallExpression): Value {
  const isKnown = sought?.kind === 'known' && !of.isSample && of.items.every((item) => item.kind === 'known');
  return isKnown
    ? on.known(
        node,
        of.items.some((item) => item.kind === 'known' && item.value === sought.value),
      )
    : on.unknown(node);
}

function join(on: Evaluator, { items }: List, separator: Value | undefined, node: ts.CallExpression): Value {
  const unknown = items.find((item) => item.kind !== 'known');
  if (unknown !== undefined) return unknown.kind === 'unknown' ? unknown : on.unknown(node);
  const between = separator?.kind === 'known' ? String(separator.value) : ',';
  return on.known(node, items.map((item) => (item.kind === 'known' ? String(item.value) : '')).join(between));
}

function ofText(on: Evaluator, text: string, name: string, node: ts.CallExpression, args: Value[]): Value | undefined {
  const [pattern, replacement] = node.arguments;
  if ((name === 'replace' || name === 'replaceAll') && pattern && replacement && ts.isStringLiteralLike(replacement)) {
    if (ts.isStringLiteralLike(pattern)) return on.known(node, text[name](pattern.text, replacement.text));
    const [, source = '', flags = ''] = /^\/(.*)\/(\w*)$/.exec(pattern.getText()) ?? [];
    return source === '' ? undefined : on.known(node, text[name](new RegExp(source, flags), replacement.text));
  }
  if (name === 'trim') return on.known(node, text.trim());
  if (name === 'toLowerCase') return on.known(node, text.toLowerCase());
  if (name === 'startsWith' && args[0]?.kind === 'known') return on.known(node, text.startsWith(String(args[0].value)));
  return undefined;
}

function ofObject(on: Evaluator, name: string, node: ts.CallExpression, [of]: Value[]): Value | undefined {
  const type = on.typeOf(node);
  const list = (items: Value[]): Value => ({ kind: 'list', items, isSample: false, type });
  const known = (value: string): Value => ({ kind: 'known', value, type });
  if (of?.kind === 'fields') {
    if (name === 'keys') return list([...of.fields.keys()].map(known));
    if (name === 'values') return list([...of.fields.values()]);
    if (name === 'entries') return list([...of.fields].map(([key, value]) => list([known(key), value])));
  }
  if (name === 'fromEntries' && of?.kind === 'list') {
    const pairs = of.items.map((pair) => (pair.kind === 'list' ? pair.items : []));
    const fields = new Map(
      pairs.map(([key, value]) => [key?.kind === 'known' ? String(key.value) : '', value as Value]),
    );
    return { kind: 'fields', fields, type };
  }
  return undefined;
}
