import { useQuery } from '@tanstack/react-query';
import type { AgentEntry } from '../api.ts';
import { storeText } from '../frame/personal-storage.ts';
import { isUnread } from '../live/errors.ts';
import * as agentQueries from '../live/queries/agents.ts';
import * as queries from '../live/queries.ts';

const keyOf = (projectId: string) => `deckhand-last-agent ${projectId}`;

export function rememberAgent(projectId: string, agentId: string): void {
  storeText(localStorage, keyOf(projectId), agentId);
}

/**
 * Returns the id of the agent to preselect for work in a project: the agent that was chosen last in this browser, otherwise
 * the default agent of the project, otherwise its oldest, usually the Developer. Returns an empty string if the project has no
 * agent.
 */
export function agentToPreselect(
  project: { id: string; defaultAgentId: string | null },
  agents: AgentEntry[],
  storage: Pick<Storage, 'getItem'>,
): string {
  const usable = agents.filter(({ status }) => status !== 'offline');
  const withId = (wanted: string | null) => usable.find(({ id }) => id === wanted);
  const last = withId(storage.getItem(keyOf(project.id)));
  const found = last ?? withId(project.defaultAgentId) ?? usable.find((agent) => agent.projectId === project.id);
  return found?.id ?? '';
}

/** Returns the agents that can work in a project, and the id of the one to preselect. `isMissing` if they could not be fetched. */
export function useAgentsToChoose(projectId: string): {
  agents: AgentEntry[] | undefined;
  isMissing: boolean;
  preselected: string;
} {
  const query = useQuery(agentQueries.agentsOf(projectId));
  const { data: agents } = query;
  const { data: project } = useQuery(queries.project(projectId));
  const known = { id: projectId, defaultAgentId: project?.defaultAgentId ?? null };
  return { agents, isMissing: isUnread(query), preselected: agentToPreselect(known, agents ?? [], localStorage) };
}
