import { AlertIcon, XCircleIcon } from '@primer/octicons-react';
import type { MergeReadiness } from '../../api.ts';

/** Shows the problems of a merge, such as failed checks. */
export function ProblemList({ problems }: Pick<MergeReadiness, 'problems'>) {
  return (
    <ul className="problems" aria-label="Problems">
      {problems.map(({ text, blocks }) => (
        <li key={text} className="row top-line">
          {blocks ? (
            <XCircleIcon className="removed" aria-label="Blocks the merge" />
          ) : (
            <AlertIcon className="warned" aria-label="Warning" />
          )}
          <span className="wrap">
            <bdi>{text}</bdi>
          </span>
        </li>
      ))}
    </ul>
  );
}
