import { type Command, Option } from 'commander';
import { getTask, type InboxEntry, listInbox } from '../../api.ts';
import { type Context, optionsOf, sessionOf, withExamples } from '../context.ts';
import type { Session } from '../session.ts';
import { shownLine } from '../terminal.ts';

/** What a person can do about an entry that has a task. */
const nextSteps: { [reason in InboxEntry['reason']]?: (id: string) => string } = {
  plan: (id) => `deckhand task approve ${id}, or deckhand task revise ${id} "<what to change>"`,
  question: (id) => `deckhand task say ${id} "<answer>"`,
  push: (id) => `deckhand task show ${id}, then deckhand task approve ${id}`,
  paused: (id) => `deckhand task resume ${id}`,
  review: (id) => `deckhand open ${id}, then deckhand task merge ${id}`,
  failed: (id) => `deckhand task retry ${id}`,
};

/** The page of the dashboard for what admins are told about no task. */
const taskless: { [reason in InboxEntry['reason']]?: string } = {
  automation: 'Automations',
  webhook: 'Settings, Webhooks,',
};

export function inboxCommand(program: Command, context: Context): void {
  const inbox = program
    .command('inbox')
    .description('List the tasks that need you, in all your projects, newest first')
    .addOption(
      new Option(
        '--scope <scope>',
        'mine: those of others are left out; all: what needs anybody; snoozed: what you have snoozed',
      )
        .choices(['mine', 'all', 'snoozed'])
        .default('mine'),
    )
    .action(async (_options, command: Command) => {
      const session = await sessionOf(context, command);
      const { project: wanted, scope } = optionsOf<{ scope: 'mine' | 'all' | 'snoozed' }>(command);
      const all = await listInbox({ scope }, session.at);
      const projectId = wanted === undefined ? undefined : (await session.project()).id;
      const entries = all.filter((entry) => projectId === undefined || entry.projectId === projectId);
      const options = context.terminal.isJson
        ? new Map<string, string[]>()
        : await optionsOfQuestions(session, entries);
      context.terminal.print(entries, () =>
        entries.length === 0
          ? scope === 'snoozed'
            ? 'You have snoozed nothing.'
            : 'Nothing needs you.'
          : entries.map((entry) => entryText(entry, options.get(entry.taskId ?? '') ?? [])).join('\n\n'),
      );
    });
  withExamples(inbox, 'deckhand inbox', 'deckhand inbox --scope all', "deckhand inbox --json | jq -r '.[].taskId'");
}

/** The answers that the newest questions offer are read, and not those of hundreds. */
const maxQuestions = 20;

async function optionsOfQuestions({ at }: Session, entries: InboxEntry[]): Promise<Map<string, string[]>> {
  const ids = entries.flatMap(({ reason, taskId }) => (reason === 'question' && taskId !== null ? [taskId] : []));
  const tasks = await Promise.all(ids.slice(0, maxQuestions).map((id) => getTask(id, at)));
  return new Map(tasks.map(({ id, attention }) => [id, attention?.options ?? []]));
}

function entryText(
  { taskId, automationId, projectId, reason, title, text, since, snoozedUntil }: InboxEntry,
  options: string[],
): string {
  const next =
    taskId === null
      ? `see ${taskless[reason] ?? 'Settings'} of project ${projectId} in the dashboard`
      : nextSteps[reason]?.(taskId);
  return [
    `${reason.padEnd(11)}${shownLine(title)}`,
    `  ${taskId ?? automationId ?? projectId}, since ${since}${snoozedUntil === undefined ? '' : `, snoozed until ${snoozedUntil}`}`,
    ...(text === '' ? [] : [`  ${shownLine(text, 300)}`]),
    ...options.map((option, i) => `    ${i + 1}. ${shownLine(option, 300)}`),
    ...(next === undefined ? [] : [`  → ${next}`]),
  ].join('\n');
}
