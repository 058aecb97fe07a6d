/** The memory reserved for one body. */
export interface BodyShare {
  /** Adds to the body's memory, or frees some of it. Over a limit, this dismisses another body or this one. */
  take(bytes: number): void;
  /** Marks the body as complete. From now on it cannot be dismissed. */
  settle(): void;
  leave(): void;
}

/** The memory budget for all bodies of requests, or of replies. */
export interface BodyBudget {
  /** Starts counting a body. When the body is dismissed, its memory is freed and then `giveWay` is called. */
  enter(payer: string, giveWay: () => void): BodyShare;
  /** Returns the bytes of all bodies of a payer. */
  heldBy(payer: string): number;
}

interface Body {
  bytes: number;
  giveWay: () => void;
}

interface Payer {
  bytes: number;
  bodies: Set<Body>;
  /** The payer's bodies that can still be dismissed: those under way. */
  underWay: Set<Body>;
}

/**
 * Limits the memory of bodies that are under way, in total and for each payer (an address or a user). Of a request it counts
 * the bytes that have arrived, not the announced length: announcing is free, so a few requests could reserve the whole
 * budget. Over a limit, the largest body of the payer who uses the most is dismissed, so a small body gets through during a
 * flood.
 */
export function bodyBudget({ total, each }: { total: number; each: number }): BodyBudget {
  const payers = new Map<string, Payer>();
  let held = 0;

  const enter = (name: string, giveWay: () => void): BodyShare => {
    const payer = payers.get(name) ?? { bytes: 0, bodies: new Set(), underWay: new Set() };
    payers.set(name, payer);
    const body: Body = { bytes: 0, giveWay };
    payer.bodies.add(body);
    payer.underWay.add(body);
    const leave = () => {
      if (!payer.bodies.delete(body)) return;
      payer.underWay.delete(body);
      payer.bytes -= body.bytes;
      held -= body.bytes;
      if (payer.bodies.size === 0) payers.delete(name);
    };
    body.giveWay = () => {
      leave();
      giveWay();
    };
    return {
      take: (bytes) => {
        if (!payer.bodies.has(body)) return;
        for (const holder of [body, payer]) holder.bytes += bytes;
        held += bytes;
        while (payer.bytes > each && dismissLargest([payer]));
        while (held > total && dismissLargest(payers.values()));
      },
      settle: () => {
        payer.underWay.delete(body);
      },
      leave,
    };
  };
  return { enter, heldBy: (name) => payers.get(name)?.bytes ?? 0 };
}

/** Dismisses the largest body that is still under way; returns false if there is none. */
function dismissLargest(payers: Iterable<Payer>): boolean {
  const heaviest = largest([...payers].filter(({ underWay }) => underWay.size > 0));
  const body = largest(heaviest?.underWay ?? []);
  body?.giveWay();
  return body !== undefined;
}

function largest<T extends { bytes: number }>(among: Iterable<T>): T | undefined {
  let most: T | undefined;
  for (const one of among) if (most === undefined || one.bytes > most.bytes) most = one;
  return most;
}
