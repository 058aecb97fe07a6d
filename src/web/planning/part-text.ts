import type { Plan, PlannedTask, Prd, WizardSession } from '../api.ts';

/** The parts of a plan, as far as they exist. */
export interface Parts {
  prd: Prd | null;
  plan: Plan | null;
  tasks: PlannedTask[] | null;
}

/** Returns the parts of a plan as people write them: tasks without estimates, which change while nobody edits them. */
export function writtenParts({ prd, plan, tasks }: Pick<WizardSession, keyof Parts>): Parts {
  return { prd, plan, tasks: tasks?.map(({ estimate: _, ...task }) => task) ?? null };
}

/** A part of a plan as it was at some time. */
interface Version {
  content: Parts[keyof Parts];
  updatedAt: string;
}

/** Returns the current version of a part, to notice whether somebody else changes it. */
export function versionOf(session: Pick<WizardSession, keyof Parts | 'updatedAt'>, part: keyof Parts): Version {
  return { content: writtenParts(session)[part], updatedAt: session.updatedAt };
}

/** Adds the title as a heading unless the document already starts with one. */
export function withTitle({ title, markdown }: Prd): string {
  return /^#\s/.test(markdown.trimStart()) ? markdown : `# ${title}\n\n${markdown}`;
}

/** Returns the tasks that depend on a task, directly or through others. It must not depend on them. */
export function dependentsOf(ref: string, tasks: Pick<PlannedTask, 'ref' | 'dependsOn'>[]): Set<string> {
  const found = new Set<string>();
  const open = [ref];
  for (let next = open.pop(); next !== undefined; next = open.pop())
    for (const task of tasks)
      if (task.dependsOn.includes(next) && !found.has(task.ref)) {
        found.add(task.ref);
        open.push(task.ref);
      }
  return found;
}

/**
 * Writes a part of a plan as text, so that two versions can be compared line by line. `names` are those of agents and
 * repositories, by id. Returns an empty string for a part that does not exist.
 */
export function partText(part: keyof Parts, parts: Parts, names: Map<string, string>): string {
  const { prd, plan, tasks } = parts;
  if (part === 'prd') return prd === null ? '' : `${prd.title}\n\n${prd.markdown}`;
  if (part === 'plan')
    return (plan?.phases ?? []).map(({ name, goal, reason }) => `${name}\n${goal}\n${reason}\n`).join('\n');
  const nameOf = (id: string | null, none: string) => (id === null ? none : (names.get(id) ?? id));
  return (tasks ?? [])
    .map((task) =>
      [
        `${task.ref}: ${task.title}`,
        `Agent: ${nameOf(task.owner, 'none')}`,
        `Repository: ${nameOf(task.repositoryId, 'first')}`,
        `Depends on: ${task.dependsOn.join(', ') || 'nothing'}`,
        task.description,
      ].join('\n'),
    )
    .join('\n\n');
}

/** A place where JSON can be cut, and the brackets that are open there. */
interface Cut {
  at: number;
  closers: string;
}

/** A string, which may be cut, or a character of the structure. */
const tokens = /"(?:[^"\\]|\\.)*(?:"|\\?$)|[{}[\],]/gs;
const wholeString = /^"(?:[^"\\]|\\.)*"$/s;
/** An escape that is cut in the middle would make the string invalid. */
const cutEscape = /(?<!\\)((?:\\\\)*)\\(?:u[\da-f]{0,3})?$/i;

/** Parses JSON that may end anywhere, as far as it goes. Returns undefined before the first value. */
export function partialJson(text: string): unknown {
  const { closers, last, isInString } = scan(text);
  return parsed((isInString ? endedString(text) : text) + closers) ?? (last && parsed(upTo(text, last)));
}

function scan(text: string): { closers: string; last: Cut | undefined; isInString: boolean } {
  let closers = '';
  let last: Cut | undefined;
  let isInString = false;
  for (const { 0: token, index } of text.matchAll(tokens)) {
    if (token === '{' || token === '[') {
      closers = `${token === '{' ? '}' : ']'}${closers}`;
      last = { at: index + 1, closers };
    } else if (token === '}' || token === ']') closers = closers.slice(1);
    else if (token === ',') last = { at: index, closers };
    else isInString = !wholeString.test(token);
  }
  return { closers, last, isInString };
}

function endedString(text: string): string {
  return `${text.replace(cutEscape, '$1')}"`;
}

function upTo(text: string, { at, closers }: Cut): string {
  return text.slice(0, at) + closers;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
