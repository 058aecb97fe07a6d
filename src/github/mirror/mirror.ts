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

type Verdict = Pick<WantedCheck, 'status' | 'conclusion' | 'title'>;

export interface Wanted {
  labels: string[];
  comment: string;
  check: WantedCheck;
  /** A change to this part is shown immediately. Everything else is shown at most once per `MIRROR_INTERVAL_MS`. */
  essence: string;
}

/** An issue or pull request that shows a task. */
interface Shown {
  isPrivate: boolean;
  /** The commit of its check run is not ready to be merged, or was not when somebody pushed it. */
  isUnready?: boolean;
}

/** Computes what an issue or pull request should show of a task. Pure. */
export function wanted(task: TaskPicture, shownIn: Shown): Wanted {
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
    // What the check run says of a commit stays with it, so it is corrected at once.
    ...(shownIn.isUnready ? ['not ready'] : []),
  ]);
  const comment = statusComment(task, shownIn);
  return { labels, comment, check: checkOf(task, comment, shownIn), essence };
}

/** A check shows what the comment shows, below its marker and title. */
function checkOf(task: TaskPicture, comment: string, { isUnready = false }: Shown): WantedCheck {
  const { status, run } = task;
  const isLive = status === 'in_progress' || (run !== null && liveStatuses.includes(run.status));
  const summary = comment.split('\n').slice(2).join('\n');
  const actions: WantedCheck['actions'] = [];
  if (isLive)
    actions.push({ label: 'Cancel', description: 'Stop the agent and keep the branch', identifier: 'cancel' });
  else if (run?.status === 'failed' || run?.status === 'cancelled')
    actions.push({ label: 'Retry', description: 'Let the agent continue from here', identifier: 'retry' });
  return { ...verdictOf(task, isLive, isUnready), summary, actions };
}

/** Only a run that succeeded makes the check run of a commit green, and only if the commit is ready. */
function verdictOf({ status, run, failure, attention }: TaskPicture, isLive: boolean, isUnready: boolean): Verdict {
  const state = attention === null ? statusWords[status] : waitWords[attention.reason];
  const title = failure === null ? state : `Failed (${failure.category})`;
  const ended = (conclusion: NonNullable<Verdict['conclusion']>, said = title) =>
    ({ status: 'completed', conclusion, title: said }) as const;
  if (isLive) return { status: run?.status === 'queued' ? 'queued' : 'in_progress', title };
  if (failure !== null) return ended('failure');
  // GitHub takes `neutral` for passed, too.
  if (isUnready) return ended('action_required', status === 'done' ? state : `${state}, not ready to merge`);
  if (run?.status === 'succeeded') return ended('success');
  // A failed run whose failure people have set aside says nothing.
  return ended(run?.status === 'cancelled' ? 'cancelled' : 'neutral');
}
