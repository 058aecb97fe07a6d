import { queryOptions } from '@tanstack/react-query';
import * as api from '../../api.ts';

// Queries about agents and their trials.

/** How long the names of models stay fresh: the server is asked for them. */
const namesFreshMs = 300_000;

/** How often running trials of an agent are fetched. They have no events, and an item takes minutes. */
const agentTrialPollMs = 10_000;

/** The latest trials of an agent. */
export const trials = (agentId: string) =>
  queryOptions({
    queryKey: ['trials', agentId],
    queryFn: () => api.listTrials(agentId, { limit: 20 }),
    refetchInterval: ({ state }) => (state.data?.some(({ status }) => status === 'running') ? agentTrialPollMs : false),
  });

export const trialEstimate = (
  agentId: string,
  repositoryId: string,
  asked: { items: number; against?: string; model?: string },
) =>
  queryOptions({
    queryKey: ['trial-estimate', agentId, repositoryId, asked],
    queryFn: () => api.estimateTrial(agentId, repositoryId, asked),
    retry: false,
  });

export const agentsOf = (projectId: string) =>
  queryOptions({ queryKey: ['agents', projectId], queryFn: () => api.listAgents({ projectId }) });

/** How often the agents of all projects are fetched. Only the events of one project arrive on a page. */
const agentsPollMs = 30_000;

/** The agents of all projects of the person. A tab that is not shown fetches them too, because its icon depends on them. */
export const allAgents = () =>
  queryOptions({
    queryKey: ['agents', 'all'],
    queryFn: () => api.listAgents(),
    refetchInterval: agentsPollMs,
    refetchIntervalInBackground: true,
  });

/** The models that the server of a project lists, or that of agents without one. */
export const modelNames = (projectId: string | undefined) =>
  queryOptions({
    queryKey: ['model-names', projectId],
    queryFn: async () => (await api.listModelNames(projectId === undefined ? {} : { projectId })).names,
    staleTime: namesFreshMs,
    retry: false,
  });

export const agent = (id: string) => queryOptions({ queryKey: ['agent', id], queryFn: () => api.getAgent(id) });

export const agentsHealth = () => queryOptions({ queryKey: ['health'], queryFn: () => api.listAgentHealth() });

export const performance = (id: string) =>
  queryOptions({ queryKey: ['performance', id], queryFn: () => api.getAgentPerformance(id, { weeks: 12 }) });

export const skills = (id: string) => queryOptions({ queryKey: ['skills', id], queryFn: () => api.getAgentSkills(id) });

/** How often suggestions are fetched while a model words them, which takes some seconds. Agents have no events. */
const wordingPollMs = 3000;

export const suggestions = (id: string) =>
  queryOptions({
    queryKey: ['suggestions', id],
    queryFn: () => api.listAgentSuggestions(id),
    // The service ends `wording` after some minutes, even if the model never answers.
    refetchInterval: ({ state }) => (state.data?.wording ? wordingPollMs : false),
  });

export const comparison = (id: string) =>
  queryOptions({ queryKey: ['comparison', id], queryFn: () => api.compareAgentVersions(id) });
