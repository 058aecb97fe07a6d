/** A refused attempt to reach a host. */
export interface Refusal {
  host: string;
  port: number;
  /** A complete sentence that says how to allow the host, where that is possible. */
  reason: string;
}

/** Hosts that are listed by name. Attempts to reach others are summed up in one entry. */
const maxHosts = 100;
const others = 'other hosts';

/** Lines that are added to the answer of one command. */
const maxNews = 10;

/** The refusals of one run. */
export interface RefusalLog {
  note(refusal: Refusal): void;
  /** The refused hosts in the order of their first refusal. */
  all(): { host: string; times: number }[];
  /** Returns lines about the refusals since the last call; undefined when there were none. */
  news(): string | undefined;
}

/**
 * Collects refusals. Calls `tell` only for a host's first, 10th, 100th, … refusal, so that a command that tries in a
 * loop does not flood the log.
 */
export function refusalLog(tell?: (refusal: Refusal & { times: number }) => void): RefusalLog {
  const byHost = new Map<string, Refusal & { times: number; reported: number }>();
  return {
    note: (refusal) => {
      const host = byHost.has(refusal.host) || byHost.size < maxHosts ? refusal.host : others;
      const { times = 0, reported = 0 } = byHost.get(host) ?? {};
      const entry = { ...refusal, host, times: times + 1, reported };
      byHost.set(host, entry);
      if (Number.isInteger(Math.log10(entry.times))) tell?.({ ...refusal, host, times: entry.times });
    },
    all: () => [...byHost.values()].map(({ host, times }) => ({ host, times })),
    news: () => {
      const fresh = [...byHost.values()].filter(({ times, reported }) => times > reported);
      if (fresh.length === 0) return undefined;
      const lines = fresh.slice(0, maxNews).map((entry) => lineOf(entry, entry.times - entry.reported));
      for (const entry of fresh) entry.reported = entry.times;
      return [...lines, ...(fresh.length > maxNews ? [`[network] and ${fresh.length - maxNews} more`] : [])].join('\n');
    },
  };
}

function lineOf({ host, reason }: Refusal, times: number): string {
  const what = host === others ? 'further hosts are not allowed' : reason;
  return `[network] ${what}${times > 1 ? ` (${times} times)` : ''}`;
}
