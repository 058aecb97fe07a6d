import type { TreeOf } from '../outgoing/changes.ts';
import type { CheckResult } from '../publish/verify.ts';
import type { FinishArguments, NewSubtask } from './tools.ts';

/** How a conversation ended. The journal keeps it, except for `treeOf`. */
export interface Ending extends Evidence {
  finish: FinishArguments;
  /** False when the model answered with text instead of calling `finish`. */
  isCalled: boolean;
  /** Set when the agent split the task instead of finishing it. */
  subtasks?: NewSubtask[];
}

/** What the host found out while it judged an ending that it accepted. */
export interface Evidence {
  /** The results of the repositories' own checks. */
  checks?: CheckResult[];
  /** The files that were judged. What the checks changed in them afterwards is not pushed. */
  treeOf?: TreeOf;
}

/** What the host says about an ending: the model must continue because of `objection`, or the ending counts. */
export type Judgement = { accepted: false; objection: string } | { accepted: true; evidence: Evidence };

/** Later runs are shown the whole summary, and a pull request has room for 65,536 characters. */
const maxSummary = 10_000;
const maxSteps = 20;
const maxStepChars = 500;

/** An ending by `finish`, or by a text in its place, with its texts cut to what later readers have room for. */
export function finishedWith(finish: FinishArguments, isCalled: boolean): Ending {
  const nextSteps = finish.nextSteps.slice(0, maxSteps).map((step) => step.slice(0, maxStepChars));
  return { finish: { ...finish, summary: cutText(finish.summary), nextSteps }, isCalled };
}

/** An ending by `create_subtasks`. */
export function splitInto(subtasks: NewSubtask[]): Ending {
  const nextSteps = subtasks.map((s) => s.title);
  return { finish: { summary: `Split into ${subtasks.length} subtasks.`, nextSteps }, isCalled: true, subtasks };
}

/** A summary or reason of a model, cut to the length that is kept. */
export function cutText(text: string): string {
  if (text.length <= maxSummary) return text;
  return `${text.slice(0, maxSummary)}\n[… ${text.length - maxSummary} characters cut …]`;
}
