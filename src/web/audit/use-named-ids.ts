import { useQueries, useQuery } from '@tanstack/react-query';
import type { AuditRecord } from '../api.ts';
import * as queries from '../live/queries.ts';
import { idsIn, type Named, namedVersions } from './named-ids.ts';

/** Ids of tasks that are looked up with one request. */
const tasksAtOnce = 100;

/** Returns what the ids in records stand for. Deleted things are missing, and so is what is still loading. */
export function useNamedIds(projectId: string, records: AuditRecord[]): Map<string, Named> {
  const ids = idsIn(records);
  const enabled = (prefix: string) => ({ enabled: ids.some((id) => id.startsWith(prefix)) });
  const { data: project } = useQuery(queries.project(projectId));
  const tasks = useTitles(
    projectId,
    ids.filter((id) => id.startsWith('task_')),
  );
  const { data: sprints = [] } = useQuery({ ...queries.sprints(projectId), ...enabled('sprint_') });
  const { data: agents = [] } = useQuery({ ...queries.agentsOf(projectId), ...enabled('agent_') });
  const { data: members = [] } = useQuery({ ...queries.members(projectId), ...enabled('user_') });
  const { data: repositories = [] } = useQuery({ ...queries.repositories(projectId), ...enabled('repo_') });
  const { data: wizards = [] } = useQuery({ ...queries.wizards(projectId), ...enabled('wiz_') });
  const home = `/projects/${projectId}`;
  const named = new Map<string, Named>([
    [projectId, { name: project?.name ?? projectId, to: home }],
    ...tasks.map(({ id, title }) => [id, { name: title, to: `/tasks/${id}` }] as const),
    ...sprints.map(({ id, name }) => [id, { name, to: `/sprints/${id}` }] as const),
    ...agents.map(({ id, name }) => [id, { name, to: `${home}/agents/${id}` }] as const),
    ...members.map(({ userId, login }) => [userId, { name: login, to: `${home}/members` }] as const),
    ...repositories.map(({ id, name }) => [id, { name, to: `${home}/repositories/${id}` }] as const),
    ...wizards.map(({ sessionId, title, goal }) => {
      return [sessionId, { name: (title ?? goal).slice(0, 200), to: `${home}/plan/${sessionId}` }] as const;
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
