import { badAnswer, type CharCount } from './bounds.ts';

/** Items of one list in a streamed answer. */
const maxItems = 10_000;
/** How many of the last items are searched for the one that a piece continues. */
const recent = 50;

/** These fields come whole. Some servers repeat them in every piece, so they are never joined. */
const whole = new Set(['id', 'type', 'name', 'role', 'format', 'signature', 'thought_signature']);

type Fields = Record<string, unknown>;

/**
 * Adds the fields of a streamed piece to those before it: joins strings, and continues list items that have the same
 * index. Changes `fields`.
 * @throws ModelFailed when the answer becomes too large
 */
export function mergeFields(fields: Fields, piece: Fields, count: CharCount): void {
  for (const [name, value] of Object.entries(piece)) {
    const before = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (value == null && before !== undefined) continue;
    const isJoined = typeof before === 'string' && typeof value === 'string' && !whole.has(name);
    const next = isJoined ? before + count.counted(value) : merged(before, value, count);
    // Plain assignment to a field named `__proto__` would change the prototype.
    Object.defineProperty(fields, name, { value: next, enumerable: true, writable: true, configurable: true });
  }
}

function merged(before: unknown, value: unknown, count: CharCount): unknown {
  if (Array.isArray(before) && Array.isArray(value)) {
    for (const item of value) addItem(before, item, count);
    return before;
  }
  if (isFields(before) && isFields(value)) {
    mergeFields(before, value, count);
    return before;
  }
  count.counted(JSON.stringify(value));
  return value;
}

function addItem(list: unknown[], item: unknown, count: CharCount): void {
  const continued =
    isFields(item) && item.index !== undefined ? list.slice(-recent).findLast(isSameAs(item)) : undefined;
  if (continued !== undefined) {
    mergeFields(continued as Fields, item as Fields, count);
    return;
  }
  if (list.length >= maxItems) throw badAnswer(`has a list of more than ${maxItems} items`);
  count.counted(JSON.stringify(item));
  list.push(item);
}

function isSameAs(item: Fields) {
  return (other: unknown) => isFields(other) && other.index === item.index && sameType(other.type, item.type);
}

function sameType(one: unknown, other: unknown): boolean {
  return one === undefined || other === undefined || one === other;
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
