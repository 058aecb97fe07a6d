import { useQueries, useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import type { Project } from '../api.ts';
import { formatCost, formatNumber } from '../display/formats.ts';
import { Loading, QueryResult } from '../display/query-result.tsx';
import { EmptyState } from '../display/sections.tsx';
import { PageHeader, usePageTitle } from '../frame/page-header.tsx';
import * as queries from '../live/queries.ts';
import { PeriodSelect, usePeriod } from './period.tsx';
import { compareProjects, type ProjectSpend, sumOfProjects } from './spend-text.ts';

/** The spend of more projects than this is not fetched at once. Each counts against the person's limit of requests. */
const maxProjects = 40;

/** Shows what each of the person's projects has cost, against its budget of a day. */
export function AllSpendPage() {
  usePageTitle('Spend of all projects');
  const projects = useQuery(queries.projects());
  return (
    <div className="narrow">
      <PageHeader title="Spend of all projects">
        <PeriodSelect />
      </PageHeader>
      <QueryResult query={projects}>
        {(all) =>
          all.length === 0 ? (
            <EmptyState title="No projects yet">The cost of work in your projects appears here.</EmptyState>
          ) : (
            <>
              <SpendByProject projects={all.slice(0, maxProjects)} />
              {all.length > maxProjects && (
                <p className="muted">
                  Showing the newest {maxProjects} of {formatNumber(all.length)} projects.
                </p>
              )}
              <p className="muted">Days are in UTC. Runs, reviews, trials, chats and planning are included.</p>
            </>
          )
        }
      </QueryResult>
    </div>
  );
}

function SpendByProject({ projects }: { projects: Project[] }) {
  const days = usePeriod();
  const results = useQueries({ queries: projects.map(({ id }) => queries.spend(id, days)) });
  if (results.some(({ isLoading }) => isLoading)) return <Loading />;
  const rows = projects.map(
    ({ id, name }, i): ProjectSpend => ({ id, name, days, spend: results[i]?.data ?? undefined }),
  );
  const { today, total } = sumOfProjects(rows);
  return (
    <table className="table">
      <thead>
        <tr>
          <th scope="col">Project</th>
          <th scope="col">Today</th>
          <th scope="col">Daily budget</th>
          <th scope="col">Last {days} days</th>
        </tr>
      </thead>
      <tbody>
        {rows.sort(compareProjects).map((row) => (
          <ProjectRow key={row.id} row={row} />
        ))}
        <tr>
          <th scope="row">All projects</th>
          <td>{formatCost(today)}</td>
          <td>–</td>
          <td>{formatCost(total)}</td>
        </tr>
      </tbody>
    </table>
  );
}

function ProjectRow({ row: { id, name, days, spend } }: { row: ProjectSpend }) {
  const today = spend?.days.at(-1)?.costUsd ?? 0;
  return (
    <tr>
      <td>
        <Link to={`/projects/${id}/spend?days=${days}`}>
          <bdi>{name}</bdi>
        </Link>
      </td>
      {spend === undefined ? (
        <td colSpan={3} className="muted">
          Could not be loaded
        </td>
      ) : (
        <>
          <td>{formatCost(today)}</td>
          <td>
            {formatCost(spend.budget.dayCostUsd)} ({Math.round((100 * today) / spend.budget.dayCostUsd)}% used)
          </td>
          <td>{formatCost(spend.total.costUsd)}</td>
        </>
      )}
    </tr>
  );
}
