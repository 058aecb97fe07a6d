import { parseWithin } from '../../domain/json/json-cost.ts';

/** Longer lists in a payload are cut. An issue has at most this many labels. */
const maxEntries = 100;

/** Payloads with more values are rejected. None of GitHub's has as many. */
const maxValues = 3_000_000;

/** Parses a payload. Returns undefined when it is not JSON, or is nested more deeply than GitHub's payloads are. */
export function parseBounded(text: string): unknown {
  try {
    // 24 MB of brackets took a gigabyte and ten seconds to parse.
    return parseWithin(text, maxValues);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Parses a large payload in a thread. Its long lists are cut. */
export function readPayload(text: string): unknown {
  return withShortLists(parseBounded(text));
}

/**
 * Shortens lists: a push can list thousands of commits and files. No handler reads them, and copying them out of the
 * thread would block the event loop for as long as parsing them.
 */
function withShortLists(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, maxEntries).map(withShortLists);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withShortLists(each)]));
}
