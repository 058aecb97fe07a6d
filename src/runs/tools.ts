import { z } from 'zod';
import { storable } from '../domain/storable.ts';
import type { ToolCall, ToolSpec } from '../llm/model.ts';
import { parseArguments, parseJson, readTools, specsOf } from '../repositories/read-tools.ts';
import type { ToolHost } from '../sandbox/sandbox.ts';

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
} as const;

const Finish = z.strictObject({
  summary: z.string().min(1),
  nextSteps: z.array(z.string()),
  prTitle: z.string().optional(),
  prBody: z.string().optional(),
});
const GiveUp = z.strictObject({ reason: z.string().min(1) });

const endings = {
  finish: {
    description:
      'End the work: say what was done and why, and what remains. The change is then proposed as a pull request.',
    arguments: Finish,
  },
  give_up: { description: 'End without a result, when the task cannot be done; say why.', arguments: GiveUp },
} as const;

export type FinishArguments = z.output<typeof Finish>;

/** What a call of the model came to. */
export type ToolResult =
  | { kind: 'answer'; text: string; ok: boolean; changed: boolean }
  | { kind: 'finish'; finish: FinishArguments }
  | { kind: 'give_up'; reason: string };

/** The tools to offer; without a working sandbox there is no shell among them. */
export function toolSpecs(hasShell: boolean): ToolSpec[] {
  const { run_command, ...files } = hostTools;
  return specsOf({ ...files, ...(hasShell ? { run_command } : {}), ...endings });
}

/** Does what the model asked for. What is wrong with the call comes back as a text for it to mend. */
export async function callTool(host: ToolHost, call: ToolCall): Promise<ToolResult> {
  const refuse = (text: string): ToolResult => ({ kind: 'answer', text: `Error: ${text}`, ok: false, changed: false });
  const known: Record<string, { arguments: z.ZodType; changes?: boolean }> = { ...hostTools, ...endings };
  const tool =
    Object.hasOwn(known, call.name) && (host.hasShell || call.name !== 'run_command') ? known[call.name] : undefined;
  if (tool === undefined)
    return refuse(
      `there is no tool ${call.name}; there are ${toolSpecs(host.hasShell)
        .map((t) => t.name)
        .join(', ')}`,
    );
  const parsed = parseArguments(tool.arguments, call.arguments);
  if (!parsed.ok) return refuse(parsed.problem);
  // These end up in the database and on GitHub, the others in files.
  if (call.name === 'finish') return { kind: 'finish', finish: storable(parsed.value as FinishArguments) };
  if (call.name === 'give_up')
    return { kind: 'give_up', reason: storable(parsed.value as z.output<typeof GiveUp>).reason };
  const answer = await host.call(call.name, parsed.value as object);
  const text = answer.ok ? answer.text : `Error: ${answer.text}`;
  return { kind: 'answer', text, ok: answer.ok, changed: tool.changes === true };
}

/** A call in few words, for the log of the run. */
export function describeCall(call: ToolCall): string {
  const given = (parseJson(call.arguments) ?? {}) as Record<string, unknown>;
  const about = given.path ?? given.command ?? given.pattern ?? '';
  return typeof about === 'string' && about !== '' ? `${call.name} ${about.slice(0, 120)}` : call.name;
}
