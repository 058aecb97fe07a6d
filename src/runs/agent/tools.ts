import { z } from 'zod';
import { storable } from '../../domain/text/storable.ts';
import type { ToolCall, ToolSpec } from '../../llm/model.ts';
import { parseArguments, parseJson, readTools, specsOf } from '../../repositories/read-tools.ts';
import type { ToolHost } from '../../sandbox/sandbox.ts';

const path = z.string().describe("relative to the repository's root");

const hostTools = {
  ...readTools,
  write_file: {
    description: 'Write a whole file; missing folders are created.',
    arguments: z.strictObject({ path, content: z.string() }),
    changes: true,
  },
  edit_file: {
    description: 'Replace a string in a file. The string must occur exactly once, unless replaceAll is true.',
    arguments: z.strictObject({ path, old: z.string(), new: z.string(), replaceAll: z.boolean().optional() }),
    changes: true,
  },
  delete_file: {
    description: 'Delete a file.',
    arguments: z.strictObject({ path }),
    changes: true,
  },
  run_command: {
    description: 'Run a shell command in the workspace, without network. Returns its output and its exit code.',
    arguments: z.strictObject({ command: z.string().min(1), timeoutSeconds: z.int().min(1).max(600).optional() }),
    changes: true,
  },
  open_repository: {
    description: 'Open another connected repository at ../<name>/.',
    arguments: z.strictObject({ name: z.string().min(1).max(200) }),
    changes: true,
  },
} as const;

const Finish = z.strictObject({
  summary: z.string().min(1),
  nextSteps: z.array(z.string()),
  prTitle: z.string().optional(),
  prBody: z.string().optional(),
});
const GiveUp = z.strictObject({ reason: z.string().min(1) });

const CreateSubtasks = z.strictObject({
  subtasks: z
    .array(z.strictObject({ title: z.string().trim().min(1).max(200), description: z.string().max(50_000) }))
    .min(1)
    .max(20),
});

const endings = {
  create_subtasks: {
    description:
      'Split the task: each subtask is done and merged on its own, then you continue. Ends the work for now; your changes so far are kept. Only for tasks that are too large for one pull request.',
    arguments: CreateSubtasks,
  },
  finish: {
    description: 'End the work: say what you did and why, and what remains. Your change then becomes a pull request.',
    arguments: Finish,
  },
  give_up: {
    description: 'End the work without a result, because the task cannot be done. Say why.',
    arguments: GiveUp,
  },
} as const;

export type FinishArguments = z.output<typeof Finish>;
export type NewSubtask = z.output<typeof CreateSubtasks>['subtasks'][number];

/** The tools that a run has. */
export interface Offered {
  hasShell: boolean;
  /** False for a subtask, which cannot be split again. */
  maySplit: boolean;
}

/** The result of a call. `changed` says whether the tool may have changed the workspace. */
export type ToolResult =
  | { kind: 'answer'; text: string; ok: boolean; changed: boolean }
  | { kind: 'finish'; finish: FinishArguments }
  | { kind: 'give_up'; reason: string }
  | { kind: 'split'; subtasks: NewSubtask[] };

/** Returns the tools to offer to the model. There is no shell without a working sandbox. */
export function toolSpecs(offered: Offered): ToolSpec[] {
  return specsOf(
    Object.fromEntries(Object.entries({ ...hostTools, ...endings }).filter(([name]) => isOffered(name, offered))),
  );
}

function isOffered(name: string, { hasShell, maySplit }: Offered): boolean {
  return (hasShell || name !== 'run_command') && (maySplit || name !== 'create_subtasks');
}

/** Carries out a call of the model. If the call is invalid, the result tells the model how to correct it. */
export async function callTool(host: ToolHost, call: ToolCall, offered: Offered): Promise<ToolResult> {
  const refuse = (text: string): ToolResult => ({ kind: 'answer', text: `Error: ${text}`, ok: false, changed: false });
  const known: Record<string, { arguments: z.ZodType; changes?: boolean }> = { ...hostTools, ...endings };
  const tool = Object.hasOwn(known, call.name) && isOffered(call.name, offered) ? known[call.name] : undefined;
  if (tool === undefined) {
    const names = toolSpecs(offered).map((t) => t.name);
    return refuse(`there is no tool ${call.name}; the tools are ${names.join(', ')}`);
  }
  const parsed = parseArguments(tool.arguments, call.arguments);
  if (!parsed.ok) return refuse(parsed.problem);
  // These arguments are stored in the database, which cannot store every character.
  if (call.name === 'finish') return { kind: 'finish', finish: storable(parsed.value as FinishArguments) };
  if (call.name === 'give_up')
    return { kind: 'give_up', reason: storable(parsed.value as z.output<typeof GiveUp>).reason };
  if (call.name === 'create_subtasks')
    return { kind: 'split', subtasks: storable(parsed.value as z.output<typeof CreateSubtasks>).subtasks };
  const answer = await host.call(call.name, parsed.value as object);
  const text = answer.ok ? answer.text : `Error: ${answer.text}`;
  return { kind: 'answer', text, ok: answer.ok, changed: tool.changes === true };
}

/** Describes a call in a few words for the log of the run. */
export function describeCall(call: ToolCall): string {
  const given = (parseJson(call.arguments) ?? {}) as Record<string, unknown>;
  const about = given.path ?? given.command ?? given.pattern ?? given.name ?? '';
  return typeof about === 'string' && about !== '' ? `${call.name} ${about.slice(0, 120)}` : call.name;
}
