import type { Command } from 'commander';
import { getTask, listRuns, type Run, type RunEvent, type Task } from '../../api.ts';
import { follow } from '../../stream.ts';
import { type Context, sessionOf, withExamples } from '../context.ts';
import { findTask } from '../ids.ts';
import type { Session } from '../session.ts';
import { shownLine, type Terminal } from '../terminal.ts';
import { eventText, isRunEvent } from './runs.ts';
import { attentionText, outcomeText } from './task-text.ts';

export function watchCommand(task: Command, context: Context): void {
  const watch = task
    .command('watch')
    .description('Follow a task until it leaves in_progress; exit code 1 if it failed or was not started')
    .argument('<task>', 'its id, or a unique end of it')
    .action(async (wanted: string, _options, command: Command) => {
      const session = await sessionOf(context, command);
      const found = await findTask(session, wanted);
      const { task: ended, run } = await watchTask(context.terminal, session, found);
      context.terminal.printEach({ type: 'task', task: ended }, () => outcomeText(ended, run));
      const hasFailed = ended.failure !== null || (run !== undefined && ['failed', 'cancelled'].includes(run.status));
      const isUntouched = run === undefined && ['backlog', 'ready'].includes(ended.status);
      context.endWith(hasFailed || isUntouched ? 1 : 0);
    });
  withExamples(watch, 'deckhand task watch 084sn02q', 'deckhand task watch 084sn02q && deckhand task merge 084sn02q');
}

interface Watched {
  task: Task;
  /** Its newest run. */
  run: Run | undefined;
}

async function watchTask(terminal: Terminal, session: Session, { id, projectId }: Task): Promise<Watched> {
  const changes = openChanges(session, projectId);
  let followed: string | undefined;
  try {
    for (;;) {
      const change = changes.next();
      const task = await getTask(id, session.at);
      const [run] = await listRuns(id, { limit: 1 }, session.at);
      if (task.status !== 'in_progress') return { task, run };
      if (run !== undefined && run.id !== followed && isLive(run)) {
        followed = run.id;
        await showRun(terminal, session, task, run);
      } else await change;
    }
  } finally {
    await changes.stop();
  }
}

const isLive = ({ status }: Run) => ['queued', 'running', 'waiting'].includes(status);

/** Follows the hints of the project, for the time between two runs. */
function openChanges(session: Session, projectId: string) {
  const stop = new AbortController();
  let tell = () => {};
  let fail = (_error: unknown) => {};
  let failure: { error: unknown } | undefined;
  const hear = () => tell();
  const listen = async () => {
    const path = `/projects/${encodeURIComponent(projectId)}/events`;
    // What changed while the stream was not open is found by loading the task again.
    for await (const { event } of follow(session.at, path, { signal: stop.signal, onOpen: hear }))
      if (['task', 'run', 'reset'].includes(event)) hear();
  };
  const listening = listen().catch((error) => {
    failure = { error };
    fail(error);
  });
  return {
    /** Resolves at the next change. */
    next: (): Promise<void> => {
      if (failure !== undefined) return Promise.reject(failure.error);
      const changed = new Promise<void>((resolve, reject) => {
        tell = resolve;
        fail = reject;
      });
      // It may fail while nobody waits for it.
      changed.catch(() => {});
      return changed;
    },
    stop: async () => {
      stop.abort();
      await listening;
    },
  };
}

/** Shows a run until it ends: every line of its log, and on a terminal what it does now in a line that changes. */
async function showRun(terminal: Terminal, session: Session, task: Task, run: Run): Promise<void> {
  const line = openLine(terminal, run);
  const onLost = () => terminal.advise('The connection broke. Trying again…');
  try {
    for await (const { event, data } of follow(session.at, `/runs/${run.id}/events`, { onLost })) {
      if (event === 'end') return;
      if (event === 'delta') line.write(data as Piece);
      if (!isRunEvent(data)) continue;
      terminal.printEach({ type: 'event', runId: run.id, event: data }, () => eventText(data));
      line.add(data);
      if (data.type === 'waiting') await showAttention(terminal, session, task.id);
    }
  } finally {
    line.end();
  }
}

/** A part of what the model writes. */
interface Piece {
  turn: number;
  text: string;
  restarts?: boolean;
}

/** The line that says what a run does now: for how long, in which turn, and the newest words. */
function openLine(terminal: Terminal, run: Run) {
  const began = Date.parse(run.startedAt ?? run.createdAt);
  let turn = 0;
  let writing = '';
  let latest = run.status === 'queued' ? 'waits for a worker' : 'begins';
  const draw = () => {
    const seconds = Math.max(0, Math.floor((Date.now() - began) / 1000));
    const time = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
    // The end of what the model writes is the newest.
    const words = writing === '' ? latest : shownLine(writing.slice(-400), 400).slice(-60);
    terminal.live(`${time}  turn ${turn}  ${words}`);
  };
  const timer = setInterval(draw, 1000).unref();
  draw();
  return {
    write: (piece: Piece) => {
      writing = piece.turn !== turn || piece.restarts ? piece.text : writing + piece.text;
      turn = piece.turn;
      draw();
    },
    add: ({ text, data }: RunEvent) => {
      writing = '';
      latest = text;
      if (typeof data.turn === 'number') turn = data.turn;
      draw();
    },
    end: () => clearInterval(timer),
  };
}

async function showAttention(terminal: Terminal, session: Session, taskId: string): Promise<void> {
  const task = await getTask(taskId, session.at);
  if (task.attention !== null)
    terminal.printEach({ type: 'attention', attention: task.attention }, () => attentionText(task));
}
