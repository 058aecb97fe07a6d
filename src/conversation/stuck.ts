import { type Limits, nearLimits, type Spent } from '../domain/budget.ts';
import { RunFailed } from '../domain/run.ts';
import type { Message, ToolCall } from '../llm/model.ts';
import { type Exchange, exchangesOf } from './facts.ts';
import { ofLastRun } from './take-up.ts';
import { describeCall } from './tools.ts';

/** Every warning begins like this, so that it is found in the conversation and not given twice. */
const warningOpening = '[Limits of this run] ';

/**
 * Returns the warning about the limits that are almost used up, except those that the model was warned about in this run
 * already. A limit that people changed since then is a new one.
 */
export function limitWarning(limits: Limits, spent: Spent, messages: Message[]): Message[] {
  const given = ofLastRun(messages).flatMap((m) =>
    m.role === 'user' && m.content.startsWith(warningOpening) ? [m.content] : [],
  );
  const due = nearLimits(limits, spent).filter(
    ({ unit, value }) => !given.some((text) => text.includes(` of ${value} ${unit} are used`)),
  );
  if (due.length === 0) return [];
  const used = due.map(({ unit, used, value }) => `${used} of ${value} ${unit} are used`).join(', ');
  const content = `${warningOpening}${used}. When a limit is reached, the run ends and what you have is kept as unfinished work. Bring the change to an end now, or call finish with what works and name the rest in nextSteps.`;
  return [{ role: 'user', content }];
}

/** The run fails after this many answers in a row that are neither a valid call nor an ending. */
const maxMisses = 3;
/** The run fails when the same call has had the same result this many times in a row. */
const maxRepeats = 4;

const missOpening = 'This answer had no valid tool call';
const hintOpening = 'You made the same call with the same result';

/**
 * Tells the model what was expected instead of an answer without a valid call. `misses` counts such answers in a row
 * with this one. The remark is part of the conversation, so a worker that takes over counts on from there.
 */
export function missText(misses: number, { isText, isCut }: { isText: boolean; isCut: boolean }): string {
  const count = `${missOpening} (${misses} of ${maxMisses} in a row; then the run fails).`;
  const why = isCut
    ? ' It was cut off because it was too long. Continue in smaller steps.'
    : isText
      ? ' Text alone changes nothing.'
      : ' The results say what was wrong with each call.';
  return `${count}${why} Answer with a call of one of your tools. Call finish when the task is done, or give_up when it cannot be done.`;
}

/** Returns how many answers in a row, up to the last, had no valid call. Those of an earlier run do not count. */
export function countMisses(messages: Message[]): number {
  const isMiss = ({ remarks }: Exchange) => remarks.some((text) => text.startsWith(missOpening));
  const exchanges = exchangesOf(ofLastRun(messages));
  return exchanges.length - 1 - exchanges.findLastIndex((each) => !isMiss(each));
}

/** Warns a model that repeats a call, before the repetition ends the run. Undefined when no warning is due. */
export function repeatHint(messages: Message[]): string | undefined {
  if (repeatedCall(messages)?.times !== maxRepeats - 1) return undefined;
  return `${hintOpening} ${maxRepeats - 1} times in a row. Once more ends the run. Do something else, or call finish or give_up.`;
}

/**
 * Ends a conversation that makes no progress.
 * @throws RunFailed `model`
 */
export function failIfStuck(messages: Message[]): void {
  const misses = countMisses(messages);
  if (misses >= maxMisses)
    throw new RunFailed(
      'model',
      `the model gave ${misses} answers in a row that were neither a valid call nor an ending; the last one: ${lastAnswer(messages)}`,
    );
  const repeated = repeatedCall(messages);
  if (repeated !== undefined && repeated.times >= maxRepeats)
    throw new RunFailed(
      'model',
      `the model made the same call with the same result ${repeated.times} times in a row: ${describeCall(repeated.call)}`,
    );
}

function lastAnswer(messages: Message[]): string {
  const last = exchangesOf(messages).at(-1);
  const problem = [...(last?.results.values() ?? [])].at(-1);
  return (problem ?? (last?.text.trim() || 'an empty answer')).slice(0, 300);
}

/** Returns the call that the last answers repeat, and how often its result was the same. */
function repeatedCall(messages: Message[]): { call: ToolCall; times: number } | undefined {
  const exchanges = exchangesOf(messages).slice(-maxRepeats);
  const signs = exchanges.map(signOf);
  const last = signs.at(-1);
  const [call] = exchanges.at(-1)?.calls ?? [];
  if (last === undefined || call === undefined) return undefined;
  const before = signs.findLastIndex((sign) => sign !== last);
  return { call, times: signs.length - 1 - before };
}

/** How long something took is not part of its result. */
const duration = /\b\d+(\.\d+)?\s?(ms|s|seconds)\b/g;

/**
 * Returns a text that is equal for equal calls with equal results; undefined for an answer with several different calls.
 * What the service said about an ending is part of its result.
 */
function signOf({ calls, results, remarks }: Exchange): string | undefined {
  const said = remarks.filter((text) => !text.startsWith(warningOpening) && !text.startsWith(hintOpening));
  const all = calls.map((call) =>
    JSON.stringify([call.name, call.arguments, results.get(call.id)?.replace(duration, ''), said]),
  );
  return new Set(all).size === 1 ? all[0] : undefined;
}
