/** Thrown when the current state forbids a request. The server responds with 409 and the reason. */
export class Refused extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'Refused';
  }
}

/** A condition for a row of a state machine. */
export interface Check<F> {
  /** The condition in words. It completes the phrase "only if …" for readers of the table. */
  rule: string;
  /**
   * Returns how the facts violate the condition and what to do about it, in whole sentences; undefined if they meet it.
   */
  refusal(facts: F): string | undefined;
}

/**
 * One row of a state machine. `to` may depend on the facts; in that case `because` explains it to readers of the table.
 */
export interface Row<S extends string, E extends string, F> {
  on: E;
  from: readonly S[];
  to: S | ((facts: F) => S);
  because?: string;
  onlyIf?: readonly Check<F>[];
}

/** A state machine, with the phrases from which refusals are built: "Only a task that is ready can be started; …". */
export interface StateMachine<S extends string, E extends string, F> {
  noun: string;
  /** A phrase for each status. It completes "a task that …". */
  statuses: Record<S, string>;
  /** A phrase for each event. It completes "a task that is ready can …". */
  events: Record<E, string>;
  rows: readonly Row<S, E, F>[];
}

/** The result of an event in a state. `no-row` means that the machine has no row for the two. */
export type Outcome<S extends string> =
  | { kind: 'moves'; to: S }
  | { kind: 'refused'; reason: string }
  | { kind: 'no-row' };

/** Finds the result of an event. The first row for the event and the state decides. */
export function decide<S extends string, E extends string, F>(
  machine: StateMachine<S, E, F>,
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
 * Returns the next state after an event that a person requested.
 * @throws Refused saying what is required and what was found
 */
export function nextState<S extends string, E extends string, F>(
  machine: StateMachine<S, E, F>,
  state: S,
  event: E,
  facts: F,
): S {
  const outcome = decide(machine, state, event, facts);
  if (outcome.kind === 'moves') return outcome.to;
  throw new Refused(outcome.kind === 'refused' ? outcome.reason : wrongState(machine, state, event));
}

/** Builds a refusal, for example "Only a task that is in the backlog or ready can be started; this one is done." */
function wrongState<S extends string, E extends string, F>(machine: StateMachine<S, E, F>, state: S, event: E): string {
  const { noun, statuses, events, rows } = machine;
  const allowed = new Set(rows.filter((row) => row.on === event).flatMap((row) => row.from));
  const phrases = [...allowed].map((each) => statuses[each]);
  return `Only a ${noun} that ${oneOf(phrases)} can ${events[event]}; this one ${statuses[state]}.`;
}

/** Joins phrases with "or". Omits a verb that the previous phrase also begins with. */
function oneOf(phrases: string[]): string {
  const verb = (phrase: string | undefined) => phrase?.split(' ')[0] ?? '';
  const short = phrases.map((phrase, i) =>
    verb(phrase) === verb(phrases[i - 1]) ? phrase.slice(verb(phrase).length + 1) : phrase,
  );
  return new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(short);
}
