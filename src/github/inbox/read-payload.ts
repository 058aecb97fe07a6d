import { parseWithin } from '../../domain/json/json-cost.ts';

/** Longer lists in a large payload are cut, except the commits of a push. An issue has at most this many labels. */
const maxEntries = 100;

/** More than GitHub sends of a push, so a list of commits is never cut to one that looks complete. */
const maxCommits = 3000;
/** References to pull requests are in the title, or at the end of a message that GitHub made. */
const maxMessage = 1000;

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

/**
 * Parses a large payload in a thread, and returns what handlers read of it: copying thousands of commits with their files out of the
 * thread would block the event loop for as long as parsing them. Of a push, all commits are kept, with their ids and messages,
 * because they decide which proofs still count.
 */
export function readPayload(text: string): unknown {
  const payload = parseBounded(text);
  if (!isObject(payload) || !Array.isArray(payload.commits)) return withShortLists(payload);
  const { commits, ...others } = payload;
  return { ...(withShortLists(others) as object), commits: commits.slice(0, maxCommits).map(shortCommit) };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function shortCommit(commit: unknown): unknown {
  if (!isObject(commit)) return null;
  const { id, message } = commit;
  return { id, message: typeof message === 'string' ? message.slice(0, maxMessage) : message };
}

function withShortLists(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, maxEntries).map(withShortLists);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withShortLists(each)]));
}
