import type { Session } from '../api.ts';
import { revealHidden } from './hidden-characters.ts';

/** What the tools of Deckhand do, as the dashboard says it: as a title, and as what an agent does now. */
const toolVerbs: Record<string, readonly [title: string, now: string]> = {
  list_files: ['List files', 'Lists files'],
  read_file: ['Read', 'Reads'],
  search: ['Search', 'Searches'],
  explore: ['Explore', 'Explores'],
  write_file: ['Write', 'Writes'],
  edit_file: ['Edit', 'Edits'],
  multi_edit: ['Edit', 'Edits'],
  insert_lines: ['Edit', 'Edits'],
  apply_patch: ['Patch', 'Patches'],
  delete_file: ['Delete', 'Deletes'],
  set_submodule: ['Move submodule', 'Moves submodule'],
  run_command: ['Run', 'Runs'],
  start_process: ['Start', 'Starts'],
  read_output: ['Read output', 'Reads output'],
  stop_process: ['Stop process', 'Stops process'],
  note_plan: ['Note the plan', 'Notes the plan'],
  // Such a call has no result until a person has replied. A run that works has the reply.
  propose_plan: ['Propose a plan', 'Continues after the reply to the plan'],
  ask_person: ['Ask', 'Continues with the answer to'],
  answer_comment: ['Answer a comment', 'Answers a comment'],
  open_repository: ['Open repository', 'Opens repository'],
  create_subtasks: ['Create subtasks', 'Creates subtasks'],
  review: ['Review', 'Writes the review'],
  finish: ['Finish', 'Finishes'],
  give_up: ['Give up', 'Gives up'],
};

/** Says what a tool does: `Read`, or the name of a tool that is not ours. */
export function verbOf(name: string): string {
  return Object.hasOwn(toolVerbs, name) ? (toolVerbs[name]?.[0] ?? name) : name.slice(0, 100);
}

function nowOf(name: string): string {
  return Object.hasOwn(toolVerbs, name) ? (toolVerbs[name]?.[1] ?? name) : `Uses ${name.slice(0, 100)}`;
}

/** Splits a call as the log describes it into its tool and the first line of what it is about. */
function partsOf(call: string): [name: string, about: string] {
  const [name = ''] = call.split(/\s/, 1);
  const [line = ''] = call.slice(name.length).trim().split('\n', 1);
  return [name, line.slice(0, 100)];
}

const doings: Record<NonNullable<Session['activity']>['doing'], string> = {
  preparing: 'Prepares the workspace',
  setting_up: 'Sets up the environment',
  thinking: 'Thinks',
  calling: 'Works',
  checking: 'Checks the result',
  publishing: 'Publishes the change',
};

/** Says what an agent does now: `Runs npm test`. */
export function doingText({ doing, call }: Pick<NonNullable<Session['activity']>, 'doing' | 'call'>): string {
  if (call === null) return doings[doing];
  const [name, about] = partsOf(call);
  return revealHidden([nowOf(name), about].filter(Boolean).join(' '));
}

/** Returns a line of a log as people read it: `Run npm test`. */
export function lineText({ type, text }: Session['lines'][number]): string {
  if (type !== 'tool') return revealHidden(text.replace(/:\n.*/s, '').replace(/\n.*/s, ' …'));
  const [name, about] = partsOf(text);
  return revealHidden([verbOf(name), about].filter(Boolean).join(' '));
}
