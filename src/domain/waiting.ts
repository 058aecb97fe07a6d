import { Refused } from './machine.ts';

/** Returns the pause before the next try. It doubles each time; `tries` is the number of earlier pauses. */
export function growingPauseMs(tries: number, firstMs: number, longestMs: number): number {
  return Math.min(longestMs, firstMs * 2 ** Math.min(tries, 30));
}

/**
 * Returns the pause that a `Retry-After` header asks for, given in seconds or as a date; undefined when the header is
 * missing or malformed.
 */
export function retryAfterMs(header: string | null | undefined, now = Date.now()): number | undefined {
  if (header == null || header.trim() === '') return undefined;
  const ms = /^\s*\d+(\.\d+)?\s*$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now;
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}

/**
 * What a run waits for. `model` means that the model's server asked it to wait, `host` that a git host or GitHub is
 * unavailable, or that no worker has the labels which the repository asks for.
 */
export const waitReasons = ['plan', 'question', 'push', 'paused', 'model', 'host'] as const;
export type WaitReason = (typeof waitReasons)[number];

/** The waits that end without a person. A test compares them with the SQL function `reason_of_run`. */
export const waitsForNobody = ['model', 'host'] as const satisfies readonly WaitReason[];

/** Returns whether a run waits for a person. The other waits end without one. */
export function isForPerson(reason: WaitReason): reason is Exclude<WaitReason, (typeof waitsForNobody)[number]> {
  return !(waitsForNobody as readonly WaitReason[]).includes(reason);
}

/** What people see of a run that waits. `options` are the answers to choose from, numbered from 1. */
export interface Attention {
  id: string;
  reason: WaitReason;
  text: string;
  options: string[];
  since: string;
}

/** What an agent proposes to do before it does it. */
export interface RunPlan {
  markdown: string;
  /** Paths and patterns of the files that it will change. */
  files: string[];
  /** How the result will be checked. */
  checks: string[];
}

/** What a run begins to wait for. */
export interface NewWait extends Pick<Attention, 'reason' | 'text' | 'options'> {
  /** The plan that waits for approval. Its text is that of the wait. */
  plan?: RunPlan;
}

/** What a person is asked to approve besides the push of a change. */
export interface AskedOfChange {
  /** Why set-up of the change needs the network of set-up. */
  setup: string[];
  /** What is said about earlier tests that expect something else now, by repository. */
  expectations: string[];
  /** What was found in the change that only a person may allow. */
  findings: string[];
  files: string[];
}

/** The lines above the expectations and the findings. No reason is one of these texts. */
const titles = {
  expectations: 'An approval also says that these expectations may change:',
  findings: 'An approval also allows what was found in the change:',
} as const;

/**
 * Writes the text of a wait for the approval of a change: what a person is asked besides whether it may be pushed, and the
 * changed files. Its parts are separated by empty lines.
 */
export function approvalText({ setup, expectations, findings, files }: AskedOfChange): string {
  const under = (title: string, lines: string[]) => (lines.length > 0 ? [title, ...lines] : []);
  const parts = [setup, under(titles.expectations, expectations), under(titles.findings, findings)];
  return [...parts.filter((part) => part.length > 0), files].map((lines) => lines.join('\n')).join('\n\n');
}

/** Divides the text of a wait for the approval of a change into its parts. */
export function readApproval(text: string): AskedOfChange {
  const parts = text.split('\n\n').map((part) => part.split('\n'));
  const files = (parts.pop() ?? []).filter((file) => file !== '');
  const under = (title: string) => parts.filter(([first]) => first === title).flatMap(([, ...lines]) => lines);
  const isTitle = (line = '') => Object.values<string>(titles).includes(line);
  return {
    setup: parts.filter(([first]) => !isTitle(first)).flat(),
    expectations: under(titles.expectations),
    findings: under(titles.findings),
    files,
  };
}

/** What somebody who acts on a waiting run has seen of it. */
export interface Seen {
  /** The `id` of the attention that they act on. */
  id?: string | undefined;
  /** When they wrote the comment. GitHub gives times in whole seconds. */
  writtenAt?: Date | undefined;
}

/** The refusal of what somebody does about something that they cannot have seen. */
export const changedSince = 'This changed in the meantime; read the new one';

const waitsFor: Record<WaitReason, string> = {
  plan: 'waits for approval of its plan',
  question: 'waits for an answer',
  push: 'waits for approval of its change',
  paused: 'is paused',
  model: 'waits for its model',
  host: 'waits for an unavailable host',
};

/**
 * Checks that a run waits for what somebody does to it, and that they have seen what it waits for now.
 *
 * @param action what they do, to complete the phrase "a task that is paused can …"
 * @throws Refused
 */
export function assertWaits(
  attention: (Pick<Attention, 'id' | 'reason'> & { since: Date }) | null,
  reasons: readonly WaitReason[],
  action: string,
  { id, writtenAt }: Seen,
): void {
  if ((attention !== null && !mayHaveSeen(writtenAt, attention.since)) || (id !== undefined && id !== attention?.id))
    throw new Refused(changedSince);
  if (attention !== null && reasons.includes(attention.reason)) return;
  const wanted = reasons.map((reason) => waitsFor[reason]).join(' or ');
  const found = attention === null ? 'waits for nobody' : waitsFor[attention.reason];
  throw new Refused(`Only a task that ${wanted} can ${action}; this one ${found}.`);
}

/**
 * Returns an answer as the model reads it: the number of an option in its first line is replaced by the option's text.
 * @throws Refused when there is no option with this number
 */
export function chosenOption(answer: string, options: readonly string[]): string {
  const [number = '', ...words] = answer.split('\n');
  if (options.length === 0 || !/^\d{1,9}$/.test(number.trim())) return answer;
  const option = options[Number(number) - 1];
  if (option === undefined)
    throw new Refused(
      `There is no option ${number.trim()}. Choose from 1 to ${options.length}, or answer in your own words.`,
    );
  return [option, ...words].join('\n');
}

/**
 * Returns whether the author of a comment may have seen what appeared at a time. GitHub gives times in whole seconds, so a
 * comment of the same second counts. Where no time is known, nothing is refused.
 */
export function mayHaveSeen(writtenAt: Date | undefined, appearedAt: Date): boolean {
  return writtenAt === undefined || wholeSeconds(appearedAt) <= wholeSeconds(writtenAt);
}

/** Like `mayHaveSeen` for what a stranger may have changed: nobody reads and answers within a second. */
export function mustHaveSeen(writtenAt: Date | undefined, appearedAt: Date): boolean {
  return writtenAt === undefined || wholeSeconds(appearedAt) < wholeSeconds(writtenAt);
}

function wholeSeconds(at: Date): number {
  return Math.floor(at.getTime() / 1000);
}

/** Pauses for a host that does not say how long to wait. They double each time up to the longest. */
const [firstHostMs, longestHostMs] = [15_000, 300_000];

/** Returns how many seconds a run waits for a host after so many earlier pauses. */
export function hostPause(count: number, retryAfterMs: number | undefined): number {
  return Math.max(retryAfterMs ?? 0, growingPauseMs(count, firstHostMs, longestHostMs)) / 1000;
}

/** How long a run waits for its model in total, in seconds. Then it fails. */
const maxModelWaitSeconds = 3600;

/** Pauses when the server does not say how long to wait. They double each time up to the longest. */
const firstMs = 5000;
const longestMs = 600_000;
/** Shortest pauses when the server says how long: each pause costs a new workspace, so they grow too. */
const firstShortMs = 1000;
const longestShortMs = 60_000;

/** The pauses of a run for its model so far. */
export interface ModelWaits {
  /** Pauses in a row without a turn in between. */
  count: number;
  totalSeconds: number;
}

/** Returns how many seconds a run waits for its model; undefined when it may not wait any longer. */
export function modelPause({ count, totalSeconds }: ModelWaits, retryAfterMs: number | undefined): number | undefined {
  const pauseMs =
    retryAfterMs === undefined
      ? growingPauseMs(count, firstMs, longestMs)
      : Math.max(retryAfterMs, growingPauseMs(count, firstShortMs, longestShortMs));
  const seconds = pauseMs / 1000;
  return totalSeconds + seconds > maxModelWaitSeconds ? undefined : seconds;
}
