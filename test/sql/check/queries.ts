import ts from 'typescript-checker';
import { Evaluator, type Found } from './evaluate.ts';
import { innermostFunction, outermostFunction, type Program, textArgument, walk } from './program.ts';
import { type Value, Ways } from './values.ts';

/** A statement with what the program gives it. Several may come from one call. */
export interface Query {
  call: ts.CallExpression;
  text: string;
  /** Undefined if the number of parameters cannot be known. */
  parameters: ts.Type[] | undefined;
}

export interface Queries {
  queries: Query[];
  /** Calls whose text is not known, with the expression that could not be evaluated. */
  unreadable: { call: ts.CallExpression; why: string }[];
  calls: number;
}

/** In how many ways a function may go; more would take seconds. */
const mostWays = 1000;

/** Evaluates the text of each statement of a program, in all its variants. */
export function findQueries(program: Program): Queries {
  const { checker } = program;
  const calls = new Set<ts.CallExpression>();
  for (const file of program.files)
    walk(file, (node) => {
      if (textArgument(checker, node) !== undefined) calls.add(node as ts.CallExpression);
    });
  const search = new Search(program);
  // A function that gets SQL as a parameter is evaluated with the arguments of its callers, over at most four levels.
  let entries = new Set([...calls].map(outermostFunction).filter((node) => node !== undefined));
  for (let step = 0; step < 4 && entries.size > 0; step++) entries = search.enter(entries);
  // A function that is only returned or passed on has no caller here, so it is evaluated without arguments.
  const apart = search.result(calls).unreadable.map(({ call }) => innermostFunction(call));
  search.enter(new Set(apart.filter((node) => node !== undefined)));
  return search.result(calls);
}

class Search {
  readonly #program: Program;
  readonly #inlined = new Set<ts.Node>();
  readonly #queries = new Map<string, Query>();
  readonly #unreadable = new Map<ts.CallExpression, string>();
  readonly #numbers = new Map<ts.CallExpression, number>();

  constructor(program: Program) {
    this.#program = program;
  }

  /** Runs functions, and returns those that call the ones that need to know what they are called with. */
  enter(entries: Set<ts.FunctionLikeDeclaration>): Set<ts.FunctionLikeDeclaration> {
    const needing = new Set<ts.FunctionLikeDeclaration>();
    for (const entry of entries) {
      const ways = new Ways();
      const on = new Evaluator(this.#program, ways, this.#inlined, (found) => {
        const parameter = this.#record(found);
        if (parameter === undefined) return;
        const owner = outermostFunction(parameter);
        if (owner === entry) needing.add(entry);
      });
      if (!ways.takeAll(mostWays, () => on.enter(entry)))
        throw new Error(`${this.#program.place(entry)}: ${entry.name?.getText()} has more than ${mostWays} ways`);
    }
    for (const node of needing) this.#inlined.add(node);
    return this.#callersOf(needing);
  }

  #callersOf(functions: Set<ts.Node>): Set<ts.FunctionLikeDeclaration> {
    const callers = new Set<ts.FunctionLikeDeclaration>();
    if (functions.size === 0) return callers;
    const { files } = this.#program;
    const on = new Evaluator(this.#program, new Ways(), new Set(), () => {});
    const names = new Set([...functions].map((node) => nameOf(node)));
    for (const file of files)
      walk(file, (node) => {
        if (!ts.isCallExpression(node) || !names.has(node.expression.getText().split('.').at(-1) ?? '')) return;
        const declaration = on.declarationOf(node.expression);
        const caller = outermostFunction(node);
        if (declaration && functions.has(declaration) && caller) callers.add(caller);
      });
    return callers;
  }

  /** Keeps a statement. Returns the parameter on which its text depends, if that is why it is not known. */
  #record({ call, text, parameters }: Found): ts.Node | undefined {
    if (text.kind !== 'known') {
      const why = text.kind === 'unknown' ? text.why : call;
      this.#unreadable.set(call, why.getText().slice(0, 80));
      return parameterOf(why);
    }
    const types = typesOf(parameters);
    const key = `${this.#numberOf(call)} ${text.value} ${types?.map((type) => this.#program.checker.typeToString(type))}`;
    this.#queries.set(key, { call, text: String(text.value), parameters: types });
    return undefined;
  }

  #numberOf(call: ts.CallExpression): number {
    const number = this.#numbers.get(call) ?? this.#numbers.size;
    this.#numbers.set(call, number);
    return number;
  }

  result(calls: Set<ts.CallExpression>): Queries {
    const queries = [...this.#queries.values()];
    const read = new Set(queries.map(({ call }) => call));
    const unreadable = [...calls]
      .filter((call) => !read.has(call))
      .map((call) => ({ call, why: this.#unreadable.get(call) ?? 'it is never reached' }));
    return { queries, unreadable, calls: calls.size };
  }
}

function nameOf(node: ts.Node): string {
  const named = ts.isArrowFunction(node) || ts.isFunctionExpression(node) ? node.parent : node;
  return (named as ts.NamedDeclaration).name?.getText() ?? '';
}

/** Returns the parameter of a function, if a node is one. */
function parameterOf(node: ts.Node): ts.Node | undefined {
  for (let at = node.parent; at !== undefined && !ts.isBlock(at); at = at.parent) if (ts.isParameter(at)) return at;
  return undefined;
}

function typesOf(parameters: Value | undefined): ts.Type[] | undefined {
  if (parameters === undefined) return [];
  return parameters.kind === 'list' && !parameters.isSample ? parameters.items.map(({ type }) => type) : undefined;
}
