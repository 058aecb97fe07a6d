import type { Attention, Run, RunEvent, RunTurn } from '../api.ts';
import { waitNames } from '../display/names.ts';
import { type Call, titleOf } from './calls.ts';

/** A row of the log. A row that changes is replaced, so an unchanged one need not be rendered again. */
export type Row = { key: string; turn: number } & (
  | { kind: 'turn'; at: string | undefined; stored: RunTurn | undefined; ms: number | undefined }
  | { kind: 'words'; text: string; isLive: boolean }
  | { kind: 'call'; call: Call }
  | { kind: 'note'; event: RunEvent }
);

/** A part of what the model is writing. */
export interface Piece {
  /** Numbered from 0. */
  turn: number;
  text: string;
  restarts?: boolean;
}

export interface PlanStep {
  text: string;
  status: 'todo' | 'doing' | 'done';
}

/** What happened in a run, in order: its log, its turns, and what the model is writing now. */
export interface Timeline {
  /** Adds entries of the log. Those that are known already, as after a reconnection, are ignored. */
  addEvents(events: RunEvent[]): void;
  addTurns(turns: RunTurn[]): void;
  write(piece: Piece): void;
  rows(): Row[];
  turns(): RunTurn[];
  events(): RunEvent[];
  /** The steps that the agent noted last. */
  plan(): PlanStep[];
  /** What the newest turn is about: undefined when it is stored, or before the first. */
  current(): { isWriting: boolean; call: Call | undefined } | undefined;
}

/** One turn with what the log says about it. Turn 0 stands for what happened before the first turn of the run itself. */
interface Group {
  turn: number;
  stored: RunTurn | undefined;
  /** The time of its first entry. A turn is stored only when its calls have ended, which is later than their entries. */
  began: string | undefined;
  /** The entry that says that the model answered. */
  answer: RunEvent | undefined;
  /** The entries about calls, by the place of the call in the turn. */
  calls: Map<number, RunEvent>;
  notes: RunEvent[];
  writing: string;
  /** Dropped whenever the group changes. */
  rows: Row[] | undefined;
}

export function openTimeline(): Timeline {
  const groups = new Map<number, Group>();
  const known = new Set<string>();
  const events: RunEvent[] = [];
  const turns: RunTurn[] = [];
  /** The turn of the newest entry about a turn; 0 before the first. */
  let newest = 0;
  /** The first turn of the run itself. Earlier ones were copied from another run. */
  let firstOwn = Number.POSITIVE_INFINITY;
  let plan: PlanStep[] = [];
  let rows: Row[] | undefined;

  const changed = (turn: number): Group => {
    const found = groups.get(turn);
    const group = found ?? newGroup(turn);
    if (found === undefined) groups.set(turn, group);
    group.rows = undefined;
    rows = undefined;
    return group;
  };
  const addEvent = (event: RunEvent) => {
    known.add(event.id);
    events.push(event);
    if (event.type === 'plan') plan = stepsIn(event.data.steps) ?? plan;
    const stated: unknown = event.data.turn;
    if (typeof stated === 'number') newest = stated;
    // Logs of older versions do not say to which turn an entry belongs.
    else if (event.type === 'model') newest += 1;
    if (newest > 0) firstOwn = Math.min(firstOwn, newest);
    addTo(changed(newest), event);
  };
  return {
    addEvents: (added) => {
      for (const event of added) if (!known.has(event.id)) addEvent(event);
    },
    addTurns: (added) => {
      for (const turn of added) {
        if (turn.turn <= turns.length) continue;
        turns.push(turn);
        Object.assign(changed(turn.turn), { stored: turn, writing: '' });
      }
    },
    write: ({ turn, text, restarts }) => {
      const group = changed(turn + 1);
      group.writing = (restarts ? '' : group.writing) + text;
      firstOwn = Math.min(firstOwn, turn + 1);
    },
    rows: () => (rows ??= inOrder(groups, firstOwn).flatMap((group) => (group.rows ??= rowsOf(group)))),
    turns: () => turns,
    events: () => events,
    plan: () => plan,
    current: () => {
      const last = groups.get(Math.max(0, ...groups.keys()));
      if (last === undefined || last.turn === 0 || last.stored !== undefined) return undefined;
      const open = callsOf(last).find(({ ok }) => ok === undefined);
      return { isWriting: last.answer === undefined && last.writing !== '', call: open };
    },
  };
}

function newGroup(turn: number): Group {
  const none = { stored: undefined, began: undefined, answer: undefined, rows: undefined };
  return { turn, calls: new Map(), notes: [], writing: '', ...none };
}

function addTo(group: Group, event: RunEvent): void {
  group.began ??= event.at;
  switch (event.type) {
    case 'model':
      // A second answer in the same turn comes from a worker that took over before the turn was stored.
      group.answer = event;
      group.calls.clear();
      return;
    case 'tool':
      group.calls.set(typeof event.data.call === 'number' ? event.data.call : group.calls.size, event);
      return;
    case 'plan':
      // Shown beside the log, and as a call.
      return;
    default:
      group.notes.push(event);
  }
}

/** Orders the groups by turn. What happened before the first turn of the run itself comes after the copied turns. */
function inOrder(groups: Map<number, Group>, firstOwn: number): Group[] {
  const place = ({ turn }: Group) => (turn === 0 ? firstOwn - 0.5 : turn);
  return [...groups.values()].sort((a, b) => place(a) - place(b));
}

function rowsOf(group: Group): Row[] {
  const { turn, stored, began, answer, notes, writing } = group;
  const noted = notes.map((event): Row => ({ kind: 'note', key: `event-${event.id}`, turn, event }));
  if (turn === 0) return noted;
  const text = stored?.text ?? writing;
  const ms = typeof answer?.data.ms === 'number' ? answer.data.ms : undefined;
  return [
    { kind: 'turn', key: `turn-${turn}`, turn, at: began ?? stored?.at, stored, ms },
    ...(text.trim() === ''
      ? []
      : [{ kind: 'words', key: `words-${turn}`, turn, text, isLive: stored === undefined } as const]),
    ...callsOf(group).map((call, i): Row => ({ kind: 'call', key: `call-${turn}-${i}`, turn, call })),
    ...noted,
  ];
}

/** Returns the calls of a turn: from the turn when it is stored, before that from the log. */
function callsOf({ stored, answer, calls }: Group): Call[] {
  if (stored !== undefined)
    return stored.calls.map((call, i) => ({ ...call, ...fromLog(calls.get(i)), name: call.name, ok: call.ok }));
  const listed: unknown[] = Array.isArray(answer?.data.calls) ? answer.data.calls : [];
  const count = Math.max(listed.length, ...[...calls.keys()].map((i) => i + 1));
  return Array.from({ length: count }, (_, i) => ({
    arguments: undefined,
    result: undefined,
    ...fromLog(calls.get(i), listed[i]),
  }));
}

/** Returns what the log says about a call. `listed` is its text in the list of calls of the answer. */
function fromLog(event: RunEvent | undefined, listed?: unknown) {
  const text = event?.text ?? (typeof listed === 'string' ? listed : '');
  const [name = ''] = text.split(' ', 1);
  const { ok, exitCode, ms } = event?.data ?? {};
  return {
    name,
    about: text.slice(name.length + 1),
    ok: typeof ok === 'boolean' ? ok : undefined,
    exitCode: typeof exitCode === 'number' ? exitCode : undefined,
    ms: typeof ms === 'number' ? ms : undefined,
  };
}

/** Returns the steps of a plan; undefined for anything else. */
function stepsIn(value: unknown): PlanStep[] | undefined {
  if (!Array.isArray(value)) return undefined;
  return value.flatMap((step: unknown) => {
    const { text, status } = Object(step) as Partial<PlanStep>;
    return typeof text === 'string' && status !== undefined ? [{ text, status }] : [];
  });
}

/** What a run is doing now. */
export interface Activity {
  text: string;
  /** When it began. */
  since: string;
}

/** What the newest entry of the log says about a run between its turns. */
const phases: Record<string, string> = {
  setup: 'Setting up the environment…',
  check: 'Running the checks…',
  proof: 'Publishing the change…',
  push: 'Publishing the change…',
  pull: 'Finishing…',
};

/** Returns what an unfinished run is doing; undefined when it has ended. */
export function activityOf(
  run: Pick<Run, 'status' | 'createdAt' | 'startedAt'>,
  attention: Pick<Attention, 'reason' | 'since'> | null,
  timeline: Pick<Timeline, 'current' | 'events' | 'turns'>,
): Activity | undefined {
  switch (run.status) {
    case 'queued':
      return { text: 'Waiting to start', since: run.createdAt };
    case 'waiting':
      return attention === null
        ? { text: 'Waiting', since: run.createdAt }
        : { text: waitNames[attention.reason], since: attention.since };
    case 'running':
      return { text: workText(timeline), since: lastChange(timeline) ?? run.startedAt ?? run.createdAt };
    default:
      return undefined;
  }
}

function workText(timeline: Pick<Timeline, 'current' | 'events'>): string {
  const current = timeline.current();
  const newest = timeline.events().at(-1);
  // Checks may run while the agent's call of `finish` has no result yet.
  if (newest !== undefined && Object.hasOwn(phases, newest.type)) return phases[newest.type] ?? '';
  if (current?.isWriting) return 'Writing…';
  if (current?.call !== undefined) return callText(current.call);
  const hasBegun = timeline.events().some(({ type }) => type === 'loop' || type === 'model');
  return hasBegun ? 'Thinking…' : 'Preparing the workspace…';
}

function callText(call: Call): string {
  if (call.name === 'finish') return 'Checking the result…';
  // A run that works has the reply to these.
  return ['propose_plan', 'ask_person'].includes(call.name) ? 'Continuing…' : `${titleOf(call)}…`;
}

/** Returns the later of the newest entry and the newest turn. */
function lastChange({ events, turns }: Pick<Timeline, 'events' | 'turns'>): string | undefined {
  const times = [events().at(-1)?.at, turns().at(-1)?.at].filter((at) => at !== undefined);
  return times.sort().at(-1);
}
