/** Longer lists in a payload are cut. An issue has at most this many labels. */
const maxEntries = 100;

/** Parses a large payload, in a thread; undefined when it is not JSON. */
export function readPayload(text: string): unknown {
  try {
    return withShortLists(JSON.parse(text));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/**
 * A push can list thousands of commits and files. No handler reads them, and copying them out of the thread would block
 * the event loop for as long as parsing them.
 */
function withShortLists(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, maxEntries).map(withShortLists);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withShortLists(each)]));
}
