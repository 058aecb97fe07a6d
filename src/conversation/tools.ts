import { findByName, type Given, specsOf } from '../llm/calls/declaration.ts';
import { fitArguments, readObject } from '../llm/calls/fit-arguments.ts';
import type { ToolCall, ToolSpec } from '../llm/model.ts';
import { parseJson, readTools } from '../repositories/read-tools.ts';
import { traced } from '../tracing/traced.ts';
import { commandTools } from './tools/command-tools.ts';
import { editTools, severalEdits } from './tools/edit-tools.ts';
import { exploreTool } from './tools/explore.ts';
import { notePlanTool } from './tools/note-plan.ts';
import { peopleTools } from './tools/people-tools.ts';
import { repositoryTools } from './tools/repository-tools.ts';
import { reviewTools } from './tools/review-tool.ts';
import {
  answered,
  endings,
  type Offered,
  refused,
  type Tool,
  type ToolContext,
  type ToolResult,
} from './tools/tool.ts';

/** Every tool of a run. Their names and parameters are part of the published interface, and models are tuned to them. */
export const tools: Record<string, Tool> = {
  ...readTools,
  ...editTools,
  ...commandTools,
  ...repositoryTools,
  ...notePlanTool,
  ...exploreTool,
  ...peopleTools,
  ...reviewTools,
  ...endings,
};

/** The only tools of a run that reviews a pull request. */
const ofReviews = new Set<Tool>([...Object.values(readTools), ...Object.values(reviewTools), endings.give_up]);

/** The tools that reach people or other repositories. */
const notAlone = new Set<Tool>([...Object.values(peopleTools), ...Object.values(repositoryTools)]);

/** Tools of other agents that are several tools in one. `command` says which. */
const editors = ['str_replace_editor', 'str_replace_based_edit_tool', 'text_editor', 'file_editor', 'editor'];
const editorCommands: Record<string, string> = {
  view: 'read_file',
  create: 'create_file',
  str_replace: 'edit_file',
  insert: 'insert_lines',
};

/** Returns the tools to offer to the model. There is no shell without a working sandbox. */
export function toolSpecs(offered: Offered): ToolSpec[] {
  const own = Object.entries(tools).filter(([, tool]) => tool.offer !== 'hidden' && isUsable(tool, offered));
  return [...specsOf(Object.fromEntries(own)), ...mcpSpecs(offered)];
}

/** Nobody knows what the tools of other servers change, so they are not offered before a plan is approved. */
function mcpSpecs({ mcp, plan }: Offered): ToolSpec[] {
  return plan === 'always' ? [] : (mcp?.specs ?? []);
}

function isUsable(tool: Tool, offered: Offered): boolean {
  const { hasShell, maySplit, plan = 'never', comments = false, submodules = false, review, isAlone = false } = offered;
  if (review === 'only') return ofReviews.has(tool);
  if (isAlone && notAlone.has(tool)) return false;
  const { offer = 'always' } = tool;
  switch (offer) {
    case 'with shell':
      return hasShell;
    case 'with split':
      return maySplit && plan !== 'always';
    case 'with comments':
      return comments;
    case 'with submodules':
      return submodules && plan !== 'always';
    case 'with plan':
      return plan !== 'never';
    case 'with review':
      return review !== undefined;
    case 'hidden':
    case 'always':
      return plan !== 'always' || !isEditing(tool);
  }
}

/** Whether a tool exists to change files. Commands may change files too, but their changes are discarded. */
function isEditing(tool: Tool): boolean {
  return (Object.values(editTools) as Tool[]).includes(tool);
}

/** A call that was understood: the tool that it means, and arguments that fit. */
interface Understood {
  name: string;
  tool: Tool;
  args: object;
}

/**
 * Executes a tool call of the model. If the call is invalid, the result tells the model how to correct it.
 *
 * @param isCut whether the model's answer reached its length limit, so that the call may be incomplete
 */
export async function callTool(context: ToolContext, call: ToolCall, { isCut = false } = {}): Promise<ToolResult> {
  const { host, offered } = context;
  if (offered.mcp !== undefined && mcpSpecs(offered).some(({ name }) => name === call.name)) {
    // These tools read their arguments themselves; they get valid JSON where there is only one reading.
    const read = readObject(call.arguments, { isCut });
    const { mcp } = offered;
    const text = read.ok ? JSON.stringify(read.value) : call.arguments;
    return executed(call.name, async () => answered(await mcp.call(call.name, text), false));
  }
  const understood = understand(call, offered, isCut);
  if (typeof understood === 'string') return refused(understood);
  const { name, tool, args } = understood;
  const { run } = tool;
  if (run !== undefined) return executed(name, () => run(context, args as never));
  return executed(name, async () => answered(await host.call(name, args), tool.changes));
}

/** Makes a call of a tool that exists a span, without its arguments and its answer. */
function executed(name: string, call: () => Promise<ToolResult>): Promise<ToolResult> {
  return traced(
    `execute_tool ${name}`,
    { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': name, 'gen_ai.tool.type': 'function' },
    async (describe) => {
      const result = await call();
      if (result.kind === 'answer') describe({ 'deckhand.tool.ok': result.ok, 'process.exit.code': result.exitCode });
      return result;
    },
  );
}

/** Returns the tool and the arguments that a call means, or what is wrong with it. */
function understand(call: ToolCall, offered: Offered, isCut: boolean): Understood | string {
  const { name: called, text } = dispatched(call, isCut);
  const name = findByName(tools, called);
  const tool = name === undefined ? undefined : tools[name];
  if (name === undefined || tool === undefined || !isUsable(tool, offered)) return noTool(called, name, offered);
  const fitted = fitArguments(tool.arguments, text, { ...tool, name: called, isCut });
  if (!fitted.ok) return fitted.problem;
  const args = fitted.value as object;
  const other = tool.redirect?.(args as never);
  const redirected = other && tools[other.name];
  if (other === undefined || redirected === undefined) return { name, tool, args };
  if (!isUsable(redirected, offered)) return noTool(other.name, other.name, offered);
  return { name: other.name, tool: redirected, args: other.args };
}

function noTool(called: string, name: string | undefined, offered: Offered): string {
  const names = toolSpecs(offered).map((spec) => spec.name);
  const tool = name === undefined ? undefined : tools[name];
  if (tool?.offer === 'with shell') return `there is no shell here; the tools are ${names.join(', ')}`;
  if (offered.plan === 'always' && (tool !== undefined || isMcpTool(called, offered)))
    return `a person has to approve a plan before ${called.slice(0, 100)} can be used; call propose_plan. The tools until then are ${names.join(', ')}`;
  return `there is no tool ${called.slice(0, 100)}; the tools are ${names.join(', ')}`;
}

function isMcpTool(called: string, { mcp }: Offered): boolean {
  return mcp?.specs.some(({ name }) => name === called) ?? false;
}

/** Translates the names of tools that depend on the arguments. */
function dispatched(call: ToolCall, isCut: boolean): { name: string; text: string } {
  const same = { name: call.name, text: call.arguments };
  const isEditor = findByName(Object.fromEntries(editors.map((name) => [name, {}])), call.name) !== undefined;
  const isEdit = findByName(tools, call.name) === 'edit_file';
  if (!isEditor && !isEdit) return same;
  const read = readObject(call.arguments, { isCut });
  if (!read.ok) return same;
  if (isEdit) {
    const edits = severalEdits(read.value);
    const { diff: _, ...rest } = read.value;
    return edits === undefined ? same : { name: 'multi_edit', text: JSON.stringify({ ...rest, edits }) };
  }
  const { command, ...rest } = read.value;
  const name = Object.hasOwn(editorCommands, String(command)) ? editorCommands[String(command)] : undefined;
  return name === undefined ? same : { name, text: JSON.stringify(forCommand(String(command), rest)) };
}

/** Leaves out the arguments of the editor's other commands, which some models send empty. */
function forCommand(command: string, given: Given): Given {
  const used: Record<string, string[]> = {
    view: ['path', 'view_range'],
    create: ['path', 'file_text'],
    str_replace: ['path', 'old_str', 'new_str'],
    insert: ['path', 'insert_line', 'new_str', 'insert_text'],
  };
  const isEmpty = (value: unknown) => value === null || value === '' || (Array.isArray(value) && value.length === 0);
  const kept = Object.entries(given).filter(([key, value]) => used[command]?.includes(key) || !isEmpty(value));
  // An edit that only deletes text may leave out `new_str`.
  return { ...(command === 'str_replace' ? { new_str: '' } : {}), ...Object.fromEntries(kept) };
}

/** A call in our own names, whichever names the model used. */
export interface MeantCall {
  name: string;
  args: Given;
  /** Whether the call may change the workspace. */
  changes: boolean;
}

const everything: Required<Omit<Offered, 'mcp' | 'isAlone'>> = {
  hasShell: true,
  maySplit: true,
  plan: 'large',
  comments: true,
  submodules: true,
  review: 'also',
};

/** Returns what a call means; undefined when it is invalid, or a call of an MCP tool. */
export function meantCall(call: ToolCall): MeantCall | undefined {
  const understood = understand(call, everything, false);
  if (typeof understood === 'string') return undefined;
  const { name, tool, args } = understood;
  return { name, args: args as Given, changes: tool.changes };
}

/** Describes a call in a few words for the log of the run. */
export function describeCall(call: ToolCall): string {
  const understood = understand(call, everything, false);
  if (typeof understood === 'string') return named(call.name.slice(0, 100), aboutOf(parseJson(call.arguments) ?? {}));
  const { name, tool, args } = understood;
  return named(name, tool.about?.(args as never) ?? aboutOf(args as Given));
}

function named(name: string, about: string): string {
  return about === '' ? name : `${name} ${about.slice(0, 120)}`;
}

function aboutOf(given: Given): string {
  const about = given.path ?? given.command ?? given.pattern ?? given.name ?? '';
  return typeof about === 'string' ? about : '';
}
