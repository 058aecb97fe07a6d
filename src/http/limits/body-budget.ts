/** The memory that one body takes. */
export interface BodyShare {
  /** Counts memory that the body needs from now on. Another body may be dismissed for it, or this one. */
  take(bytes: number): void;
  /** The body has arrived. From now on it cannot be dismissed. */
  settle(): void;
  leave(): void;
}

/** The memory for request bodies. */
export interface BodyBudget {
  /** Begins to count a body. `giveWay` is called when it is dismissed, after its share has been freed. */
  enter(payer: string, giveWay: () => void): BodyShare;
}

interface Body {
  bytes: number;
  giveWay: () => void;
}

interface Payer {
  bytes: number;
  bodies: Set<Body>;
  /** Those of its bodies that can still be dismissed. */
  arriving: Set<Body>;
}

/**
 * Bounds the memory of arriving bodies, in total and for each payer (an address or a user). It counts the bytes that have
 * arrived rather than those announced, because announcing costs nothing and a few requests could reserve everything. Over
 * a limit, the largest body of the heaviest payer is dismissed, so a small body gets through during a flood.
 */
export function bodyBudget({ total, each }: { total: number; each: number }): BodyBudget {
  const payers = new Map<string, Payer>();
  let held = 0;

  const enter = (name: string, giveWay: () => void): BodyShare => {
    const payer = payers.get(name) ?? { bytes: 0, bodies: new Set(), arriving: new Set() };
    payers.set(name, payer);
    const body: Body = { bytes: 0, giveWay };
    payer.bodies.add(body);
    payer.arriving.add(body);
    const leave = () => {
      if (!payer.bodies.delete(body)) return;
      payer.arriving.delete(body);
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
        payer.arriving.delete(body);
      },
      leave,
    };
  };
  return { enter };
}

/** False if there is nothing to dismiss, because all bodies have arrived. */
function dismissLargest(payers: Iterable<Payer>): boolean {
  const heaviest = largest([...payers].filter(({ arriving }) => arriving.size > 0));
  const body = largest(heaviest?.arriving ?? []);
  body?.giveWay();
  return body !== undefined;
}

function largest<T extends { bytes: number }>(among: Iterable<T>): T | undefined {
  let most: T | undefined;
  for (const one of among) if (most === undefined || one.bytes > most.bytes) most = one;
  return most;
}
