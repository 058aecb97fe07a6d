import { FilterIcon } from '@primer/octicons-react';
import { Button, IconButton } from '@primer/react';
import { useInfiniteQuery, useQueries, useQuery } from '@tanstack/react-query';
import { useContext } from 'react';
import { Link, useParams } from 'react-router';
import { hasRole } from '../../domain/agent.ts';
import { planName } from '../../domain/wizard.ts';
import type { AuditRecord } from '../api.ts';
import { QueryResult } from '../display/query-result.tsx';
import { EmptyState } from '../display/sections.tsx';
import { TimeAgo } from '../display/times.tsx';
import { RoleInProject } from '../forms/may.tsx';
import { PageHeader, usePageTitle } from '../frame/page-header.tsx';
import * as agentQueries from '../live/queries/agents.ts';
import * as repositoryQueries from '../live/queries/repositories.ts';
import * as queries from '../live/queries.ts';
import { AuditFilters, ObjectFilter, useAuditFilters } from './filters.tsx';
import { changesIn, idsIn, type Named, namedVersions, partsOf, shownValue, viaNames } from './record-texts.ts';
import { actionPhrase, fieldName } from './words.ts';

/** Shows who changed what in a project, to those who may see it. */
export function AuditPage() {
  usePageTitle('Audit log');
  const role = useContext(RoleInProject);
  if (role === undefined || hasRole(role, 'admin')) return <AuditLog />;
  return (
    <div className="narrow stack">
      <PageHeader title="Audit log" />
      <EmptyState title="Only admins see the audit log">
        Ask an admin or the owner of the project, who are on the page “Members”.
      </EmptyState>
    </div>
  );
}

/** Shows the records, newest first, a page at a time. */
function AuditLog() {
  const { projectId = '' } = useParams();
  const filters = useAuditFilters();
  const query = useInfiniteQuery(queries.auditRecords(projectId, filters.filter));
  const exported = new URLSearchParams({ format: 'ndjson', ...filters.filter });
  return (
    <div className="narrow stack">
      <PageHeader title="Audit log">
        <Button as="a" href={`/api/v1/projects/${projectId}/audit?${exported}`} download="audit.ndjson">
          Export
        </Button>
      </PageHeader>
      <p className="muted">
        Everything that people changed in this project, and every status that Deckhand gave to a task. The export
        contains what the filters show, one JSON object per line. What people do with agents, tokens and mail of their
        own belongs to no project.
      </p>
      <AuditFilters projectId={projectId} filters={filters} />
      <QueryResult query={query} rows={8}>
        {(records) =>
          records.length === 0 && !filters.isFiltered ? (
            <EmptyState title="No changes yet">
              Changes of the project appear here, with the person who made them.
            </EmptyState>
          ) : (
            <Records projectId={projectId} records={records} filters={filters} />
          )
        }
      </QueryResult>
      {query.hasNextPage && (
        <Button loading={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
          Load more
        </Button>
      )}
    </div>
  );
}

type Filters = ReturnType<typeof useAuditFilters>;

function Records({ projectId, records, filters }: { projectId: string; records: AuditRecord[]; filters: Filters }) {
  const { object } = filters.values;
  const named = useNamedIds(projectId, records, object);
  return (
    <>
      <ObjectFilter name={<WithNames text={object} named={named} />} filters={filters} />
      {records.length === 0 && (
        <EmptyState title="No matching changes">Choose other filters, or clear them to see all changes.</EmptyState>
      )}
      <ul className="list" aria-label="Changes">
        {records.map((record) => (
          <AuditItem key={record.id} record={record} named={named} onlyObject={(id) => filters.set('object', id)} />
        ))}
      </ul>
    </>
  );
}

interface Given {
  record: AuditRecord;
  named: Map<string, Named>;
  onlyObject(id: string): void;
}

/** Shows one record of the audit log: who did what, when and through what, and the fields that changed. */
function AuditItem({ record, named, onlyObject }: Given) {
  const { at, actor, via, action, object, detail } = record;
  return (
    <li className="list-item">
      <span className="grow audit-entry" title={action}>
        <span className="strong">{actor?.login ?? 'Deckhand'}</span> {actionPhrase(action, detail)}{' '}
        <WithNames text={object.id} named={named} />{' '}
        <IconButton
          icon={FilterIcon}
          size="small"
          variant="invisible"
          aria-label={`Only changes of ${named.get(object.id)?.name ?? object.id}`}
          onClick={() => onlyObject(object.id)}
        />
      </span>
      <span className="muted">
        {viaNames[via]} · <TimeAgo at={at} />
      </span>
      {changesIn(detail).map(([field, [before, after]]) => (
        <p key={field} className="wrap small">
          <span className="muted">{fieldName(field)}:</span>{' '}
          {before !== null && before !== '' && (
            <>
              <WithNames text={shownValue(field, before)} named={named} /> →{' '}
            </>
          )}
          <WithNames text={shownValue(field, after)} named={named} />
        </p>
      ))}
    </li>
  );
}

/** Shows a text with links instead of the ids in it. Ids of what was deleted stay. */
function WithNames({ text, named }: { text: string; named: Map<string, Named> }) {
  return (
    <span className="wrap">
      {partsOf(text).map((part, i) => {
        const found = i % 2 === 1 ? named.get(part) : undefined;
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text keep their order
        if (found === undefined) return <bdi key={i}>{part}</bdi>;
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text keep their order
          <Link key={i} to={found.to} title={part}>
            <bdi>{found.name}</bdi>
          </Link>
        );
      })}
    </span>
  );
}

/** Ids of tasks that are looked up with one request. */
const tasksAtOnce = 100;

/** Returns what the ids in records stand for. Deleted things are missing, and so is what is still loading. */
function useNamedIds(projectId: string, records: AuditRecord[], chosen: string): Map<string, Named> {
  const ids = idsIn([...records, { object: { type: '', id: chosen }, detail: {} }]);
  const enabled = (prefix: string) => ({ enabled: ids.some((id) => id.startsWith(prefix)) });
  const { data: project } = useQuery(queries.project(projectId));
  const tasks = useTitles(
    projectId,
    ids.filter((id) => id.startsWith('task_')),
  );
  const { data: sprints = [] } = useQuery({ ...queries.sprints(projectId), ...enabled('sprint_') });
  const { data: agents = [] } = useQuery({ ...agentQueries.agentsOf(projectId), ...enabled('agent_') });
  const { data: members = [] } = useQuery({ ...queries.members(projectId), ...enabled('user_') });
  const { data: repositories = [] } = useQuery({ ...repositoryQueries.repositories(projectId), ...enabled('repo_') });
  const { data: wizards = [] } = useQuery({ ...queries.wizards(projectId), ...enabled('wiz_') });
  const { data: automations = [] } = useQuery({ ...queries.automations(projectId), ...enabled('auto_') });
  const { data: webhooks = [] } = useQuery({ ...queries.webhooks(projectId), ...enabled('hook_') });
  const home = `/projects/${projectId}`;
  const named = new Map<string, Named>([
    [projectId, { name: project?.name ?? projectId, to: home }],
    ...tasks.map(({ id, title }) => [id, { name: title, to: `/tasks/${id}` }] as const),
    ...sprints.map(({ id, name }) => [id, { name, to: `/sprints/${id}` }] as const),
    ...agents.map(({ id, name }) => [id, { name, to: `${home}/agents/${id}` }] as const),
    ...members.map(({ userId, login }) => [userId, { name: login, to: `${home}/members` }] as const),
    ...repositories.map(({ id, name }) => [id, { name, to: `${home}/repositories/${id}` }] as const),
    ...automations.map(({ id, name }) => [id, { name, to: `${home}/automations` }] as const),
    ...webhooks.map(({ id, url }) => [id, { name: new URL(url).host, to: `${home}/settings` }] as const),
    ...wizards.map((plan) => {
      const { sessionId, title, issueUrl } = plan;
      const name = issueUrl === null && title !== null ? title.slice(0, 200) : planName(plan);
      return [sessionId, { name, to: `${home}/plan/${sessionId}` }] as const;
    }),
  ]);
  return new Map([...named, ...namedVersions(records, named)]);
}

function useTitles(projectId: string, ids: string[]): { id: string; title: string }[] {
  const chunks = Array.from({ length: Math.ceil(ids.length / tasksAtOnce) }, (_, i) =>
    ids.slice(i * tasksAtOnce, (i + 1) * tasksAtOnce),
  );
  return useQueries({
    queries: chunks.map((chunk) => queries.titlesOf(projectId, chunk)),
    combine: (results) => results.flatMap(({ data = [] }) => data),
  });
}
