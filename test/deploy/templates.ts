import { stringify } from 'yaml';

/**
 * The part of Go's templates, with Sprig's functions as Helm has them, that our chart uses. What it does not know is an error,
 * so it cannot render a template wrongly in silence; chart.long.test.ts compares it with Go's own where Go is installed.
 */

type Value = unknown;
type Context = { dot: Value; variables: Map<string, Value>[]; templates: Map<string, Node[]> };
type Node =
  | { kind: 'text'; text: string }
  | { kind: 'output'; pipe: string }
  | { kind: 'if' | 'with'; branches: { pipe: string; body: Node[] }[]; otherwise: Node[] }
  | { kind: 'range'; names: string[]; pipe: string; body: Node[] };

/** Splits a template into text and actions, and removes the white space that `{{-` and `-}}` ask for. */
function tokensOf(source: string): { text?: string; action?: string }[] {
  const parts = source.split(/(\{\{-? ?(?:\/\*[\s\S]*?\*\/|[\s\S]*?)-?\}\})/);
  return parts.map((part, i) => {
    if (i % 2 === 1) return { action: part.replace(/^\{\{-?|-?\}\}$/g, '').trim() };
    const before = /-\}\}$/.test(parts[i - 1] ?? '');
    const after = /^\{\{-(?=\s)/.test(parts[i + 1] ?? '');
    const left = before ? part.trimStart() : part;
    return { text: after ? left.trimEnd() : left };
  });
}

function parse(source: string, templates: Map<string, Node[]>): Node[] {
  const tokens = tokensOf(source);
  let at = 0;
  /** Reads nodes until an `else` or `end`, and returns that. */
  const block = (): { nodes: Node[]; stop: string } => {
    const nodes: Node[] = [];
    for (; at < tokens.length; ) {
      const { text, action = '' } = tokens[at++] ?? {};
      if (text !== undefined) nodes.push({ kind: 'text', text });
      else if (/^(end|else)\b/.test(action)) return { nodes, stop: action };
      else if (!action.startsWith('/*')) nodes.push(...statement(action));
    }
    return { nodes, stop: '' };
  };
  const statement = (action: string): Node[] => {
    const [, word = '', rest = ''] = /^(\w+)\b\s*([\s\S]*)$/.exec(action) ?? [];
    if (word === 'define') {
      templates.set(JSON.parse(rest), block().nodes);
      return [];
    }
    if (word === 'range') {
      const [, names = '', pipe = rest] = /^((?:\$\w+,\s*)?\$\w+)\s*:=\s*([\s\S]*)$/.exec(rest) ?? [];
      return [{ kind: 'range', names: names.split(/,\s*/).filter(Boolean), pipe, body: block().nodes }];
    }
    if (word !== 'if' && word !== 'with') return [{ kind: 'output', pipe: action }];
    const branches = [];
    let otherwise: Node[] = [];
    let { nodes, stop } = block();
    branches.push({ pipe: rest, body: nodes });
    while (stop.startsWith('else')) {
      const condition = /^else if\s+([\s\S]*)$/.exec(stop)?.[1];
      ({ nodes, stop } = block());
      if (condition === undefined) otherwise = nodes;
      else branches.push({ pipe: condition, body: nodes });
    }
    return [{ kind: word, branches, otherwise }];
  };
  const { nodes, stop } = block();
  if (stop !== '') throw new Error(`a template has "${stop}" without a beginning`);
  return nodes;
}

/** Go's idea of truth. */
const isTrue = (value: Value): boolean =>
  Array.isArray(value)
    ? value.length > 0
    : typeof value === 'object' && value !== null
      ? Object.keys(value).length > 0
      : Boolean(value);

const text = (value: Value): string => (value === undefined || value === null ? '' : String(value));
const indent = (spaces: number, of: string) => of.replace(/^/gm, ' '.repeat(spaces));
const printf = (format: string, ...values: Value[]) => format.replace(/%[sdv]/g, () => text(values.shift()));

type Act = (...given: Value[]) => Value;
const functions: Record<string, Act> = {
  add: (...all) => all.reduce((sum: number, each) => sum + Math.trunc(Number(each)), 0),
  and: (...all) => all.find((each) => !isTrue(each)) ?? all.at(-1),
  append: (list, item) => [...(list as Value[]), item],
  contains: (part, whole) => text(whole).includes(text(part)),
  deepCopy: (value) => structuredClone(value),
  default: (preset, value) => (isTrue(value) ? value : preset),
  dict: (...pairs) => Object.fromEntries(pairs.flatMap((name, i) => (i % 2 === 0 ? [[name, pairs[i + 1]]] : []))),
  eq: (a, b) => a === b,
  fail: (why) => {
    throw new Error(text(why));
  },
  has: (item, list) => (list as Value[]).includes(item),
  int: (value) => Math.trunc(Number(value)),
  join: (between, list) => (list as Value[]).join(text(between)),
  list: (...all) => all,
  lower: (value) => text(value).toLowerCase(),
  ne: (a, b) => a !== b,
  nindent: (spaces, value) => `\n${indent(spaces as number, text(value))}`,
  not: (value) => !isTrue(value),
  printf: (format, ...values) => printf(text(format), ...values),
  quote: (value) => JSON.stringify(text(value)),
  required: (why, value) => {
    if (value === undefined || value === null || value === '') throw new Error(text(why));
    return value;
  },
  set: (map, name, value) => Object.assign(map as object, { [text(name)]: value }),
  splitList: (between, value) => text(value).split(text(between)),
  ternary: (yes, no, which) => (which === true ? yes : no),
  toYaml: (value) => stringify(value, { lineWidth: 0, version: '1.1' }).trimEnd(),
  trimSuffix: (end, value) => (text(value).endsWith(text(end)) ? text(value).slice(0, -text(end).length) : value),
  trunc: (length, value) => text(value).slice(0, length as number),
};

function variable(context: Context, name: string): Map<string, Value> {
  const scope = context.variables.findLast((each) => each.has(name));
  if (scope === undefined) throw new Error(`the variable ${name} is not defined`);
  return scope;
}

function step(value: Value, name: string): Value {
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return (value as Record<string, Value>)[name];
  throw new Error(`.${name} of ${JSON.stringify(value)} cannot be read`);
}

/** Returns the value of a word that stands for itself; undefined for others. */
function literal(word: string): Value {
  if (word.startsWith('"')) return JSON.parse(word);
  if (/^-?\d+$/.test(word)) return Number(word);
  return word === 'true' || word === 'false' ? word === 'true' : undefined;
}

/** Returns what `.a.b`, `$x.a` or `.` stands for. */
function field(context: Context, word: string): Value {
  const [whole, name, path = ''] = /^(\$\w*)?((?:\.\w+)*|\.)$/.exec(word) ?? [];
  if (!whole) throw new Error(`"${word}" is not supported`);
  const root = name === undefined ? context.dot : variable(context, name).get(name);
  return path.split('.').filter(Boolean).reduce(step, root);
}

function call(context: Context, name: string, given: Value[]): Value {
  if (name === 'include') return include(context, ...(given as [string, Value]));
  const act = Object.hasOwn(functions, name) ? functions[name] : undefined;
  if (act === undefined) throw new Error(`the function ${name} is not supported`);
  return act(...given);
}

/** Evaluates a pipeline: commands separated by `|`, each of which gets the result of the one before as its last argument. */
function evaluate(context: Context, source: string): Value {
  const words = source.match(/"(?:\\.|[^"\\])*"|[()|]|[^\s()|"]+/g) ?? [];
  let at = 0;
  const pipeline = (): Value => {
    let value = command([]);
    while (words[at] === '|') {
      at++;
      value = command([value]);
    }
    return value;
  };
  const operand = (): Value => {
    const word = words[at++] ?? '';
    if (word !== '(') return literal(word) ?? field(context, word);
    const value = pipeline();
    if (words[at++] !== ')') throw new Error(`"${source}" lacks a closing parenthesis`);
    return value;
  };
  const command = (last: Value[]): Value => {
    const word = words[at] ?? '';
    if (!/^[A-Za-z]/.test(word) || literal(word) !== undefined) {
      const value = operand();
      // A method, of which there is one: .Files.Get.
      return typeof value === 'function' ? value(operand()) : value;
    }
    at++;
    const given: Value[] = [];
    while (at < words.length && words[at] !== '|' && words[at] !== ')') given.push(operand());
    return call(context, word, [...given, ...last]);
  };
  const value = pipeline();
  if (at < words.length) throw new Error(`"${source}" is not understood from "${words[at]}"`);
  return value;
}

function include(context: Context, name: string, dot: Value): string {
  const nodes = context.templates.get(name);
  if (nodes === undefined) throw new Error(`the template ${name} is not defined`);
  return run({ ...context, dot, variables: [new Map([['$', dot]])] }, nodes);
}

const inner = (context: Context, dot: Value = context.dot): Context => ({
  ...context,
  dot,
  variables: [...context.variables, new Map()],
});

function output(context: Context, pipe: string): string {
  const [, name = '', sign, rest = ''] = /^(\$\w+)\s*(:?=)\s*([\s\S]*)$/.exec(pipe) ?? [];
  if (sign === undefined) return text(evaluate(context, pipe));
  const value = evaluate(context, rest);
  const scope = sign === ':=' ? context.variables.at(-1) : variable(context, name);
  scope?.set(name, value);
  return '';
}

function ranged(context: Context, { names, pipe, body }: Node & { kind: 'range' }): string {
  const over = evaluate(context, pipe);
  const entries: [Value, Value][] = Array.isArray(over)
    ? over.map((value, i) => [i, value])
    : Object.entries((over ?? {}) as object).sort(([a], [b]) => (a < b ? -1 : 1));
  return entries
    .map(([key, value]) => {
      const each = inner(context, value);
      const given = names.length === 2 ? [key, value] : [value];
      for (const [i, name] of names.entries()) each.variables.at(-1)?.set(name, given[i]);
      return run(each, body);
    })
    .join('');
}

function run(context: Context, nodes: Node[]): string {
  return nodes
    .map((node) => {
      if (node.kind === 'text') return node.text;
      if (node.kind === 'output') return output(context, node.pipe);
      if (node.kind === 'range') return ranged(context, node);
      for (const { pipe, body } of node.branches) {
        const value = evaluate(context, pipe);
        if (isTrue(value)) return run(inner(context, node.kind === 'with' ? value : context.dot), body);
      }
      return run(inner(context), node.otherwise);
    })
    .join('');
}

/**
 * Renders templates as Helm does, and returns each that is not a part of others, by its name.
 * @throws Error for what `fail` and `required` refuse, and for what is not supported
 */
export function renderTemplates(sources: Map<string, string>, dot: Record<string, Value>): Map<string, string> {
  const templates = new Map<string, Node[]>();
  const parsed = [...sources].map(([name, source]) => [name, parse(source, templates)] as const);
  const rendered = parsed
    .filter(([name]) => !name.startsWith('_'))
    .map(([name, nodes]) => [name, run({ dot, variables: [new Map([['$', dot]])], templates }, nodes)] as const);
  return new Map(rendered);
}
