/** What is read of an entry of the log of a run. */
export interface LogEntry {
  type: string;
  at: Date;
  text: string;
  /** The calls of an answer of the model, as the log lists them; null for other entries. */
  calls: unknown;
  /** The place of a call that has ended among the calls of its turn; null for other entries. */
  call: number | null;
}

export const doings = ['preparing', 'setting_up', 'thinking', 'calling', 'checking', 'publishing'] as const;

/** What a running run does now. */
export interface Activity {
  doing: (typeof doings)[number];
  /** The tool and what the call is about, as in the log; null unless it is `calling`. */
  call: string | null;
  since: Date;
}

/** What the newest entry says about a run between its turns. */
const phases = new Map<string, Activity['doing']>([
  ['setup', 'setting_up'],
  ['check', 'checking'],
  ['proof', 'publishing'],
  ['push', 'publishing'],
  ['pull', 'publishing'],
]);

/** Returns what a run does by the newest entries of its log, newest first. */
export function activityOf(startedAt: Date, entries: readonly LogEntry[]): Activity {
  const [newest] = entries;
  if (newest === undefined) return { doing: 'preparing', call: null, since: startedAt };
  const since = newest.at;
  const phase = phases.get(newest.type);
  if (phase !== undefined) return { doing: phase, call: null, since };
  const call = openCall(entries);
  // While `finish` has no result yet, the service checks the work.
  if (call !== undefined) return call.startsWith('finish') ? doing('checking') : { doing: 'calling', call, since };
  return doing(entries.some(({ type }) => ['loop', 'model', 'tool'].includes(type)) ? 'thinking' : 'preparing');

  function doing(what: Activity['doing']): Activity {
    return { doing: what, call: null, since };
  }
}

/** Returns the first call of the newest answer that has not ended. */
function openCall(entries: readonly LogEntry[]): string | undefined {
  const answered = entries.findIndex(({ type }) => type === 'model');
  const answer = entries[answered];
  if (answer === undefined || !Array.isArray(answer.calls)) return undefined;
  const ended = new Set(entries.slice(0, answered).map(({ call }) => call));
  const open: unknown = answer.calls.find((_, i) => !ended.has(i));
  return typeof open === 'string' ? open.slice(0, maxLine) : undefined;
}

/** Characters of a line that lists show. */
export const maxLine = 300;
/** Entries that say too little to be shown in a short list: every turn has them. */
const quiet = new Set(['model', 'plan']);

/** Returns the newest entries that people want to read, oldest first. */
export function newestLines(entries: readonly LogEntry[], count: number) {
  const shown = entries.filter(({ type, text }) => !quiet.has(type) && text.trim() !== '').slice(0, count);
  return shown.reverse().map(({ at, type, text }) => ({ at, type, text }));
}
