import type { Command } from 'commander';
import { listHandoffs, listRepositories, type Task } from '../../api.ts';
import { type Context, sessionOf, withExamples } from '../context.ts';
import { CommandFailed } from '../failures.ts';
import { checkOut } from '../git.ts';
import { findTask } from '../ids.ts';
import type { Session } from '../session.ts';
import { shown } from '../terminal.ts';

export function openCommand(program: Command, context: Context): void {
  const open = program
    .command('open')
    .description('Continue the branch of a task here: fetch it, check it out, and print the handoff')
    .argument('<task>', 'its id, or a unique end of it')
    .addHelpText('after', '\nRun it inside a clone of the repository. It never touches changes that are not committed.')
    .action(async (wanted: string, _options, command: Command) => {
      const session = await sessionOf(context, command);
      const task = await findTask(session, wanted);
      const { branchName: branch } = task;
      if (branch === null)
        throw new CommandFailed(`The task has no branch yet. Start it: deckhand task start ${task.id}`);
      const url = await repositoryUrl(session, task);
      const { remote } = await checkOut(process.cwd(), url, branch);
      const handoff = (await listHandoffs(task.id, session.at)).handoffs.at(0) ?? null;
      context.terminal.print({ branch, remote, handoff }, () =>
        [
          `On branch ${branch} of ${remote}.`,
          ...(handoff === null ? ['No run has left a handoff yet.'] : ['', 'Handoff:', shown(handoff.summary)]),
          ...(handoff?.nextSteps ?? []).map((step) => `- ${shown(step)}`),
        ].join('\n'),
      );
    });
  withExamples(open, 'cd my-clone && deckhand open 084sn02q');
}

async function repositoryUrl(session: Session, { repositoryId, projectId }: Task): Promise<string> {
  const all = await listRepositories({ projectId }, session.at);
  const found = all.find(({ id }) => id === repositoryId) ?? all.find(({ isPrimary }) => isPrimary);
  if (found === undefined) throw new CommandFailed('The project has no repository. Connect one in the dashboard.');
  return found.url;
}
