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
