import type { AgentEntry } from '../api.ts';
import { storeText } from '../frame/personal-storage.ts';

const keyOf = (projectId: string) => `deckhand-last-agent ${projectId}`;

export function rememberAgent(projectId: string, agentId: string): void {
  storeText(localStorage, keyOf(projectId), agentId);
}

/**
 * Returns the agent to preselect for a new task: the one that this browser gave the last one, otherwise the project's
 * first, which is the Developer unless it was deleted. An empty string if there is none.
 */
export function agentToPreselect(projectId: string, agents: AgentEntry[], storage: Pick<Storage, 'getItem'>): string {
  const usable = agents.filter(({ status }) => status !== 'offline');
  const last = storage.getItem(keyOf(projectId));
  const found = usable.find(({ id }) => id === last) ?? usable.find((agent) => agent.projectId === projectId);
  return found?.id ?? '';
}
