import type { QueryClient } from '@tanstack/react-query';

/** Fetches again what shows agents, after one has changed. Agents have no events, and the board has their names. */
export async function refetchAgents(client: QueryClient): Promise<void> {
  await Promise.all(['agents', 'agent', 'board'].map((key) => client.invalidateQueries({ queryKey: [key] })));
}
