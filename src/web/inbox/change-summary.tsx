import { CheckIcon, XIcon } from '@primer/octicons-react';
import { LinkButton } from '@primer/react';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import type { TaskChange } from '../api.ts';
import { formatNumber, plural } from '../display/formats.ts';
import * as queries from '../live/queries.ts';
import { ProofSentence } from '../tasks/merging/proof.tsx';

/** Shows the size of a task's change, its checks and what its tests prove. */
export function ChangeSummary({ taskId }: { taskId: string }) {
  const { data: change } = useQuery(queries.change(taskId));
  if (change === undefined) return null;
  return (
    <ul className="inbox-facts">
      <li>{sizeText(change)}</li>
      {change.checks.map(({ command, passed }, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a repository may name a check twice
        <li key={i} className="wrap">
          {passed ? <CheckIcon className="passed" /> : <XIcon className="not-passed" />} <code>{command}</code>{' '}
          {passed ? 'passed' : 'failed'}
        </li>
      ))}
      {change.checks.length === 0 && <li className="muted">No checks ran</li>}
      {change.proof !== null && (
        <li className="wrap">
          <ProofSentence proof={change.proof} />
        </li>
      )}
    </ul>
  );
}

/** Returns whether something speaks against merging a change as it is: a check that failed, or tests that prove nothing. */
export function isDoubtful({ checks, proof }: TaskChange): boolean {
  return checks.some(({ passed }) => !passed) || (proof !== null && proof.status !== 'proved');
}

function sizeText({ files, additions, deletions, isTruncated }: TaskChange) {
  if (files === 0) return 'No changed files';
  return (
    <>
      {isTruncated && 'More than '}
      {plural(files, 'changed file')}, <span className="passed">+{formatNumber(additions)}</span>{' '}
      <span className="not-passed">−{formatNumber(deletions)}</span>
    </>
  );
}

export function OpenChanges({ taskId }: { taskId: string }) {
  return (
    <LinkButton as={Link} to={`/tasks/${taskId}?tab=diff`}>
      Open changes
    </LinkButton>
  );
}
