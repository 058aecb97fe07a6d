/** Thrown when a state forbids what was asked; the server answers 409 with the reason. */
export class Refused extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'Refused';
  }
}

/** Says why the facts forbid an event; undefined when they allow it. */
export type Check<F> = (facts: F) => string | undefined;

/** One row of a state machine. `to` may depend on the facts; `because` names that rule for readers of the table. */
export interface Row<S extends string, E extends string, F> {
  on: E;
  from: readonly S[];
  to: S | ((facts: F) => S);
  because?: string;
  unless?: readonly Check<F>[];
}

export type Machine<S extends string, E extends string, F> = readonly Row<S, E, F>[];

/** What an event does to a state: the next state, a refusal with its reason, or nothing because no row speaks of it. */
export type Outcome<S extends string> =
  | { kind: 'moves'; to: S }
  | { kind: 'refused'; reason: string }
  | { kind: 'no-row' };

/** Looks an event up. The first row for event and state decides. */
export function decide<S extends string, E extends string, F>(
  machine: Machine<S, E, F>,
  state: S,
  event: E,
  facts: F,
): Outcome<S> {
  const row = machine.find((r) => r.on === event && r.from.includes(state));
  if (row === undefined) return { kind: 'no-row' };
  for (const check of row.unless ?? []) {
    const reason = check(facts);
    if (reason !== undefined) return { kind: 'refused', reason };
  }
  return { kind: 'moves', to: typeof row.to === 'function' ? row.to(facts) : row.to };
}

/**
 * The next state of an event that a person asked for.
 * @throws Refused with what is required and what was found
 */
export function nextState<S extends string, E extends string, F>(
  machine: Machine<S, E, F>,
  state: S,
  event: E,
  facts: F,
): S {
  const outcome = decide(machine, state, event, facts);
  if (outcome.kind === 'moves') return outcome.to;
  const name = event.replace(/^to_/, 'moving to ');
  if (outcome.kind === 'refused') throw new Refused(`${name} ${outcome.reason}`);
  const allowed = [...new Set(machine.filter((r) => r.on === event).flatMap((r) => r.from))];
  throw new Refused(`${name} requires status ${allowed.join(' or ')}, found ${state}`);
}
