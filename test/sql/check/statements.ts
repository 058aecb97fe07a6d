import ts from 'typescript-checker';
import type { Evaluator } from './evaluate.ts';
import { keyOf, type Scope, type Value } from './values.ts';

/**
 * Runs the statements of a function, and returns its result. If it is entered for the SQL in it, what has no part in that
 * is passed over, also an early return.
 */
export function runBody(on: Evaluator, body: ts.Block, scope: Scope, isEntered: boolean): Value | undefined {
  return new Run(on, scope, isEntered).statements(body.statements);
}

class Run {
  readonly #on: Evaluator;
  readonly #scope: Scope;
  readonly #isEntered: boolean;

  constructor(on: Evaluator, scope: Scope, isEntered: boolean) {
    this.#on = on;
    this.#scope = scope;
    this.#isEntered = isEntered;
  }

  /** Returns the value of a `return`, or undefined if none was reached. */
  statements(list: readonly ts.Statement[]): Value | undefined {
    for (const statement of list) {
      const result = this.#statement(statement);
      if (result !== undefined) return result;
    }
    return undefined;
  }

  #statement(node: ts.Statement): Value | undefined {
    if (ts.isBlock(node)) return this.statements(node.statements);
    if (ts.isVariableStatement(node)) this.#declare(node.declarationList);
    if (ts.isReturnStatement(node)) return this.#return(node);
    if (ts.isIfStatement(node)) return this.#if(node);
    if (ts.isFunctionDeclaration(node) && node.name !== undefined)
      this.#on.bind(node.name, { kind: 'code', node, scope: this.#scope, type: this.#on.typeOf(node) }, this.#scope);
    if (!this.#on.matters(node)) return undefined;
    if (ts.isExpressionStatement(node)) this.#on.evaluate(node.expression, this.#scope);
    if (ts.isForOfStatement(node)) return this.#forOf(node);
    if (ts.isForStatement(node) || ts.isWhileStatement(node)) return this.#statement(node.statement);
    if (ts.isTryStatement(node)) return this.#try(node);
    if (ts.isSwitchStatement(node)) return this.#switch(node);
    return undefined;
  }

  #return(node: ts.ReturnStatement): Value | undefined {
    if (node.expression === undefined) return this.#on.known(node, undefined);
    return this.#on.evaluate(node.expression, this.#scope);
  }

  #declare(list: ts.VariableDeclarationList): void {
    for (const { name, initializer } of list.declarations) {
      if (initializer === undefined) continue;
      const evaluate = () => this.#on.evaluate(initializer, this.#scope);
      const symbol = ts.isIdentifier(name) ? this.#on.checker.getSymbolAtLocation(name) : undefined;
      if (symbol !== undefined && !this.#on.matters(initializer)) this.#scope.declare(symbol, evaluate);
      else this.#on.bind(name, evaluate(), this.#scope);
    }
  }

  #if(node: ts.IfStatement): Value | undefined {
    if (this.#isEntered && !this.#on.matters(node)) return undefined;
    if (this.#on.isTrue(node.expression, this.#scope)) return this.#statement(node.thenStatement);
    return node.elseStatement === undefined ? undefined : this.#statement(node.elseStatement);
  }

  #forOf(node: ts.ForOfStatement): Value | undefined {
    const over = this.#on.evaluate(node.expression, this.#scope);
    const [declaration] = ts.isVariableDeclarationList(node.initializer) ? node.initializer.declarations : [];
    if (declaration === undefined) return undefined;
    const items = over.kind === 'list' ? over.items : [this.#on.unknown(declaration.name)];
    for (const item of items) {
      this.#on.bind(declaration.name, item, this.#scope);
      this.#statement(node.statement);
    }
    return undefined;
  }

  #try(node: ts.TryStatement): Value | undefined {
    const first = this.#statement(node.tryBlock);
    const caught = node.catchClause && this.#on.matters(node.catchClause) && this.#statement(node.catchClause.block);
    if (node.finallyBlock !== undefined) this.#statement(node.finallyBlock);
    return first ?? (caught || undefined);
  }

  #switch(node: ts.SwitchStatement): Value | undefined {
    const { clauses } = node.caseBlock;
    const way = this.#on.ways.choose(keyOf(node.expression), clauses.length);
    return this.statements(clauses[way]?.statements ?? []);
  }
}
