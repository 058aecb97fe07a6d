import type { Proposal } from './mutant.ts';
import { isSql, sqlChanges } from './sql.ts';
import { childrenOf, isNode, type Node, rangeOf } from './syntax.ts';

/** Returns the source text of a node. */
type TextOf = (node: Node) => string;
type Rule = (node: Node, text: TextOf) => Proposal[];

/** Each operator with those that a mistake would put in its place. */
const operators: Record<string, string[]> = {
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '===': ['!=='],
  '!==': ['==='],
  '&&': ['||'],
  '||': ['&&'],
  '??': ['&&'],
  '+': ['-'],
  '-': ['+'],
  '*': ['/'],
  '/': ['*'],
  '%': ['*'],
  '**': ['*'],
  '&': ['|'],
  '|': ['&'],
};

const operator: Rule = (node, text) => {
  const { left, right, operator: found } = node;
  if (node.type !== 'BinaryExpression' || !isNode(left) || !isNode(right) || typeof found !== 'string') return [];
  if (found === '+' && [left, right].some(isText)) return [];
  // No test can meet the very instant that a comparison with the clock names: only the opposite is tried.
  const isClock = isComparison(node) && /\b(Date|performance)\.now\(\)/.test(text(node));
  return (operators[found] ?? []).slice(isClock ? -1 : 0).map((replacement) => {
    const after = `${text(left)} ${replacement} ${text(right)}`;
    // In brackets, because another operator can bind more loosely than its surroundings.
    return { ...rangeOf(node), replacement: `(${after})`, before: text(node), after };
  });
};

function isText(node: Node): boolean {
  if (['StringLiteral', 'TemplateLiteral'].includes(node.type)) return true;
  return node.type === 'BinaryExpression' && childrenOf(node).some(isText);
}

/** A comparison has its own rule, and so has a negation. */
const condition: Rule = ({ type, test }, text) => {
  const conditional = ['IfStatement', 'ConditionalExpression', 'WhileStatement', 'DoWhileStatement', 'ForStatement'];
  if (!conditional.includes(type) || !isNode(test)) return [];
  if (test.type === 'UnaryExpression' || (test.type === 'BinaryExpression' && isComparison(test))) return [];
  const after = `!(${text(test)})`;
  return [{ ...rangeOf(test), replacement: after, before: text(test), after }];
};

function isComparison({ operator: found }: Node): boolean {
  return ['<', '<=', '>', '>=', '===', '!=='].includes(String(found));
}

const negation: Rule = (node, text) => {
  if (node.type !== 'UnaryExpression' || node.operator !== '!' || !isNode(node.argument)) return [];
  const after = text(node.argument);
  return [{ ...rangeOf(node), replacement: after, before: text(node), after }];
};

/** A call whose result nobody uses is there for its effect. */
const droppedCall: Rule = (node, text) => {
  let called = node.type === 'ExpressionStatement' ? node.expression : undefined;
  while (isNode(called) && ['AwaitExpression', 'UnaryExpression', 'OptionalChainingExpression'].includes(called.type))
    called = called.argument ?? called.base;
  if (!isNode(called) || called.type !== 'CallExpression') return [];
  if (isNode(called.callee) && called.callee.type === 'Super') return [];
  return [{ ...rangeOf(node), replacement: ';', before: text(node), after: '(nothing)' }];
};

/** `if (…) return;` and its like, which stops what must not go on. Negating the condition would stop the usual case. */
const droppedGuard: Rule = (node, text) => {
  if (node.type !== 'IfStatement' || isNode(node.alternate) || !isNode(node.consequent)) return [];
  const { consequent } = node;
  const only =
    consequent.type === 'BlockStatement' && Array.isArray(consequent.stmts) ? consequent.stmts : [consequent];
  const last: unknown = only.at(-1);
  const leaves = ['ReturnStatement', 'ThrowStatement', 'ContinueStatement', 'BreakStatement'];
  if (!isNode(last) || !leaves.includes(last.type)) return [];
  return [{ ...rangeOf(node), replacement: ';', before: text(node), after: '(no guard)' }];
};

/** Two steps in the wrong order, as a mark that is set before its work is done. */
const swappedSteps: Rule = (node, text) => {
  const statements: unknown[] = Array.isArray(node.stmts) ? node.stmts : [];
  return statements.flatMap((first, at) => {
    const second = statements[at + 1];
    if (!isNode(first) || !isNode(second) || !isStep(first) || !isStep(second)) return [];
    const [start, end] = [rangeOf(first).start, rangeOf(second).end];
    const after = `${text(second)} ${text(first)}`;
    return [{ start, end, replacement: after, before: `${text(first)} ${text(second)}`, after }];
  });
};

function isStep({ type, expression }: Node): boolean {
  return type === 'ExpressionStatement' && isNode(expression) && expression.type === 'AwaitExpression';
}

/** `x = undefined;` and `update(…, { x: null })`: what a state leaves behind when it forgets to clean up. */
const forgottenReset: Rule = (node, text) => {
  const { expression, arguments: given } = node;
  if (node.type === 'ExpressionStatement' && isNode(expression) && expression.type === 'AssignmentExpression')
    return expression.operator === '=' && isNode(expression.right) && isEmpty(expression.right)
      ? [{ ...rangeOf(node), replacement: ';', before: text(node), after: '(not reset)' }]
      : [];
  if (node.type !== 'CallExpression' || !isNode(node.callee) || !/\bupdate$/.test(text(node.callee))) return [];
  const last = (Array.isArray(given) ? given : []).at(-1)?.expression as Node | undefined;
  const properties: unknown[] =
    last?.type === 'ObjectExpression' && Array.isArray(last.properties) ? last.properties : [];
  if (properties.length < 2) return [];
  return properties.flatMap((property) => {
    const { key, value } = property as { key?: Node; value?: Node };
    if (!isNode(key) || !isNode(value) || !isEmpty(value)) return [];
    const [start, end] = [rangeOf(key).start, rangeOf(value).end];
    return [{ start, end, replacement: '...{}', before: `${text(key)}: ${text(value)}`, after: '(not reset)' }];
  });
};

function isEmpty({ type, value }: Node): boolean {
  return type === 'NullLiteral' || (type === 'Identifier' && value === 'undefined') || value === false || value === 0;
}

const literal: Rule = (node, text) => {
  if (node.type === 'BooleanLiteral') return [{ ...rangeOf(node), replacement: String(!node.value) }];
  if (node.type !== 'NumericLiteral') return [];
  return [{ ...rangeOf(node), replacement: String(otherNumber(Number(text(node).replaceAll('_', '')))) }];
};

/**
 * Adds one to a small number, which is a count. Multiplies a large one by ten, because it is a time or a size, which no
 * test checks exactly.
 */
function otherNumber(value: number): number {
  return value < 1000 ? value + 1 : value * 10;
}

/** A row of a table of rules: an array or object among others of its kind. */
const droppedRow: Rule = (node, text) => {
  if (node.type !== 'ArrayExpression' || !Array.isArray(node.elements) || node.elements.length < 2) return [];
  const rows = node.elements.map((each: { expression: Node } | null) => each?.expression);
  if (!rows.every((row) => row?.type === 'ArrayExpression' || row?.type === 'ObjectExpression')) return [];
  return rows.filter(isNode).map((row, at) => {
    const next = rows[at + 1];
    const { start, end } = rangeOf(row);
    const wider = next === undefined ? end : rangeOf(next).start;
    return { start, end: wider, replacement: '', before: text(row), after: '(no such row)' };
  });
};

const sqlText: Rule = (node) => {
  if (node.type === 'StringLiteral') {
    const raw = String(node.raw).slice(1, -1);
    if (/^(ASC|DESC)$/.test(raw)) return [{ ...rangeOf(node), replacement: raw === 'ASC' ? `'DESC'` : `'ASC'` }];
    return isSql(raw) ? inText(raw, rangeOf(node).start + 1) : [];
  }
  if (node.type !== 'TemplateLiteral' || !Array.isArray(node.quasis)) return [];
  const quasis: Node[] = node.quasis;
  const whole = quasis.map(({ raw }) => raw).join('x');
  if (!isSql(whole)) return [];
  return quasis.flatMap((quasi, at) => {
    const earlier = quasis.slice(0, at).map(({ raw }) => `${raw}x`);
    return inText(String(quasi.raw), rangeOf(quasi).start, earlier.join(''));
  });
};

/** The changes of an SQL text that begins at a byte of the source. */
function inText(text: string, begin: number, earlier = ''): Proposal[] {
  return sqlChanges(text, earlier).map(({ at, length, replacement }) => {
    const start = begin + Buffer.byteLength(text.slice(0, at));
    return { start, end: start + Buffer.byteLength(text.slice(at, at + length)), replacement };
  });
}

export const rules: Rule[] = [
  operator,
  condition,
  negation,
  droppedCall,
  droppedGuard,
  swappedSteps,
  forgottenReset,
  literal,
  droppedRow,
  sqlText,
];
