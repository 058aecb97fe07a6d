import type OpenAI from 'openai';

/** How long a list counts as current, and how long a server that gave none is not asked again. */
const [freshMs, restMs] = [10 * 60_000, 60_000];
/** The longest time that a server gets for its list. */
const patienceMs = 5000;
/** Beyond these, names are not kept; beyond this many keys, the list read first is forgotten. */
const [maxNames, maxName, maxKeys] = [5000, 200, 100];

interface Known {
  /** Undefined while nothing is known, and for a server that gives no list. */
  names?: string[] | undefined;
  /** When to ask again, on the clock of `performance.now()`. */
  until: number;
  /** Resolves when the request that is under way has ended. */
  asking?: Promise<void> | undefined;
}

/** What is known of the models that a server lists for a key. */
export type ModelLists = (key: string, maxWaitMs: number) => Promise<string[] | undefined>;

/**
 * Remembers which models servers list. What is known is returned at once, even if it is old, and read again in the
 * background. Otherwise the caller waits for the server, but not longer than it says. Undefined if that is not enough, or if
 * the server gives no list.
 */
export function openModelLists(connect: (key: string) => Pick<OpenAI, 'get'>): ModelLists {
  const all = new Map<string, Known>();
  return async (key, maxWaitMs) => {
    const known = all.get(key) ?? { until: 0 };
    all.set(key, known);
    const [oldest] = all.keys();
    if (all.size > maxKeys && oldest !== undefined) all.delete(oldest);
    if (known.asking === undefined && performance.now() >= known.until) known.asking = ask(connect(key), known);
    if (known.names === undefined && known.asking !== undefined && maxWaitMs > 0)
      await Promise.race([known.asking, timeLimit(maxWaitMs)]);
    return known.names;
  };
}

/** Never rejects: a list that cannot be read only means that nothing is known. */
async function ask(client: Pick<OpenAI, 'get'>, known: Known): Promise<void> {
  try {
    known.names = namesIn(await client.get('/models', { timeout: patienceMs, maxRetries: 0 }));
  } catch {
    // A list from before is more than nothing.
  }
  known.until = performance.now() + (known.names === undefined ? restMs : freshMs);
  known.asking = undefined;
}

/** Returns the names in an answer of `GET /models`; undefined if it is no list, or an empty one. */
function namesIn(answer: unknown): string[] | undefined {
  const { data } = (answer ?? {}) as { data?: unknown };
  if (!Array.isArray(data)) return undefined;
  const ids = data.map((entry: unknown) => (entry as { id?: unknown } | null)?.id);
  const names = ids.filter((id): id is string => typeof id === 'string' && id !== '' && id.length <= maxName);
  return names.length === 0 ? undefined : [...new Set(names)].slice(0, maxNames).sort();
}

function timeLimit(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}
