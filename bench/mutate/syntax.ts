import { parseSync } from '@swc/core';

/** A node of swc's syntax tree. The kinds differ too much to name them all; each rule checks what it reads. */
export interface Node {
  type: string;
  span: { start: number; end: number };
  [key: string]: unknown;
}

/** @throws when the text is not TypeScript */
export function parse(source: string, file: string): Node {
  return parseSync(source, { syntax: 'typescript', tsx: file.endsWith('x'), target: 'es2024' }) as unknown as Node;
}

export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'span' in value;
}

/** The position of a node in bytes. swc counts from 1. */
export function rangeOf({ span }: Node): { start: number; end: number } {
  return { start: span.start - 1, end: span.end - 1 };
}

/** Type assertions. Their type does not run, but their value does. */
const typedValues = ['TsAsExpression', 'TsNonNullExpression', 'TsSatisfiesExpression', 'TsConstAssertion'];

/** The nodes below that run: no types, and no names of properties. */
export function childrenOf(node: Node): Node[] {
  return valuesOf(node).filter(({ type }) => !type.startsWith('Ts') || typedValues.includes(type));
}

function valuesOf(parts: object): Node[] {
  return Object.entries(parts)
    .filter(([name]) => name !== 'key')
    .flatMap(([, value]) => nodesIn(value));
}

/** swc wraps some nodes in plain objects, such as arguments in `{ spread, expression }`. */
function nodesIn(value: unknown): Node[] {
  if (isNode(value)) return [value];
  if (Array.isArray(value)) return value.flatMap(nodesIn);
  if (typeof value !== 'object' || value === null) return [];
  return valuesOf(value);
}
