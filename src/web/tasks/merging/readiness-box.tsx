import { CheckCircleIcon, CircleSlashIcon, ClockIcon, XCircleIcon } from '@primer/octicons-react';
import { Heading } from '@primer/react';
import { useQuery } from '@tanstack/react-query';
import type { MergeReadiness, PullRequestReadiness, Task } from '../../api.ts';
import { QueryResult } from '../../display/query-result.tsx';
import { ProblemList } from './problem-list.tsx';
import { ProofBesideProblems } from './proof.tsx';
import { checkCounts, mergeReadiness, pullName, reviewText } from './readiness.ts';

/** Shows beside the Merge button what speaks for and against a merge: pull requests, checks, reviews and proof. */
export function ReadinessBox({ task }: { task: Task }) {
  const query = useQuery(mergeReadiness(task.id));
  return (
    <section className="box stack tight page-part" aria-label="Merge readiness">
      <QueryResult query={query} rows={2}>
        {(readiness) => (
          <>
            <Heading as="h2" variant="small">
              {verdict(readiness)}
            </Heading>
            {readiness.problems.length > 0 && <ProblemList problems={readiness.problems} />}
            {readiness.pullRequests.map((pull) => (
              <Pull key={pull.prUrl} pull={pull} />
            ))}
            <RunChecks checks={readiness.runChecks} />
            <ProofBesideProblems taskId={task.id} />
          </>
        )}
      </QueryResult>
    </section>
  );
}

function verdict({ problems }: MergeReadiness): string {
  if (problems.some(({ blocks }) => blocks)) return 'Cannot be merged now';
  return problems.length > 0 ? 'Can be merged, with warnings' : 'Ready to merge';
}

function Pull({ pull }: { pull: PullRequestReadiness }) {
  const { prUrl, status, mergeable, checks, reviews, error } = pull;
  return (
    <div>
      <p className="wrap">
        <a href={prUrl} rel="noopener nofollow" target="_blank" className="strong">
          <bdi>{pullName(pull)}</bdi>
        </a>{' '}
        <span className="muted">
          {status === 'draft' ? 'Draft' : 'Open'}
          {mergeable !== null && ` · ${mergeable ? 'No conflicts' : 'Conflicts'}`}
          {reviews !== null && ` · ${reviewText(reviews)}`}
          {error === null && checks === null && ' · Checks cannot be read'}
          {checks?.length === 0 && ' · No other checks on GitHub'}
        </span>
      </p>
      {checks !== null && checks.length > 0 && <Checks checks={checks} />}
    </div>
  );
}

const icons = { passed: CheckCircleIcon, failed: XCircleIcon, running: ClockIcon, skipped: CircleSlashIcon };
const classNames = { passed: 'added', failed: 'removed', running: 'warned', skipped: 'muted' };

function Checks({ checks }: { checks: NonNullable<PullRequestReadiness['checks']> }) {
  return (
    <details>
      <summary>Checks: {checkCounts(checks)}</summary>
      <ul>
        {checks.map(({ name, outcome, url, required }) => {
          const Icon = icons[outcome];
          return (
            <li key={`${name} ${url}`} className="row">
              <Icon className={classNames[outcome]} aria-label={outcome} />
              {url === null ? (
                <bdi className="wrap">{name}</bdi>
              ) : (
                <a href={url} rel="noopener nofollow" target="_blank" className="wrap">
                  <bdi>{name}</bdi>
                </a>
              )}
              {required && <span className="muted">required</span>}
            </li>
          );
        })}
      </ul>
    </details>
  );
}

function RunChecks({ checks }: { checks: MergeReadiness['runChecks'] }) {
  if (checks.length === 0) return null;
  return (
    <p className="wrap">
      Checks of the run:{' '}
      {checks.map(({ name, passed }, i) => (
        <span key={name}>
          {i > 0 && ', '}
          <code>{name}</code> {passed ? 'passed' : 'failed'}
        </span>
      ))}
    </p>
  );
}
