type Fetch = typeof globalThis.fetch;

/** The service accepts 20 addresses. Longer URLs might not pass a proxy. */
const [maxReads, maxChars] = [20, 4000];

/** Reads that may take long or are large. Others must not wait for them. */
const alone =
  /\/automations\/trial\?|\/(diff|events|installed-repositories|issues|merge-readiness|other-work|task-templates)$|\/branches\?|\/board\?limit=|\/batch/;

/** The status of a read whose reply does not fit into that of its batch. It is sent again, as a request of its own. */
const tooLarge = 413;

/** Reads to which 404 is an ordinary reply. Browsers log it to the console, except within a batch. */
const oftenMissing = /\/(environment|proof|benchmark)$/;

const base = '/api/v1';

/**
 * How long to wait for the reply to a read. After a change of network, a connection may look open for minutes although nothing
 * arrives any more; what waits for the reply, such as later updates of the board, would wait as long.
 */
const patienceMs = 60_000;

interface Read {
  address: string;
  resolve(reply: Response | Promise<Response>): void;
}

/**
 * Returns a `fetch` that combines the reads of the REST API which a page makes at the same moment into one request, such
 * as those of all its parts after a change. Everything else passes through. Reads without a reply are given up after `readMs`.
 */
export function batching(sendAny: Fetch, readMs = patienceMs): Fetch {
  const send: Fetch = (input, init) => sendAny(input, withTimeout(readMs, input, init));
  let waiting: Read[] = [];
  const flush = () => {
    const reads = waiting;
    waiting = [];
    for (const group of groupsOf(reads)) void sendGroup(send, group);
  };
  return (input, init) => {
    const address = addressOf(input, init);
    if (address === undefined) return send(input, init);
    return new Promise((resolve) => {
      // A task of its own, because React Query starts the reads of one change in several microtasks.
      if (waiting.length === 0) setTimeout(flush);
      waiting.push({ address, resolve });
    });
  };
}

/** Adds a time limit to a read of the REST API. Writes have none: they must not be repeated when they took long. */
function withTimeout(ms: number, input: Parameters<Fetch>[0], init: RequestInit | undefined): RequestInit | undefined {
  return isRead(input, init) ? { ...init, signal: AbortSignal.timeout(ms) } : init;
}

const isRead = (input: Parameters<Fetch>[0], init: RequestInit | undefined): input is string =>
  typeof input === 'string' &&
  input.startsWith(`${base}/`) &&
  (init?.method ?? 'GET') === 'GET' &&
  init?.signal == null;

/** Returns the address of a read that may be combined with others, relative to the base of the API. */
function addressOf(input: Parameters<Fetch>[0], init: RequestInit | undefined): string | undefined {
  return isRead(input, init) && !alone.test(input) ? input.slice(base.length) : undefined;
}

/** Divides reads into groups that the service accepts, in their order. */
function groupsOf(reads: Read[]): Read[][] {
  const groups: Read[][] = [];
  let [group, chars]: [Read[], number] = [[], 0];
  for (const read of reads) {
    const added = encodeURIComponent(read.address).length + '&get='.length;
    if (group.length === maxReads || chars + added > maxChars) [group, chars] = [[], 0];
    if (group.length === 0) groups.push(group);
    group.push(read);
    chars += added;
  }
  return groups;
}

async function sendGroup(send: Fetch, group: Read[]): Promise<void> {
  const [first] = group;
  if (first !== undefined && group.length === 1 && !oftenMissing.test(first.address))
    return first.resolve(send(base + first.address));
  const query = group.map(({ address }) => `get=${encodeURIComponent(address)}`).join('&');
  try {
    const reply = await send(`${base}/batch?${query}`);
    const text = await reply.text();
    // A refusal of the whole request is that of each read.
    if (!reply.ok) for (const { resolve } of group) resolve(responseOf(reply.status, text));
    else {
      const replies = JSON.parse(text) as { status: number; body: unknown }[];
      for (const [at, { resolve }] of group.entries()) {
        const { status, body } = replies[at] as (typeof replies)[number];
        if (status === tooLarge) resolve(send(base + (group[at] as Read).address));
        else resolve(responseOf(status, JSON.stringify(body)));
      }
    }
  } catch (error) {
    for (const { resolve } of group) resolve(Promise.reject(error));
  }
}

function responseOf(status: number, text: string): Response {
  return new Response(text, { status, headers: { 'Content-Type': 'application/json' } });
}
