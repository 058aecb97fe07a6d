import { z } from 'zod';
import { storable } from '../../domain/text/storable.ts';
import type { ToolCall, ToolSpec } from '../../llm/model.ts';
import { parseArguments, parseJson, readTools, specsOf } from '../../repositories/read-tools.ts';
import type { ToolHost } from '../../sandbox/sandbox.ts';

const path = z.string().describe("relative to the repository's root");

const hostTools = {
  ...readTools,
  write_file: {
    description: 'Write a whole file; folders are made as needed.',
    arguments: z.strictObject({ path, content: z.string() }),
    changes: true,
  },
  edit_file: {
    description: 'Replace an exact text of a file that occurs once, or everywhere with replaceAll.',
    arguments: z.strictObject({ path, old: z.string(), new: z.string(), replaceAll: z.boolean().optional() }),
    changes: true,
  },
  delete_file: {
    description: 'Delete a file.',
    arguments: z.strictObject({ path }),
    changes: true,
  },
  run_command: {
    description: 'Run a shell command in the workspace; there is no network. Output and exit code come back.',
    arguments: z.strictObject({ command: z.string().min(1), timeoutSeconds: z.int().min(1).max(600).optional() }),
    changes: true,
  },
  open_repository: {
    description: 'Bring another connected repository into the workspace, at ../<name>/.',
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
      'Split the task: each subtask is done on its own and merged, then you go on. Ends the work for now; what was changed so far is kept. For tasks too large for one pull request only.',
    arguments: CreateSubtasks,
  },
  finish: {
    description:
      'End the work: say what was done and why, and what remains. The change is then proposed as a pull request.',
    arguments: Finish,
  },
  give_up: { description: 'End without a result, when the task cannot be done; say why.', arguments: GiveUp },
} as const;

export type FinishArguments = z.output<typeof Finish>;
export type NewSubtask = z.output<typeof CreateSubtasks>['subtasks'][number];

/** What of the tools there is in this run. */
export interface Offered {
  hasShell: boolean;
  /** A subtask is not split again. */
  maySplit: boolean;
}

/** What a call of the model came to. */
export type ToolResult =
  | { kind: 'answer'; text: string; ok: boolean; changed: boolean }
  | { kind: 'finish'; finish: FinishArguments }
  | { kind: 'give_up'; reason: string }
  | { kind: 'split'; subtasks: NewSubtask[] };

/** The tools to offer; without a working sandbox there is no shell among them. */
export function toolSpecs(offered: Offered): ToolSpec[] {
  return specsOf(
    Object.fromEntries(Object.entries({ ...hostTools, ...endings }).filter(([name]) => isOffered(name, offered))),
  );
}

function isOffered(name: string, { hasShell, maySplit }: Offered): boolean {
  return (hasShell || name !== 'run_command') && (maySplit || name !== 'create_subtasks');
}

/** Does what the model asked for. What is wrong with the call comes back as a text for it to mend. */
export async function callTool(host: ToolHost, call: ToolCall, offered: Offered): Promise<ToolResult> {
  const refuse = (text: string): ToolResult => ({ kind: 'answer', text: `Error: ${text}`, ok: false, changed: false });
  const known: Record<string, { arguments: z.ZodType; changes?: boolean }> = { ...hostTools, ...endings };
  const tool = Object.hasOwn(known, call.name) && isOffered(call.name, offered) ? known[call.name] : undefined;
  if (tool === undefined) {
    const names = toolSpecs(offered).map((t) => t.name);
    return refuse(`there is no tool ${call.name}; there are ${names.join(', ')}`);
  }
  const parsed = parseArguments(tool.arguments, call.arguments);
  if (!parsed.ok) return refuse(parsed.problem);
  // These end up in the database and on GitHub, the others in files.
  if (call.name === 'finish') return { kind: 'finish', finish: storable(parsed.value as FinishArguments) };
  if (call.name === 'give_up')
    return { kind: 'give_up', reason: storable(parsed.value as z.output<typeof GiveUp>).reason };
  if (call.name === 'create_subtasks')
    return { kind: 'split', subtasks: storable(parsed.value as z.output<typeof CreateSubtasks>).subtasks };
  const answer = await host.call(call.name, parsed.value as object);
  const text = answer.ok ? answer.text : `Error: ${answer.text}`;
  return { kind: 'answer', text, ok: answer.ok, changed: tool.changes === true };
}

/** A call in few words, for the log of the run. */
export function describeCall(call: ToolCall): string {
  const given = (parseJson(call.arguments) ?? {}) as Record<string, unknown>;
  const about = given.path ?? given.command ?? given.pattern ?? given.name ?? '';
  return typeof about === 'string' && about !== '' ? `${call.name} ${about.slice(0, 120)}` : call.name;
}
