import ts from 'typescript-checker';
import { callMethod } from './methods.ts';
import { type Program, textArgument } from './program.ts';
import { runBody } from './statements.ts';
import { bare, type Code, type Fields, has, keyOf, literalsOf, Scope, type Value, type Ways } from './values.ts';

/** A statement that the program runs in one of its ways. */
export interface Found {
  call: ts.CallExpression;
  text: Value;
  parameters: Value | undefined;
}

/** How many calls may be inside each other; a recursion ends here. */
const deepest = 12;

/**
 * Evaluates expressions as the program would, without running it. What depends on data stays unknown; where the data
 * decides the way, `ways` does.
 */
export class Evaluator {
  readonly checker: ts.TypeChecker;
  readonly ways: Ways;
  readonly #found: (found: Found) => void;
  readonly #inlined: ReadonlySet<ts.Node>;
  readonly #ofModules = new Map<ts.Symbol, Value>();
  readonly #matters = new Map<ts.Node, boolean>();
  readonly #module = new Scope(undefined);
  #depth = 0;

  /** `inlined`: functions that run statements, and are followed into where they are called. */
  constructor({ checker }: Program, ways: Ways, inlined: ReadonlySet<ts.Node>, found: (found: Found) => void) {
    this.checker = checker;
    this.ways = ways;
    this.#inlined = inlined;
    this.#found = found;
  }

  /** Runs a function of which nothing is known but the types of its parameters. */
  enter(node: ts.FunctionLikeDeclaration): void {
    this.#depth = 0;
    this.apply({ kind: 'code', node, scope: this.#module, type: this.typeOf(node) }, [], true);
  }

  typeOf(node: ts.Node): ts.Type {
    return this.checker.getTypeAtLocation(node);
  }

  unknown(node: ts.Node): Value {
    return { kind: 'unknown', type: this.typeOf(node), why: node };
  }

  known(node: ts.Node, value: string | number | boolean | null | undefined): Value {
    return { kind: 'known', type: this.typeOf(node), value };
  }

  /** Chooses for a condition that depends on data. */
  chooses(node: ts.Node): boolean {
    return this.ways.choose(keyOf(node), 2) === 0;
  }

  /** Returns whether running a node may change a variable or run a statement of SQL. */
  matters(node: ts.Node): boolean {
    const found = this.#matters.get(node);
    if (found !== undefined) return found;
    const does = has(node, (inner) => this.#changes(inner));
    this.#matters.set(node, does);
    return does;
  }

  #changes(node: ts.Node): boolean {
    if (ts.isBinaryExpression(node))
      return (
        node.operatorToken.kind >= ts.SyntaxKind.FirstAssignment &&
        node.operatorToken.kind <= ts.SyntaxKind.LastAssignment
      );
    if (!ts.isCallExpression(node)) return false;
    if (ts.isPropertyAccessExpression(node.expression) && node.expression.name.text === 'push') return true;
    return textArgument(this.checker, node) !== undefined || this.#isInlined(node);
  }

  #isInlined(node: ts.CallExpression): boolean {
    if (this.#inlined.size === 0) return false;
    const declaration = this.declarationOf(node.expression);
    return declaration !== undefined && this.#inlined.has(declaration);
  }

  /** Returns the function or variable that a name means. */
  declarationOf(node: ts.Expression): ts.Node | undefined {
    const symbol = this.symbolOf(node);
    const declaration = symbol?.valueDeclaration;
    if (declaration !== undefined && ts.isVariableDeclaration(declaration) && declaration.initializer)
      return bare(declaration.initializer);
    return declaration;
  }

  symbolOf(node: ts.Node): ts.Symbol | undefined {
    const symbol =
      ts.isIdentifier(node) && ts.isShorthandPropertyAssignment(node.parent)
        ? this.checker.getShorthandAssignmentValueSymbol(node.parent)
        : this.checker.getSymbolAtLocation(node);
    return symbol && symbol.flags & ts.SymbolFlags.Alias ? this.checker.getAliasedSymbol(symbol) : symbol;
  }

  evaluate(given: ts.Expression, scope: Scope): Value {
    const node = bare(given);
    const value = this.#evaluate(node, scope);
    // `await`, `!` and `as` change the type, except `as unknown`.
    return node === given || value.kind !== 'unknown' || this.#saysNothing(given)
      ? value
      : { ...value, type: this.typeOf(given) };
  }

  #saysNothing(node: ts.Node): boolean {
    return (this.typeOf(node).flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown)) !== 0;
  }

  #evaluate(node: ts.Expression, scope: Scope): Value {
    if (ts.isStringLiteralLike(node)) return this.known(node, node.text);
    if (ts.isTemplateExpression(node)) return this.#template(node, scope);
    if (ts.isIdentifier(node)) return this.#identifier(node, scope);
    if (ts.isConditionalExpression(node))
      return this.evaluate(this.isTrue(node.condition, scope) ? node.whenTrue : node.whenFalse, scope);
    if (ts.isBinaryExpression(node)) return this.#binary(node, scope);
    if (ts.isArrayLiteralExpression(node)) return this.#array(node, scope);
    if (ts.isObjectLiteralExpression(node)) return this.#object(node, scope);
    if (ts.isArrowFunction(node) || ts.isFunctionExpression(node))
      return { kind: 'code', node, scope, type: this.typeOf(node) };
    if (ts.isCallExpression(node)) return this.#call(node, scope);
    if (ts.isPropertyAccessExpression(node)) return this.#property(node, scope);
    if (ts.isElementAccessExpression(node)) return this.#element(node, scope);
    return this.#constant(node, scope);
  }

  #constant(node: ts.Expression, scope: Scope): Value {
    if (ts.isNumericLiteral(node)) return this.known(node, Number(node.text));
    if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken)
      return this.known(node, !this.isTrue(node.operand, scope));
    if (node.kind === ts.SyntaxKind.TrueKeyword) return this.known(node, true);
    return node.kind === ts.SyntaxKind.FalseKeyword ? this.known(node, false) : this.unknown(node);
  }

  isTrue(condition: ts.Expression, scope: Scope): boolean {
    const node = bare(condition);
    if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken)
      return !this.isTrue(node.operand, scope);
    const value = this.evaluate(node, scope);
    if (value.kind === 'known') return Boolean(value.value);
    return value.kind === 'unknown' ? this.chooses(node) : true;
  }

  #template(node: ts.TemplateExpression, scope: Scope): Value {
    let text = node.head.text;
    for (const span of node.templateSpans) {
      const value = this.textOf(this.evaluate(span.expression, scope), span.expression);
      if (value.kind === 'unknown') return value;
      text += `${value.kind === 'known' ? value.value : ''}${span.literal.text}`;
    }
    return this.known(node, text);
  }

  /** Returns the text that a value has in a template: a number stands for all numbers. */
  textOf(value: Value, node: ts.Expression): Value {
    if (value.kind === 'known') return value;
    if (value.type.flags & ts.TypeFlags.NumberLike) return this.known(node, 1);
    const literals = literalsOf(value.type);
    if (literals !== undefined) return this.known(node, literals[this.ways.choose(keyOf(node), literals.length)]);
    return value.kind === 'unknown' ? value : this.unknown(node);
  }

  #identifier(node: ts.Identifier, scope: Scope): Value {
    if (node.text === 'undefined') return this.known(node, undefined);
    const symbol = this.symbolOf(node);
    if (symbol === undefined) return this.unknown(node);
    const found = scope.find(symbol) ?? this.#ofModule(symbol);
    if (found === undefined) return this.unknown(node);
    // Here the type may be narrower than where the variable was declared, except if it says nothing.
    return found.kind === 'unknown' && !this.#saysNothing(node) ? { ...found, type: this.typeOf(node) } : found;
  }

  #ofModule(symbol: ts.Symbol): Value | undefined {
    const known = this.#ofModules.get(symbol);
    if (known !== undefined) return known;
    const declaration = symbol.valueDeclaration;
    let value: Value | undefined;
    if (declaration !== undefined && ts.isFunctionDeclaration(declaration) && declaration.body !== undefined)
      value = { kind: 'code', node: declaration, scope: this.#module, type: this.typeOf(declaration) };
    const isConstant = declaration !== undefined && ts.isVariableDeclaration(declaration) && declaration.initializer;
    if (isConstant && ts.isSourceFile(declaration.parent.parent.parent))
      value = this.evaluate(isConstant, this.#module);
    if (value !== undefined) this.#ofModules.set(symbol, value);
    return value;
  }

  #binary(node: ts.BinaryExpression, scope: Scope): Value {
    const kind = node.operatorToken.kind;
    if (kind === ts.SyntaxKind.EqualsToken || kind === ts.SyntaxKind.PlusEqualsToken) return this.#assign(node, scope);
    if (kind === ts.SyntaxKind.AmpersandAmpersandToken)
      return this.isTrue(node.left, scope) ? this.evaluate(node.right, scope) : this.known(node, false);
    if (kind === ts.SyntaxKind.BarBarToken)
      return this.isTrue(node.left, scope) ? this.known(node, true) : this.evaluate(node.right, scope);
    return this.#operation(node, this.evaluate(node.left, scope), this.evaluate(node.right, scope));
  }

  #operation(node: ts.BinaryExpression, left: Value, right: Value): Value {
    const { kind } = node.operatorToken;
    if (kind === ts.SyntaxKind.QuestionQuestionToken) {
      if (left.kind === 'unknown') return { ...left, type: this.typeOf(node) };
      return left.kind === 'known' && left.value == null ? right : left;
    }
    if (left.kind !== 'known' || right.kind !== 'known') return this.unknown(node);
    const result = operate(kind, left.value, right.value);
    return result === undefined ? this.unknown(node) : this.known(node, result);
  }

  #assign(node: ts.BinaryExpression, scope: Scope): Value {
    const right = this.evaluate(node.right, scope);
    const symbol = this.symbolOf(node.left);
    if (symbol === undefined || !ts.isIdentifier(node.left)) return right;
    const before = scope.find(symbol);
    const isMore = node.operatorToken.kind === ts.SyntaxKind.PlusEqualsToken;
    let value = right;
    if (isMore)
      value =
        before?.kind === 'known' && right.kind === 'known'
          ? this.known(node.left, `${before.value}${right.value}`)
          : this.unknown(node);
    scope.assign(symbol, value);
    return value;
  }

  #array(node: ts.ArrayLiteralExpression, scope: Scope): Value {
    const items: Value[] = [];
    let isSample = false;
    for (const element of node.elements) {
      const value = this.#spread(this.evaluate(ts.isSpreadElement(element) ? element.expression : element, scope));
      if (!ts.isSpreadElement(element)) items.push(value);
      else if (value.kind === 'list') items.push(...value.items);
      else return this.unknown(node);
      isSample ||= ts.isSpreadElement(element) && value.kind === 'list' && value.isSample;
    }
    return { kind: 'list', items, isSample, type: this.typeOf(node) };
  }

  /** Returns the items of a tuple of which only the type is known. */
  #spread(value: Value): Value {
    if (value.kind !== 'unknown' || !this.checker.isTupleType(value.type)) return value;
    const { why } = value;
    const items = this.checker.getTypeArguments(value.type as ts.TypeReference);
    return { ...value, kind: 'list', isSample: false, items: items.map((type) => ({ kind: 'unknown', type, why })) };
  }

  #object(node: ts.ObjectLiteralExpression, scope: Scope): Value {
    const fields: Fields['fields'] = new Map();
    for (const property of node.properties) {
      if (ts.isPropertyAssignment(property) && !ts.isComputedPropertyName(property.name))
        fields.set(property.name.text, this.evaluate(property.initializer, scope));
      else if (ts.isShorthandPropertyAssignment(property))
        fields.set(property.name.text, this.evaluate(property.name, scope));
    }
    return { kind: 'fields', fields, type: this.typeOf(node) };
  }

  #property(node: ts.PropertyAccessExpression, scope: Scope): Value {
    const of = this.evaluate(node.expression, scope);
    if (of.kind === 'list' && node.name.text === 'length' && !of.isSample) return this.known(node, of.items.length);
    return (of.kind === 'fields' && of.fields.get(node.name.text)) || this.unknown(node);
  }

  #element(node: ts.ElementAccessExpression, scope: Scope): Value {
    const of = this.evaluate(node.expression, scope);
    const at = this.evaluate(node.argumentExpression, scope);
    const place = at.kind === 'known' || of.kind === 'unknown' ? at : this.textOf(at, node.argumentExpression);
    if (place.kind !== 'known') return this.unknown(node);
    if (of.kind === 'list') return of.items[Number(place.value)] ?? this.unknown(node);
    return (of.kind === 'fields' && of.fields.get(String(place.value))) || this.unknown(node);
  }

  #call(node: ts.CallExpression, scope: Scope): Value {
    const at = textArgument(this.checker, node);
    const args = () => node.arguments.map((argument) => this.evaluate(argument, scope));
    if (at !== undefined) {
      const [text, parameters] = args()
        .slice(at)
        .map((value) => this.#spread(value));
      if (text !== undefined) this.#found({ call: node, text, parameters });
      return this.unknown(node);
    }
    if (ts.isPropertyAccessExpression(node.expression)) {
      // What a promise's `catch` and the like are called on is evaluated here, and may run a statement.
      const of = this.evaluate(node.expression.expression, scope);
      const done = callMethod(this, of, node, args);
      if (done !== undefined) return done;
    }
    const code = this.evaluate(node.expression, scope);
    if (code.kind === 'code' && this.#isFollowed(code, node)) return this.apply(code, args(), false);
    // A function that is given to another one is called at some time.
    for (const argument of node.arguments)
      if (this.matters(argument)) {
        const value = this.evaluate(argument, scope);
        if (value.kind === 'code') this.apply(value, [], true);
      }
    return this.unknown(node);
  }

  #isFollowed({ node: { body }, node }: Code, call: ts.CallExpression): boolean {
    if (body === undefined || this.#depth > deepest) return false;
    if (this.#inlined.has(node)) return true;
    const isAsync = this.typeOf(call).symbol?.name === 'Promise';
    return !isAsync;
  }

  /** Calls a function. `isEntered`: it is run for its statements, not for its result. */
  apply(code: Code, args: Value[], isEntered: boolean): Value {
    const scope = new Scope(code.scope);
    for (const [i, parameter] of code.node.parameters.entries())
      this.bind(parameter.name, this.#argument(parameter, args[i], scope, isEntered), scope);
    this.#depth++;
    try {
      const { body } = code.node;
      if (body === undefined) return this.unknown(code.node);
      return ts.isBlock(body)
        ? (runBody(this, body, scope, isEntered) ?? this.known(body, undefined))
        : this.evaluate(body, scope);
    } finally {
      this.#depth--;
    }
  }

  #argument(
    { name, initializer }: ts.ParameterDeclaration,
    given: Value | undefined,
    scope: Scope,
    isEntered: boolean,
  ) {
    const isMissing = given === undefined || (given.kind === 'known' && given.value === undefined);
    if (initializer === undefined || !isMissing) return given ?? this.unknown(name);
    return !isEntered || this.chooses(initializer) ? this.evaluate(initializer, scope) : this.unknown(name);
  }

  /** Declares the names of a pattern. */
  bind(name: ts.BindingName, value: Value, scope: Scope): void {
    if (ts.isIdentifier(name)) {
      const symbol = this.checker.getSymbolAtLocation(name);
      if (symbol !== undefined) scope.declare(symbol, value);
      return;
    }
    for (const [i, element] of name.elements.entries()) {
      if (ts.isOmittedExpression(element)) continue;
      const key = element.propertyName ?? element.name;
      let part: Value | undefined;
      if (value.kind === 'list' && element.dotDotDotToken === undefined) part = value.items[i];
      if (value.kind === 'fields' && ts.isIdentifier(key)) part = value.fields.get(key.text);
      this.bind(element.name, part ?? this.unknown(element.name), scope);
    }
  }
}

function operate(kind: ts.SyntaxKind, left: unknown, right: unknown): string | number | boolean | undefined {
  if (kind === ts.SyntaxKind.PlusToken)
    return typeof left === 'number' && typeof right === 'number' ? left + right : `${left}${right}`;
  if (kind === ts.SyntaxKind.MinusToken) return Number(left) - Number(right);
  if (kind === ts.SyntaxKind.AsteriskToken) return Number(left) * Number(right);
  if (kind === ts.SyntaxKind.SlashToken) return Number(left) / Number(right);
  if (kind === ts.SyntaxKind.EqualsEqualsEqualsToken) return left === right;
  if (kind === ts.SyntaxKind.ExclamationEqualsEqualsToken) return left !== right;
  if (kind === ts.SyntaxKind.GreaterThanToken) return Number(left) > Number(right);
  if (kind === ts.SyntaxKind.LessThanToken) return Number(left) < Number(right);
  return undefined;
}
