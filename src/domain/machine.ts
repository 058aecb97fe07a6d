/** Thrown when a state forbids what was asked. The server answers 409 with the reason. */
export class Refused extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'Refused';
  }
}

/** A condition for a row of a state machine. */
export interface Check<F> {
  /** The condition as the end of "only if …", for readers of the table. */
  rule: string;
  /** How the facts break the rule and what to do about it, in whole sentences; undefined when they meet it. */
  refusal(facts: F): string | undefined;
}

/** One row of a state machine. `to` may depend on the facts; `because` describes that rule for readers of the table. */
export interface Row<S extends string, E extends string, F> {
  on: E;
  from: readonly S[];
  to: S | ((facts: F) => S);
  because?: string;
  onlyIf?: readonly Check<F>[];
}

/** A state machine, with the words from which refusals are made: "Only a task that is ready can be started; …". */
export interface Machine<S extends string, E extends string, F> {
  noun: string;
  /** Each status as the end of "a task that …". */
  statuses: Record<S, string>;
  /** Each event as the end of "a task that is ready can …". */
  events: Record<E, string>;
  rows: readonly Row<S, E, F>[];
}

/** What an event does in a state. `no-row`: the machine has no row for the two. */
export type Outcome<S extends string> =
  | { kind: 'moves'; to: S }
  | { kind: 'refused'; reason: string }
  | { kind: 'no-row' };

/** Looks an event up. The first row for the event and the state decides. */
export function decide<S extends string, E extends string, F>(
  machine: Machine<S, E, F>,
  state: S,
  event: E,
  facts: F,
): Outcome<S> {
  const row = machine.rows.find((r) => r.on === event && r.from.includes(state));
  if (row === undefined) return { kind: 'no-row' };
  for (const check of row.onlyIf ?? []) {
    const reason = check.refusal(facts);
    if (reason !== undefined) return { kind: 'refused', reason };
  }
  return { kind: 'moves', to: typeof row.to === 'function' ? row.to(facts) : row.to };
}

/**
 * The next state after an event that a person asked for.
 * @throws Refused saying what is required and what was found
 */
export function nextState<S extends string, E extends string, F>(
  machine: Machine<S, E, F>,
  state: S,
  event: E,
  facts: F,
): S {
  const outcome = decide(machine, state, event, facts);
  if (outcome.kind === 'moves') return outcome.to;
  throw new Refused(outcome.kind === 'refused' ? outcome.reason : wrongState(machine, state, event));
}

/** For example "Only a task that is in the backlog or ready can be started; this one is done." */
function wrongState<S extends string, E extends string, F>(machine: Machine<S, E, F>, state: S, event: E): string {
  const { noun, statuses, events, rows } = machine;
  const allowed = new Set(rows.filter((row) => row.on === event).flatMap((row) => row.from));
  const phrases = [...allowed].map((each) => statuses[each]);
  return `Only a ${noun} that ${oneOf(phrases)} can ${events[event]}; this one ${statuses[state]}.`;
}

/** Joins phrases with "or". A verb that the phrase before begins with too is not repeated. */
function oneOf(phrases: string[]): string {
  const verb = (phrase: string | undefined) => phrase?.split(' ')[0] ?? '';
  const short = phrases.map((phrase, i) =>
    i > 0 && verb(phrase) === verb(phrases[i - 1]) ? phrase.slice(verb(phrase).length + 1) : phrase,
  );
  return new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(short);
}
