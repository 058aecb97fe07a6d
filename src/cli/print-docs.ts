import { writeFile } from 'node:fs/promises';
import type { StateMachine } from '../domain/machine.ts';
import { sprintMachine, sprintStatuses } from '../domain/sprint.ts';
import { taskMachine, taskStatuses } from '../domain/task.ts';
import { wizardMachine, wizardStatuses } from '../domain/wizard.ts';
import { openapiDocument } from '../http/documents/openapi.ts';
import { routes } from '../routes.ts';

/** Renders docs/lifecycle.md: the state machines of tasks, sprints and planning sessions as Markdown tables. */
export function lifecyclePage(): string {
  return `# Lifecycles

\`npm run docs\` prints this page from the tables in \`src/domain/\`; a test checks that it is up to date. An event without a
row for the current status is refused with 409 when a person asked for it, and changes nothing when GitHub or a run
reported it.

## A task

Statuses: ${taskStatuses.join(', ')} (\`task.ts\`).

${table(taskMachine)}

## A sprint

Statuses: ${sprintStatuses.join(', ')} (\`sprint.ts\`).

${table(sprintMachine)}

## A planning session

Statuses: ${wizardStatuses.join(', ')} (\`wizard.ts\`).

${table(wizardMachine)}
`;
}

function table<S extends string, E extends string, F>({ rows }: StateMachine<S, E, F>): string {
  const lines = rows.map(({ on, from, to, because, onlyIf = [] }) => {
    const next = because ?? (typeof to === 'function' ? '' : to);
    const rules = onlyIf.map(({ rule }) => rule).join('; ');
    return `| ${on.replaceAll('_', ' ')} | ${from.join(', ')} | ${next} | ${rules} |`;
  });
  return `| event | from | to | only if |
| --- | --- | --- | --- |
${lines.join('\n')}`;
}

/** Returns the OpenAPI document with the server `/api/v1`; a running service reports its own address. */
export function openapiText(): string {
  return `${JSON.stringify(openapiDocument(routes, ''), null, 2)}\n`;
}

/** Writes the documents that are generated from the code. A test checks that they are up to date. */
export async function printDocs(): Promise<number> {
  await writeFile(new URL('../../docs/openapi.json', import.meta.url), openapiText());
  await writeFile(new URL('../../docs/lifecycle.md', import.meta.url), lifecyclePage());
  return 0;
}
