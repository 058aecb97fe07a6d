import { liveStatuses } from '../../domain/run.ts';
import { isForPerson } from '../../domain/waiting.ts';
import { failedLabel, labelOf, waitsLabel } from '../labels.ts';
import { statusComment, statusWords, type TaskPicture, waitWords } from './status-comment.ts';

/** A check run in the form that GitHub's API expects. `conclusion` is set once the run has ended. */
export interface WantedCheck {
  status: 'queued' | 'in_progress' | 'completed';
  conclusion?: 'success' | 'failure' | 'neutral' | 'cancelled' | 'action_required';
  title: string;
  summary: string;
  actions: { label: string; description: string; identifier: 'retry' | 'cancel' }[];
  /** Notes at lines of files. GitHub adds those of an update to earlier ones. */
  annotations?: {
    path: string;
    start_line: number;
    end_line: number;
    annotation_level: 'notice' | 'warning';
    message: string;
  }[];
}

export interface Wanted {
  labels: string[];
  comment: string;
  check: WantedCheck;
  /** A change to this part is shown immediately. Everything else is shown at most once per `MIRROR_INTERVAL_MS`. */
  essence: string;
}

/** Computes what an issue or pull request in the repository `shownIn` should show of a task. Pure. */
export function wanted(task: TaskPicture, shownIn: { isPrivate: boolean }): Wanted {
  const { status, failure, attention, issueText, budget, notice, run, pulls, merging, dropped } = task;
  const labels = [
    labelOf[status],
    ...(failure === null ? [] : [failedLabel]),
    ...(attention !== null && isForPerson(attention.reason) ? [waitsLabel] : []),
  ];
  const essence = JSON.stringify([
    status,
    failure,
    attention?.id,
    issueText === null ? null : [task.title, issueText.title],
    budget,
    notice,
    run?.status,
    run?.kind,
    pulls.map((p) => [p.number, p.status]),
    merging?.state,
    dropped,
  ]);
  const comment = statusComment(task, shownIn);
  return { labels, comment, check: checkOf(task, comment), essence };
}

/** A check shows what the comment shows, below its marker and title. */
function checkOf({ status, run, failure, attention }: TaskPicture, comment: string): WantedCheck {
  const isLive = status === 'in_progress' || (run !== null && liveStatuses.includes(run.status));
  const summary = comment.split('\n').slice(2).join('\n');
  const actions: WantedCheck['actions'] = [];
  if (isLive)
    actions.push({ label: 'Cancel', description: 'Stop the agent and keep the branch', identifier: 'cancel' });
  else if (run?.status === 'failed' || run?.status === 'cancelled')
    actions.push({ label: 'Retry', description: 'Let the agent continue from here', identifier: 'retry' });
  const state = attention === null ? statusWords[status] : waitWords[attention.reason];
  const title = failure === null ? state : `Failed (${failure.category})`;
  if (isLive) return { status: run?.status === 'queued' ? 'queued' : 'in_progress', title, summary, actions };
  return { status: 'completed', conclusion: conclusionOf(failure, run), title, summary, actions };
}

/** Only a run that succeeded makes the check run green. A failed one whose failure people have set aside says nothing. */
function conclusionOf(
  failure: TaskPicture['failure'],
  run: TaskPicture['run'],
): NonNullable<WantedCheck['conclusion']> {
  if (failure !== null) return 'failure';
  if (run?.status === 'succeeded') return 'success';
  return run?.status === 'cancelled' ? 'cancelled' : 'neutral';
}
