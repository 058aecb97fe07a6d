/** Longer lists of a payload are cut. GitHub gives at most this many labels to an issue. */
const maxEntries = 100;

/** Runs in a thread. Parses a large payload; undefined when it is not JSON. */
export function readPayload(text: string): unknown {
  try {
    return withShortLists(JSON.parse(text));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/**
 * A push can list thousands of commits and files. No handler reads them, and to copy them all from the thread would keep
 * the event loop as long as to parse them there.
 */
function withShortLists(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, maxEntries).map(withShortLists);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withShortLists(each)]));
}
