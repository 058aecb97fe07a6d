import type { AgentEntry } from '../../api.ts';
import { storeText } from '../../frame/personal-storage.ts';

const keyOf = (projectId: string) => `deckhand-last-agent ${projectId}`;

export function rememberAgent(projectId: string, agentId: string): void {
  storeText(localStorage, keyOf(projectId), agentId);
}

/**
 * Returns the id of the agent to preselect for a new task: the agent that was chosen last in this browser, otherwise the
 * oldest agent of the project, usually the Developer. Returns an empty string if the project has no agent.
 */
export function agentToPreselect(projectId: string, agents: AgentEntry[], storage: Pick<Storage, 'getItem'>): string {
  const usable = agents.filter(({ status }) => status !== 'offline');
  const last = storage.getItem(keyOf(projectId));
  const found = usable.find(({ id }) => id === last) ?? usable.find((agent) => agent.projectId === projectId);
  return found?.id ?? '';
}

/** Returns the titles in a pasted list, one per line, without bullets, numbers and checkboxes. */
export function titlesFromList(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.replace(/^\s*(?:[-*+•]|\d+[.)])?\s*(?:\[[ xX]\]\s*)?/, '').trim())
    .filter((title) => title !== '');
}
