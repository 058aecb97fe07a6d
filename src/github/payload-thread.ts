import { parentPort, workerData } from 'node:worker_threads';

/** Entry of the thread that `parsePayload` starts; answers undefined when the text is not JSON. */
const maxEntries = 100;

parentPort?.postMessage(parse(workerData as string));

function parse(text: string): unknown {
  try {
    return withShortLists(JSON.parse(text));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/**
 * A push can list thousands of commits and files. No handler reads them, and the copy of all of them would keep the
 * event loop of the service as long as parsing them there.
 */
function withShortLists(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, maxEntries).map(withShortLists);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withShortLists(each)]));
}
