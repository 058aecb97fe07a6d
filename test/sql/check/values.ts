import ts from 'typescript-checker';

/** What an expression is, as far as it can be known without running the program; `type` is what TypeScript says. */
export type Value = Known | List | Fields | Code | Unknown;

interface Typed {
  type: ts.Type;
}
export interface Known extends Typed {
  kind: 'known';
  value: string | number | boolean | null | undefined;
}
export interface List extends Typed {
  kind: 'list';
  items: Value[];
  /** Whether an item stands for any number of items. */
  isSample: boolean;
}
export interface Fields extends Typed {
  kind: 'fields';
  fields: Map<string, Value>;
}
export interface Code extends Typed {
  kind: 'code';
  node: ts.FunctionLikeDeclaration;
  scope: Scope;
}
export interface Unknown extends Typed {
  kind: 'unknown';
  /** What could not be evaluated: a parameter, or an expression. */
  why: ts.Node;
}

/** The variables of one call of a function. A value may be a function that evaluates it when it is first read. */
export class Scope {
  readonly #values = new Map<ts.Symbol, Value | (() => Value)>();
  readonly #outer: Scope | undefined;

  constructor(outer: Scope | undefined) {
    this.#outer = outer;
  }

  find(symbol: ts.Symbol): Value | undefined {
    const found = this.#values.get(symbol);
    if (typeof found !== 'function') return found ?? this.#outer?.find(symbol);
    const value = found();
    this.#values.set(symbol, value);
    return value;
  }

  declare(symbol: ts.Symbol, value: Value | (() => Value)): void {
    this.#values.set(symbol, value);
  }

  assign(symbol: ts.Symbol, value: Value): void {
    if (this.#values.has(symbol) || this.#outer === undefined) this.#values.set(symbol, value);
    else this.#outer.assign(symbol, value);
  }
}

/** Where a program may go one way or another. Each run takes other ways, until all combinations have been taken. */
export class Ways {
  #taken: { way: number; of: number }[] = [];
  #next = 0;
  #known = new Map<string, number>();

  /** Chooses one of several ways; the same one for the same key in one run. */
  choose(key: string, of: number): number {
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    if (this.#next === this.#taken.length) this.#taken.push({ way: 0, of });
    const { way } = this.#taken[this.#next++] as { way: number };
    this.#known.set(key, way);
    return way;
  }

  /** Calls `run` once for each combination. Returns whether that was possible in `most` runs. */
  takeAll(most: number, run: () => void): boolean {
    for (let runs = 0; runs < most; runs++) {
      this.#next = 0;
      this.#known.clear();
      run();
      this.#taken.length = this.#next;
      while (this.#taken.length > 0) {
        const last = this.#taken.at(-1) as { way: number; of: number };
        last.way += 1;
        if (last.way < last.of) break;
        this.#taken.pop();
      }
      if (this.#taken.length === 0) return true;
    }
    return false;
  }
}

/** Returns the string literals of a union of them, or undefined for other types. */
export function literalsOf(type: ts.Type): string[] | undefined {
  const parts = type.isUnion() ? type.types : [type];
  return parts.every((part) => part.isStringLiteral()) ? parts.map((part) => String(part.value)) : undefined;
}

/** Returns an expression without `await`, parentheses and what only concerns types. */
export function bare(node: ts.Expression): ts.Expression {
  if (
    ts.isParenthesizedExpression(node) ||
    ts.isAsExpression(node) ||
    ts.isSatisfiesExpression(node) ||
    ts.isNonNullExpression(node) ||
    ts.isAwaitExpression(node)
  )
    return bare(node.expression);
  return node;
}

/** Returns whether a node, or anything inside it, meets a condition. */
export function has(node: ts.Node, test: (inner: ts.Node) => boolean): boolean {
  return test(node) || ts.forEachChild(node, (child) => has(child, test) || undefined) === true;
}

/** Names a place in the program: a condition goes the same way each time it is met in one run. */
export const keyOf = (node: ts.Node) => `${node.getSourceFile().fileName} ${node.getStart()}`;
