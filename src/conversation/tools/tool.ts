import { z } from 'zod';
import type { Limits, Spent } from '../../domain/budget.ts';
import type { PlanMode } from '../../domain/settings.ts';
import { storable } from '../../domain/text/sanitize.ts';
import type { NewWait } from '../../domain/waiting.ts';
import { type Declared, words } from '../../llm/calls/declaration.ts';
import type { Model, ToolSpec } from '../../llm/model.ts';
import type { ToolAnswer, ToolHost } from '../../sandbox/sandbox.ts';
import type { ReviewArguments } from '../reviewing/review-call.ts';

/**
 * The result of a call. `changed` says whether the tool may have changed the workspace; `isInvalid`, that the call could
 * not be executed because there is no such tool or its arguments do not fit; `exitCode` is that of a command.
 */
export type ToolResult =
  | { kind: 'answer'; text: string; ok: boolean; changed: boolean; exitCode?: number; isInvalid?: true }
  | { kind: 'finish'; finish: FinishArguments; review?: ReviewArguments }
  | { kind: 'give_up'; reason: string }
  | { kind: 'split'; subtasks: NewSubtask[] }
  | { kind: 'wait'; wait: NewWait; text: string };

/** Tools of MCP servers. They are offered beside our own, under their exact names. */
export interface McpToolset {
  specs: ToolSpec[];
  /** Executes a call. Every failure becomes an answer. */
  call(name: string, argumentsJson: string): Promise<ToolAnswer>;
}

/** The tools that a run has. */
export interface Offered {
  hasShell: boolean;
  /** False for a subtask, which cannot be split again. */
  maySplit: boolean;
  /**
   * Whether the run still has to propose a plan: `always` before it changes anything, `large` before a large change.
   */
  plan?: PlanMode;
  mcp?: McpToolset;
  /** Whether people asked for something in comments on lines, which the run answers. */
  comments?: boolean;
  /** Whether a repository of the run has its submodules in the workspace. */
  submodules?: boolean;
  /** `only`: the run reviews a pull request, so it gets only the tools that read, and the one that ends with a review. */
  review?: 'only' | 'also';
  /** The run reaches neither people nor other repositories. */
  isAlone?: boolean;
}

/** What the tools of a run work with. */
export interface ToolContext {
  host: ToolHost;
  offered: Offered;
  model: Model;
  signal: AbortSignal;
  limits(): Promise<Limits>;
  spent(): Promise<Spent>;
  /** Adds a line to the log of the run. */
  note(type: string, text: string, data?: object): Promise<void>;
  /** Keeps the answer to a comment until the run ends. Returns false when the run was not asked for such a comment. */
  answerComment?(id: string, text: string): Promise<boolean>;
  /** Removes the credentials from every string in a value. */
  withoutSecrets<T>(value: T): T;
}

/** One tool of the agent: everything about it in one place. */
export interface Tool extends Declared {
  /** Whether a call may change the workspace, which is then stored before the next turn. */
  changes: boolean;
  /** `hidden` is understood but not offered: calls of other agents' tools become calls of this one. */
  offer?:
    | 'always'
    | 'with shell'
    | 'with split'
    | 'with plan'
    | 'with comments'
    | 'with submodules'
    | 'with review'
    | 'hidden';
  /** What a call is about, for the log of the run. */
  about?(args: never): string;
  /** Returns another call that these arguments mean; undefined for this tool. */
  redirect?(args: never): { name: string; args: object } | undefined;
  /** Executes a call. Without this function, the tool host executes it. */
  run?(context: ToolContext, args: never): Promise<ToolResult>;
}

/** Declares a tool. The types of `about`, `redirect` and `run` follow from its arguments. */
export function tool<S extends z.ZodType>(
  declared: Omit<Tool, 'arguments' | 'about' | 'redirect' | 'run'> & {
    arguments: S;
    about?(args: z.output<S>): string;
    redirect?(args: z.output<S>): { name: string; args: object } | undefined;
    run?(context: ToolContext, args: z.output<S>): Promise<ToolResult>;
  },
): Tool & { arguments: S } {
  return declared as Tool & { arguments: S };
}

/** Converts an answer of a tool host to a result. */
export function answered({ ok, text, exitCode }: ToolAnswer, changed: boolean): ToolResult {
  const result = { kind: 'answer', text: ok ? text : `Error: ${text}`, ok, changed } as const;
  return exitCode === undefined ? result : { ...result, exitCode };
}

/** Tells the model why a call could not be executed at all. */
export function refused(problem: string): ToolResult {
  return { kind: 'answer', text: `Error: ${problem}`, ok: false, changed: false, isInvalid: true };
}

export const FinishCall = z.strictObject({
  summary: z.string().min(1),
  nextSteps: z.array(z.string()).max(50),
  /** The title and the body of the pull request. */
  title: z.string().optional(),
  body: z.string().optional(),
});
const GiveUp = z.strictObject({ reason: z.string().min(1) });

/** The most subtasks into which an agent splits its task at once. */
export const maxNewSubtasks = 20;

const CreateSubtasks = z.strictObject({
  subtasks: z
    .array(z.strictObject({ title: z.string().trim().min(1).max(200), description: z.string().max(50_000) }))
    .min(1)
    .max(maxNewSubtasks),
});

export type FinishArguments = z.output<typeof FinishCall>;
export type NewSubtask = z.output<typeof CreateSubtasks>['subtasks'][number];

/** The tools that end a conversation. Their arguments are stored, and the database cannot store every character. */
export const endings = {
  create_subtasks: tool({
    description:
      'Split the task: each subtask is done and merged on its own, then you continue. Ends the work for now; your changes so far are kept. Only for tasks that are too large for one pull request.',
    arguments: CreateSubtasks,
    names: ['split_task', 'add_subtasks'],
    argumentNames: { subtasks: ['tasks'] },
    changes: false,
    offer: 'with split',
    run: async (_context, args) => ({ kind: 'split', subtasks: storable(args).subtasks }),
  }),
  finish: tool({
    description:
      'End the work when the task is done and checked: say what you did and why, and what remains. Your change then becomes a pull request with this title and body.',
    arguments: FinishCall,
    names: words('done submit complete attempt_completion complete_task task_complete finish_task'),
    argumentNames: {
      summary: words('message result output answer text'),
      nextSteps: ['remaining', 'todo', 'follow_ups'],
      title: ['prTitle', 'pull_request_title'],
      body: ['prBody', 'pull_request_body'],
    },
    defaults: { nextSteps: [] },
    changes: false,
    run: async (_context, args) => ({ kind: 'finish', finish: storable(args) }),
  }),
  give_up: tool({
    description: 'End the work without a result, because the task cannot be done. Say why.',
    arguments: GiveUp,
    names: ['abort_task', 'cannot_complete'],
    argumentNames: { reason: words('message explanation why summary') },
    changes: false,
    run: async (_context, args) => ({ kind: 'give_up', reason: storable(args).reason }),
  }),
};
