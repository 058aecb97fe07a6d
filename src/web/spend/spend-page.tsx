import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Suspense } from 'react';
import { Link, useParams } from 'react-router';
import type { Spend } from '../api.ts';
import { formatCost, formatNumber, roundedTogether } from '../display/formats.ts';
import { Loading, QueryResult } from '../display/query-result.tsx';
import { EmptyState, FactList, Section } from '../display/sections.tsx';
import { useMay } from '../forms/may.tsx';
import { PageHeader, usePageTitle } from '../frame/page-header.tsx';
import { lazyPart } from '../live/load-part.ts';
import * as queries from '../live/queries.ts';
import { PastQuotes } from './past-quotes.tsx';
import { GroupingSelect, groupingName, PeriodSelect, useGrouping, usePeriod } from './period.tsx';
import { groupName, groupPath, hasUnpriced, tokensOf } from './spend-text.ts';

const SpendChart = lazyPart(async () => ({ default: (await import('./spend-chart.tsx')).SpendChart }));

/**
 * Shows what a project has cost, by day and by agent, person, model, sprint or repository, against the budget of a day.
 */
export function SpendPage() {
  usePageTitle('Spend');
  const { projectId = '' } = useParams();
  const days = usePeriod();
  const query = useQuery({
    ...queries.spend(projectId, days, useGrouping()),
    // The page stays while another grouping loads.
    placeholderData: keepPreviousData,
  });
  return (
    <div className="narrow">
      <PageHeader title="Spend">
        <Link to={`/spend?days=${days}`}>All projects</Link>
        <PeriodSelect />
      </PageHeader>
      <QueryResult query={query}>
        {(spend) => <SpendView projectId={projectId} spend={spend} isOld={query.isPlaceholderData} />}
      </QueryResult>
    </div>
  );
}

function SpendView({ projectId, spend, isOld }: { projectId: string; spend: Spend; isOld: boolean }) {
  const { days, agents, total, budget } = spend;
  // While another grouping loads, the figures are still those of the one before.
  const name = groupingName(spend.by);
  const maySet = useMay('admin');
  const today = days.at(-1)?.costUsd ?? 0;
  const share = Math.round((100 * today) / budget.dayCostUsd);
  return (
    <div className="stack">
      <Section title="Budget">
        <FactList
          facts={{
            Today: `${formatCost(today)} of ${formatCost(budget.dayCostUsd)} (${share}%)`,
            [`Last ${days.length} days`]: formatCost(total.costUsd),
            'Average per day': formatCost(total.costUsd / days.length),
            Tokens: formatNumber(tokensOf(total)),
          }}
        />
        <p className="muted">
          {budget.setBy === 'project' ? (
            <>
              The daily budget is set in the <Link to={`/projects/${projectId}/settings`}>project settings</Link>.
            </>
          ) : (
            <>
              The daily budget is the limit of this service. {maySet ? 'You' : 'Admins'} can set a lower one in the{' '}
              <Link to={`/projects/${projectId}/settings`}>project settings</Link>.
            </>
          )}{' '}
          Days are in UTC. Runs, reviews, trials, chats and planning are included.
        </p>
        {hasUnpriced(spend) && (
          <p className="muted">
            Some work used models whose prices are not configured, so their cost is not included. The operator of this
            service can set MODEL_PRICES.
          </p>
        )}
      </Section>
      {agents.length === 0 ? (
        <EmptyState title="No spend in this period">The cost of work in this project appears here.</EmptyState>
      ) : (
        <>
          <Section title={`By ${name.toLowerCase()}`}>
            <div className="stack">
              <div className="row">
                <GroupingSelect />
                <span className="muted" role="status">
                  {isOld && 'Loading…'}
                </span>
              </div>
              <SpendByGroup projectId={projectId} name={name} spend={spend} />
            </div>
          </Section>
          <Section title="By day and agent">
            <Suspense fallback={<Loading rows={6} />}>
              <SpendChart projectId={projectId} spend={spend} />
            </Suspense>
          </Section>
        </>
      )}
      <PastQuotes projectId={projectId} />
    </div>
  );
}

/** Lists what each agent, person and so on has cost. */
function SpendByGroup({ projectId, name, spend }: { projectId: string; name: string; spend: Spend }) {
  const { by, groups, total } = spend;
  const costs = roundedTogether(
    groups.map(({ costUsd }) => costUsd),
    total.costUsd,
  );
  return (
    <table className="table figures">
      <thead>
        <tr>
          <th scope="col">{name}</th>
          <th scope="col">Cost</th>
          <th scope="col">Share</th>
          <th scope="col">Tokens</th>
        </tr>
      </thead>
      <tbody>
        {groups.map((group, i) => (
          <tr key={group.id ?? i}>
            <td className="wrap">
              <GroupLink to={groupPath(projectId, by, group)} name={groupName(by, group)} />
            </td>
            <td>{formatCost(costs[i] ?? group.costUsd)}</td>
            <td>{total.costUsd === 0 ? '–' : `${Math.round((100 * group.costUsd) / total.costUsd)}%`}</td>
            <td>{formatNumber(tokensOf(group))}</td>
          </tr>
        ))}
        <tr>
          <th scope="row">Project</th>
          <td>{formatCost(total.costUsd)}</td>
          <td>{total.costUsd === 0 ? '–' : '100%'}</td>
          <td>{formatNumber(tokensOf(total))}</td>
        </tr>
      </tbody>
    </table>
  );
}

function GroupLink({ to, name }: { to: string | undefined; name: string }) {
  if (to === undefined) return <bdi>{name}</bdi>;
  return (
    <Link to={to}>
      <bdi>{name}</bdi>
    </Link>
  );
}
