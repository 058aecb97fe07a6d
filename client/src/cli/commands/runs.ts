import type { Command } from 'commander';
import { getRun, listRunEvents, listRuns, type RunEvent } from '../../api.ts';
import type { Service } from '../../connection.ts';
import { follow } from '../../stream.ts';
import { type Context, optionsOf, sessionOf, withExamples } from '../context.ts';
import { CommandFailed } from '../failures.ts';
import { findTask } from '../ids.ts';
import type { Session } from '../session.ts';
import { shown } from '../terminal.ts';

export function runCommands(program: Command, context: Context): void {
  const run = program.command('run').description('Look at the runs of tasks');
  const logs = run
    .command('logs')
    .description('Print the log of a run')
    .argument('<run>', 'the id of a run, or that of a task for its newest run')
    .option('-f, --follow', 'go on until the run ends')
    .action(async (wanted: string, _options, command: Command) => {
      const session = await sessionOf(context, command);
      const runId = await findRun(session, wanted);
      if (optionsOf<{ follow?: boolean }>(command).follow) return followLog(context, session.at, runId);
      const events = await wholeLog(session.at, runId);
      context.terminal.print(events, () =>
        events.length === 0 ? 'The log has no entries yet.' : events.map(eventText).join('\n'),
      );
    });
  withExamples(logs, 'deckhand run logs run_01h455vb4pex5vsknk084sn02q', 'deckhand run logs -f 084sn02q');
}

async function findRun(session: Session, wanted: string): Promise<string> {
  if (wanted.startsWith('run_')) return (await getRun(wanted, session.at)).id;
  const task = await findTask(session, wanted);
  const [newest] = await listRuns(task.id, { limit: 1 }, session.at);
  if (newest === undefined)
    throw new CommandFailed(`The task has no run yet. Start it: deckhand task start ${task.id}`);
  return newest.id;
}

/** The service cuts a list at 5 MB, so what comes after it is asked for. */
async function wholeLog(at: Service, runId: string): Promise<RunEvent[]> {
  const events: RunEvent[] = [];
  for (;;) {
    const page = await listRunEvents(runId, { offset: events.length }, at);
    if (page.length === 0) return events;
    events.push(...page);
  }
}

async function followLog({ terminal }: Context, at: Service, runId: string): Promise<void> {
  const path = `/runs/${encodeURIComponent(runId)}/events`;
  const onLost = () => terminal.advise('The connection broke. Trying again…');
  for await (const { event, data } of follow(at, path, { onLost })) {
    if (event === 'end') return;
    if (isRunEvent(data)) terminal.printEach(data, () => eventText(data));
  }
}

/** Returns whether data of a stream is an entry of the log. What the model is writing is none. */
export const isRunEvent = (data: unknown): data is RunEvent =>
  typeof (data as RunEvent | null)?.id === 'string' && typeof (data as RunEvent).text === 'string';

/** Returns an entry of the log as lines with its time. */
export function eventText({ at, type, text }: RunEvent): string {
  const time = new Date(at).toTimeString().slice(0, 8);
  return `${time}  ${shown(type).padEnd(9)} ${shown(text)
    .split('\n')
    .join(`\n${' '.repeat(20)}`)}`;
}
