import { Button, Label } from '@primer/react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useParams } from 'react-router';
import type * as api from '../api.ts';
import { revealHidden } from '../display/hidden-characters.ts';
import { QueryResult } from '../display/query-result.tsx';
import { EmptyState, Section } from '../display/sections.tsx';
import { TimeAgo } from '../display/times.tsx';
import { PageHeader, usePageTitle } from '../frame/page-header.tsx';
import * as repositoryQueries from '../live/queries/repositories.ts';

/** Shows what the tests of people's pull requests prove in a repository, and which checks are flaky or slow. */
export function ProofsPage() {
  usePageTitle('Proofs');
  const { projectId = '', repositoryId = '' } = useParams();
  const query = useQuery(repositoryQueries.repositories(projectId));
  return (
    <div className="narrow stack">
      <QueryResult query={query} isPage>
        {(repositories) => {
          const repository = repositories.find(({ id }) => id === repositoryId);
          if (repository !== undefined) return <ProofsOfRepository key={repositoryId} repository={repository} />;
          return (
            <EmptyState as="h1" title="Not found">
              <p>
                The project has no such repository. <Link to={`/projects/${projectId}/repositories`}>Repositories</Link>
              </p>
            </EmptyState>
          );
        }}
      </QueryResult>
    </div>
  );
}

function ProofsOfRepository({ repository: { id, name, projectId, url } }: { repository: api.RepositoryEntry }) {
  const figures = useQuery(repositoryQueries.proofFigures(id));
  const flaky = useQuery(repositoryQueries.flaky(id));
  return (
    <>
      <PageHeader title={`Proofs in ${name}`} />
      <p className="muted">
        With <code>prove: everyone</code> in .deckhand.yml, each pull request gets the check Deckhand proof: whether its
        tests fail without it, and the earlier tests pass with it. No model is asked.{' '}
        <Link to={`/projects/${projectId}/repositories`}>Back to repositories</Link>
      </p>
      <Section title="Proved by month">
        <QueryResult query={figures} rows={2}>
          {({ months, badge }) =>
            months.length === 0 ? (
              <p className="muted">
                No pull request of a person was proved here yet. The proofs of tasks are on the pages of the tasks.
              </p>
            ) : (
              <>
                <ul className="list">
                  {months.map((month) => (
                    <Month key={month.month} month={month} />
                  ))}
                </ul>
                <p className="muted small wrap">
                  Badge: <code>{`https://img.shields.io/endpoint?url=${encodeURIComponent(badge)}`}</code> shows the
                  share of the latest three months to everybody who knows this address.
                </p>
              </>
            )
          }
        </QueryResult>
      </Section>
      <Section title="Pull requests">
        <Proofs repositoryId={id} url={url} />
      </Section>
      <Section title="Flaky checks">
        <QueryResult query={flaky} rows={1}>
          {(checks) =>
            checks.length === 0 ? (
              <p className="muted">No flaky checks: each check had the same result whenever its files were the same.</p>
            ) : (
              <ul className="list">
                {checks.map((check) => (
                  <Flaky key={check.command} check={check} />
                ))}
              </ul>
            )
          }
        </QueryResult>
      </Section>
      <Section title="Slow checks">
        <QueryResult query={figures} rows={1}>
          {({ slow }) =>
            slow.length === 0 ? (
              <p className="muted">No check ran in a proof yet.</p>
            ) : (
              <ul className="list">
                {slow.map(({ command, seconds }) => (
                  <li key={command} className="list-item">
                    <bdi className="wrap grow">{revealHidden(command)}</bdi>
                    <span className="muted">{Math.round(seconds)} s in the median</span>
                  </li>
                ))}
              </ul>
            )
          }
        </QueryResult>
      </Section>
    </>
  );
}

function Month({ month: { month, proved, judged } }: { month: api.ProofFigures['months'][number] }) {
  return (
    <li className="list-item">
      <span className="strong">{month}</span>
      <meter className="grow" min={0} max={judged} value={proved} aria-label={`Proved in ${month}`} />
      <span>
        {Math.round((100 * proved) / judged)} %{' '}
        <span className="muted">
          ({proved} of {judged})
        </span>
      </span>
    </li>
  );
}

const names: Record<api.PullProof['status'], string> = {
  proved: 'Proved',
  changed: 'Expectations changed',
  unproved: 'Not proved',
  weakened: 'Tests weakened',
  no_tests: 'No tests',
  not_run: 'Not tried',
};
const variants: Record<api.PullProof['status'], 'success' | 'attention' | 'danger' | 'secondary'> = {
  proved: 'success',
  changed: 'attention',
  unproved: 'attention',
  weakened: 'danger',
  no_tests: 'secondary',
  not_run: 'secondary',
};

/** How many more proofs a click shows, and how many the page shows at most. */
const [portion, most] = [20, 100];

function Proofs({ repositoryId, url }: { repositoryId: string; url: string }) {
  const [limit, setLimit] = useState(portion);
  const query = useQuery(repositoryQueries.pullProofs(repositoryId, limit));
  return (
    <QueryResult query={query} rows={3}>
      {(proofs) =>
        proofs.length === 0 ? (
          <p className="muted">
            The next pull request appears here, if .deckhand.yml says <code>prove: everyone</code>, or somebody comments{' '}
            <code>/agent prove</code> on it. If .deckhand.yml has a mistake, its check run says so.
          </p>
        ) : (
          <>
            <ul className="list">
              {proofs.map((proof) => (
                <li key={proof.headSha + proof.pullRequest} className="list-item">
                  <a
                    href={`${url.replace(/\.git$/, '')}/pull/${proof.pullRequest}`}
                    rel="noopener nofollow"
                    target="_blank"
                  >
                    #{proof.pullRequest}
                  </a>
                  <Label variant={variants[proof.status]}>{names[proof.status]}</Label>
                  <bdi className="wrap grow">{revealHidden(proof.reason ?? '')}</bdi>
                  <span className="muted small">
                    <code>{proof.headSha.slice(0, 7)}</code> {proof.author !== null && <bdi>{proof.author}</bdi>} ·{' '}
                    {proof.seconds} s · <TimeAgo at={proof.at} />
                  </span>
                </li>
              ))}
            </ul>
            {proofs.length === limit && limit < most && (
              <Button onClick={() => setLimit(Math.min(most, limit + portion))}>Show more</Button>
            )}
          </>
        )
      }
    </QueryResult>
  );
}

function Flaky({ check: { command, seen, of, lastAt, tests } }: { check: api.FlakyCheck }) {
  return (
    <li className="list-item">
      <bdi className="wrap grow">
        {revealHidden(command)}
        {tests.length > 0 && <span className="muted small"> {revealHidden(tests.join(', '))}</span>}
      </bdi>
      <span className="muted small">
        differed {seen} of {of} {of === 1 ? 'time' : 'times'} · <TimeAgo at={lastAt} />
      </span>
    </li>
  );
}
