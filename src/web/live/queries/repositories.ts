import { queryOptions } from '@tanstack/react-query';
import * as api from '../../api.ts';
import { statusOf } from '../errors.ts';

// Queries about repositories: what is in them, their environment, proofs and benchmark.

export const installedRepositories = (id: string) =>
  queryOptions({ queryKey: ['installed-repositories', id], queryFn: () => api.listInstalledRepositories(id) });

export const repositories = (id: string) =>
  queryOptions({ queryKey: ['repositories', id], queryFn: () => api.listRepositories({ projectId: id }) });

export const reviewExamples = (repositoryId: string) =>
  queryOptions({ queryKey: ['review-examples', repositoryId], queryFn: () => api.listReviewExamples(repositoryId) });

/** Branches whose names contain a text. The host of the repository is asked, so a failure is not repeated at once. */
export const branches = (repositoryId: string, search: string) =>
  queryOptions({
    queryKey: ['branches', repositoryId, search],
    queryFn: () => api.searchBranches(repositoryId, { search }),
    retry: false,
  });

/** They change rarely, and dialogs do without them while GitHub cannot be asked. */
export const taskTemplates = (repositoryId: string) =>
  queryOptions({
    queryKey: ['task-templates', repositoryId],
    queryFn: () => api.listTaskTemplates(repositoryId),
    staleTime: 5 * 60_000,
    retry: false,
  });

/** The dialog that shows them offers to try again, and most failures last: the App is not installed. */
export const openIssues = (repositoryId: string) =>
  queryOptions({
    queryKey: ['issues', repositoryId],
    queryFn: () => api.listOpenIssues(repositoryId),
    retry: false,
  });

export const pullProofs = (id: string, limit: number) =>
  queryOptions({ queryKey: ['pull-proofs', id, limit], queryFn: () => api.listPullProofs(id, { limit }) });

export const proofFigures = (id: string) =>
  queryOptions({ queryKey: ['proof-figures', id], queryFn: () => api.getProofFigures(id) });

export const flaky = (id: string) =>
  queryOptions({ queryKey: ['flaky', id], queryFn: () => api.listFlaky(id, { limit: 50 }) });

/** How often a running trial is fetched. The service stores new output once a second. */
const trialPollMs = 2000;

/** The last trial of a repository's environment; null before the first. Trials have no events. */
export const environmentTrial = (repositoryId: string) =>
  queryOptions({
    queryKey: ['environment-trial', repositoryId],
    queryFn: () =>
      api.getEnvironmentTrial(repositoryId).catch((error) => {
        if (statusOf(error) === 404) return null;
        throw error;
      }),
    refetchInterval: ({ state }) => (state.data?.status === 'running' ? trialPollMs : false),
  });

export const portfolio = (repositoryId: string) =>
  queryOptions({ queryKey: ['portfolio', repositoryId], queryFn: () => api.getPortfolio(repositoryId) });

/** How often a benchmark is fetched while its history is being harvested. */
const harvestPollMs = 5000;

/** The benchmark of a repository; null before the first harvest, which has no events. */
export const benchmark = (repositoryId: string) =>
  queryOptions({
    queryKey: ['benchmark', repositoryId],
    queryFn: () =>
      api.getBenchmark(repositoryId).catch((error) => {
        if (statusOf(error) === 404) return null;
        throw error;
      }),
    refetchInterval: ({ state }) => (state.data?.status === 'harvesting' ? harvestPollMs : false),
  });
