import { Button, Flash, Label } from '@primer/react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useParams, useSearchParams } from 'react-router';
import * as api from '../api.ts';
import { formatDuration, plural } from '../display/formats.ts';
import { sentenceCase } from '../display/names.ts';
import { QueryResult } from '../display/query-result.tsx';
import { EmptyState, FactList, Section } from '../display/sections.tsx';
import { TimeAgo } from '../display/times.tsx';
import { useMay } from '../forms/may.tsx';
import { mutateOnce } from '../forms/submit.ts';
import { notifyError } from '../frame/notices.tsx';
import { PageHeader, usePageTitle } from '../frame/page-header.tsx';
import { errorMessage, statusOf } from '../live/errors.ts';
import * as repositoryQueries from '../live/queries/repositories.ts';
import { TryAny } from '../trials/try-any.tsx';
import { BenchmarkItems } from './benchmark-items.tsx';

/** Shows what the history of a repository offers as tasks with hidden tests, and lets admins look for it. */
export function BenchmarkPage() {
  usePageTitle('Benchmark');
  const { projectId = '', repositoryId = '' } = useParams();
  const query = useQuery(repositoryQueries.repositories(projectId));
  return (
    <div className="narrow stack">
      <QueryResult query={query} isPage>
        {(repositories) => {
          const repository = repositories.find(({ id }) => id === repositoryId);
          if (repository !== undefined) return <RepositoryBenchmark key={repositoryId} repository={repository} />;
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

function RepositoryBenchmark({ repository }: { repository: api.RepositoryEntry }) {
  const { id, name, projectId } = repository;
  const [searchParams] = useSearchParams();
  const wanted = (searchParams.get('try') ?? '').split(',').filter(Boolean).slice(0, 2);
  const client = useQueryClient();
  const query = repositoryQueries.benchmark(id);
  const benchmark = useQuery(query);
  const isAdmin = useMay('admin');
  const mayWrite = useMay('member');
  const refresh = () => client.invalidateQueries({ queryKey: query.queryKey });
  const start = useMutation({
    mutationFn: () => api.startHarvest(id, {}),
    onSuccess: refresh,
    // A harvest that somebody else started is shown.
    onError: (error) => (statusOf(error) === 409 ? refresh() : undefined),
  });
  const cancel = useMutation({
    mutationFn: (taskId: string) => api.cancelTask(taskId),
    onSuccess: refresh,
    onError: notifyError,
  });
  const found = benchmark.data ?? undefined;
  const isRunning = found?.status === 'harvesting';
  const hasItems = found?.items.some(({ state, enabled }) => state === 'usable' && enabled) ?? false;
  return (
    <>
      <PageHeader title={`Benchmark of ${name}`}>
        {isRunning && mayWrite && (
          <Button loading={cancel.isPending} onClick={() => cancel.mutate(found.taskId)}>
            Cancel harvest
          </Button>
        )}
        {isAdmin && (
          <Button
            variant={hasItems ? 'default' : 'primary'}
            loading={start.isPending || isRunning}
            onClick={() => mutateOnce(start)}
          >
            Harvest the history
          </Button>
        )}
        {isAdmin && hasItems && !isRunning && <TryAny repository={repository} wanted={wanted} />}
      </PageHeader>
      <p className="muted">
        Earlier changes whose tests fail before and pass after them become tasks with hidden tests. They show how good
        an agent is in this repository. A harvest takes an hour at most and asks no model.
      </p>
      <p>
        <Link to={`/projects/${projectId}/repositories/${id}/portfolio`}>Results of all agents</Link>
        {' · '}
        <Link to={`/projects/${projectId}/repositories`}>Back to repositories</Link>
      </p>
      {start.error && <Flash variant="danger">{startErrorText(start.error)}</Flash>}
      <QueryResult query={benchmark}>
        {(last) =>
          last === null ? (
            <EmptyState title="No benchmark yet">
              <p>
                {isAdmin
                  ? 'Harvest the history to find changes that become its items.'
                  : 'Admins of the project can harvest the history.'}
              </p>
            </EmptyState>
          ) : (
            <>
              <Yield benchmark={last} />
              <BenchmarkItems repositoryId={id} benchmark={last} isAdmin={isAdmin} />
            </>
          )
        }
      </QueryResult>
    </>
  );
}

function startErrorText(error: unknown): string {
  if (statusOf(error) === 409) return 'Somebody else has already started a harvest. You can follow it below.';
  return `The harvest was not started. ${errorMessage(error)}`;
}

const variants = { harvesting: 'attention', ready: 'success', failed: 'danger' } as const;

/** Shows how far a harvest has come, how many items it found, and why other commits are none. */
function Yield({ benchmark }: { benchmark: api.Benchmark }) {
  const { status, reason, looked, usable, dropped, taskId, runId, startedAt, finishedAt } = benchmark;
  return (
    <Section title="Harvest">
      {reason !== null && (
        <Flash variant="danger" className="full-width wrap">
          {reason}
        </Flash>
      )}
      <FactList
        facts={{
          Status: <Label variant={variants[status]}>{sentenceCase(status)}</Label>,
          'Looked at': plural(looked, 'commit'),
          Usable: plural(usable, 'item'),
          Started: <TimeAgo at={startedAt} />,
          ...(finishedAt === null ? {} : { Duration: formatDuration(startedAt, finishedAt) }),
          Log: <Link to={`/tasks/${taskId}/runs/${runId}`}>Run</Link>,
        }}
      />
      {dropped.length > 0 && (
        <>
          <p className="strong">Why the other commits were dropped</p>
          <ul className="list" aria-label="Why commits were dropped">
            {dropped.map((each) => (
              <li key={each.reason} className="list-item">
                <span className="grow">{each.reason}</span>
                <span className="muted">{plural(each.count, 'commit')}</span>
              </li>
            ))}
          </ul>
        </>
      )}
    </Section>
  );
}
