import {
  GitMergeIcon,
  GitPullRequestClosedIcon,
  GitPullRequestDraftIcon,
  GitPullRequestIcon,
} from '@primer/octicons-react';
import { useQuery } from '@tanstack/react-query';
import type { Task } from '../../api.ts';
import { sentenceCase } from '../../display/names.ts';
import { QueryResult } from '../../display/query-result.tsx';
import { Section } from '../../display/sections.tsx';
import * as queries from '../../live/queries.ts';

const icons = {
  open: GitPullRequestIcon,
  draft: GitPullRequestDraftIcon,
  merged: GitMergeIcon,
  closed: GitPullRequestClosedIcon,
};

export function PullRequests({ task }: { task: Pick<Task, 'id' | 'status'> }) {
  const query = useQuery(queries.pulls(task.id));
  return (
    <Section title="Pull requests">
      <QueryResult query={query} rows={1}>
        {(pulls) =>
          pulls.length === 0 ? (
            <p className="muted">
              {task.status === 'done'
                ? 'No pull request was opened for this task.'
                : 'No pull requests yet. The agent opens one when its work is done.'}
            </p>
          ) : (
            <ul>
              {pulls.map(({ prUrl, prNumber, repositoryName, status }) => {
                const Icon = icons[status];
                return (
                  <li key={prUrl} className="row">
                    <Icon />
                    <a href={prUrl} rel="noopener nofollow" target="_blank">
                      {repositoryName} #{prNumber}
                    </a>
                    <span className="muted">{sentenceCase(status)}</span>
                  </li>
                );
              })}
            </ul>
          )
        }
      </QueryResult>
    </Section>
  );
}
