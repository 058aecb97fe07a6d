import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import * as api from '../api.ts';
import { statusOf } from './errors.ts';
import { fetchAllPages, fetchBoard } from './fetch-lists.ts';

// The dashboard's queries, each with its cache key. The first word of a key says what is cached.

/** How long data stays fresh, so that one request serves parts of a page that need it at slightly different times. */
const [personFreshMs, pageFreshMs] = [300_000, 2000];

export const me = () => queryOptions({ queryKey: ['me'], queryFn: () => api.getMe(), staleTime: personFreshMs });
export const inboxScopes = ['mine', 'all', 'snoozed'] as const;
/** What needs the person, or with `all` anybody in their projects, or what the person has snoozed. */
export const inbox = (scope: (typeof inboxScopes)[number] = 'mine') =>
  queryOptions({ queryKey: ['inbox', scope], queryFn: () => api.listInbox({ scope }) });
export const myTokens = () => queryOptions({ queryKey: ['tokens'], queryFn: () => api.listTokens({ limit: 100 }) });

export const myNotices = () => queryOptions({ queryKey: ['my-notices'], queryFn: () => api.getNotices() });

export const projects = () =>
  queryOptions({ queryKey: ['projects'], queryFn: () => fetchAllPages((page) => api.listProjects(page)) });
/** How often a project is fetched whose page shows what GitHub refuses to its account. That has no events. */
const githubPollMs = 30_000;

export const project = (id: string) =>
  queryOptions({
    queryKey: ['project', id],
    queryFn: () => api.getProject(id),
    staleTime: pageFreshMs,
    refetchInterval: ({ state }) => (state.data?.github ? githubPollMs : false),
  });
export const members = (id: string) => queryOptions({ queryKey: ['members', id], queryFn: () => api.listMembers(id) });
/** The open pull requests of others for the issue of a task. A start does not need them, so a failure is not repeated. */
export const otherWork = (taskId: string) =>
  queryOptions({
    queryKey: ['other-work', taskId],
    queryFn: ({ signal }) => api.listOtherWork(taskId, { signal }),
    staleTime: githubPollMs,
    retry: false,
  });
/** The open changes that collide with that of a task, and tasks that may. */
export const collisions = (taskId: string) =>
  queryOptions({ queryKey: ['collisions', taskId], queryFn: () => api.listCollisions(taskId) });
/** The signed receipts of a run. They do not change once it has ended. */
export const receipts = (runId: string) =>
  queryOptions({ queryKey: ['receipts', runId], queryFn: () => api.listRunReceipts(runId, { limit: 100 }) });
export const gitToken = (id: string) =>
  queryOptions({ queryKey: ['git-token', id], queryFn: () => api.getGitToken(id) });
export const modelToken = (id: string) =>
  queryOptions({ queryKey: ['model-token', id], queryFn: () => api.getModelToken(id) });
export const automations = (id: string) =>
  queryOptions({ queryKey: ['automations', id], queryFn: () => api.listAutomations(id) });
export const mcpServers = (id: string) =>
  queryOptions({ queryKey: ['mcp-servers', id], queryFn: () => api.listMcpServers(id) });

export const webhooks = (id: string) =>
  queryOptions({ queryKey: ['webhooks', id], queryFn: () => api.listWebhooks(id) });
/** The newest deliveries of a webhook. */
export const webhookDeliveries = (projectId: string, id: string) =>
  queryOptions({
    queryKey: ['webhook-deliveries', id],
    queryFn: () => api.listWebhookDeliveries(projectId, id, { limit: 20 }),
  });

export const environmentSecrets = (id: string) =>
  queryOptions({ queryKey: ['environment-secrets', id], queryFn: () => api.listEnvironmentSecrets(id) });

/** The secrets that no repository may use, in all projects that the person can administer. */
export const unassignedSecrets = () =>
  queryOptions({
    queryKey: ['unassigned-secrets'],
    queryFn: () => api.listUnassignedSecrets(),
    staleTime: personFreshMs,
  });

/** The cards of a project's tasks, newest first, with the names of its agents and sprints. */
export const board = (projectId: string) =>
  queryOptions({
    queryKey: ['board', projectId],
    queryFn: () => fetchBoard(projectId),
    // Never stale, because project events keep it up to date.
    staleTime: Number.POSITIVE_INFINITY,
    // Comparing thousands of cards with those of before would take longer than showing them.
    structuralSharing: false,
  });
const cardsOf = ({ tasks }: api.Board) => tasks;
/** The cards alone. All pages share one board. */
export const tasks = (projectId: string) => queryOptions({ ...board(projectId), select: cardsOf });
/** The tasks that a task depends on, and those that depend on it. */
export const relatedTasks = ({ id, projectId }: Pick<api.Task, 'id' | 'projectId'>) =>
  queryOptions({
    queryKey: ['related', projectId, id],
    queryFn: async () => (await api.getBoard(projectId, { near: id })).tasks,
  });
/** The titles of tasks by their ids, at most a hundred. */
export const titlesOf = (projectId: string, ids: string[]) =>
  queryOptions({
    queryKey: ['titles', projectId, ...ids],
    queryFn: async () => {
      const { tasks } = await api.getBoard(projectId, { ids: ids.join(',') });
      return tasks.map(({ id, title }) => ({ id, title }));
    },
    enabled: ids.length > 0,
  });
/** The views of the board that the signed-in person has saved. */
export const views = (projectId: string) =>
  queryOptions({ queryKey: ['views', projectId], queryFn: () => api.listViews(projectId) });
/** Tasks that the service finds by their titles and descriptions. */
export const taskSearch = (projectId: string, search: string) =>
  queryOptions({
    queryKey: ['task-search', projectId, search],
    queryFn: () => api.listTasks(projectId, { search, limit: 8 }),
  });
/** The ids of the newest hundred tasks whose title or description has the words of a search. Cards have no description. */
export const foundTasks = (projectId: string, search: string) =>
  queryOptions({
    queryKey: ['task-search', projectId, search, 'ids'],
    queryFn: async () => (await api.listTasks(projectId, { search, limit: 100 })).map(({ id }) => id),
    enabled: search !== '',
  });
export const task = (id: string) => queryOptions({ queryKey: ['task', id], queryFn: () => api.getTask(id) });
/** The task of the page, for what is around the page. The page itself sees to it that the task is up to date. */
export const taskOfPage = (id: string | undefined) =>
  queryOptions({ ...task(id ?? ''), enabled: id !== undefined, refetchOnMount: false });
/** A summary of the change of a task: its size, checks and proof. */
export const change = (id: string) => queryOptions({ queryKey: ['change', id], queryFn: () => api.getTaskChange(id) });
export const diff = (id: string) => queryOptions({ queryKey: ['diff', id], queryFn: () => api.getTaskDiff(id) });
/** What people wrote on lines of a task's change. It is read whole, so that no thread is missing. */
export const reviewComments = (id: string) =>
  queryOptions({ queryKey: ['review-comments', id], queryFn: () => api.listReviewComments(id) });
export const pulls = (id: string) => queryOptions({ queryKey: ['pulls', id], queryFn: () => api.listPullRequests(id) });
/** What the tests of a task's change prove; null before the first proof. */
export const proof = (id: string) =>
  queryOptions({
    queryKey: ['proof', id],
    queryFn: () =>
      api.getTaskProof(id).catch((error) => {
        if (statusOf(error) === 404) return null;
        throw error;
      }),
  });
export const subtasks = (id: string) =>
  queryOptions({ queryKey: ['subtasks', id], queryFn: () => api.listSubtasks(id) });
export const runs = (taskId: string) =>
  queryOptions({ queryKey: ['runs', taskId], queryFn: () => api.listRuns(taskId, { limit: 100 }) });

/** The files and checks that a plan names, while its run waits for the approval of this plan, and the plan before it. */
export const planDetails = (runId: string, attentionId: string) =>
  queryOptions({
    queryKey: ['plan-details', attentionId],
    queryFn: async () => {
      const log = await fetchAllPages((page) => api.listRunEvents(runId, page));
      const plans = log.filter(({ type, data }) => type === 'waiting' && data.reason === 'plan');
      const { files, checks } = plans.at(-1)?.data ?? {};
      // The text of the event begins with what the run does: "waiting: ".
      const previous = plans.at(-2)?.text.replace(/^waiting[^:]*: /, '');
      return { files: textsOf(files), checks: textsOf(checks), previous };
    },
  });
const textsOf = (given: unknown): string[] => (Array.isArray(given) ? given.map(String) : []);

export const run = (id: string) => queryOptions({ queryKey: ['run', id], queryFn: () => api.getRun(id) });
/** Sessions that are fetched at once. */
export const maxSessions = 100;
/** How often sessions are fetched while a run is running. What it does within a turn has no events. */
const sessionPollMs = 3000;
/** How often those of all projects are fetched otherwise, because their events are in several streams. */
const idlePollMs = 15_000;

/** The unfinished runs of all projects of the person, or of one. */
export const sessions = (projectId?: string) =>
  queryOptions({
    queryKey: ['sessions', projectId ?? 'all'],
    queryFn: () => api.listSessions({ limit: maxSessions, ...(projectId === undefined ? {} : { projectId }) }),
    refetchInterval: ({ state }) => {
      if (state.data?.some(({ status }) => status === 'running')) return sessionPollMs;
      return projectId === undefined ? idlePollMs : false;
    },
  });

/** Runs of a project that are fetched at once. */
const runsPageSize = 50;

/** The runs of a project, newest first. A run that moves to the next page, because newer ones have come, is included once. */
export const projectRuns = (projectId: string) =>
  infiniteQueryOptions({
    queryKey: ['project-runs', projectId],
    queryFn: ({ pageParam: offset }) => api.listProjectRuns(projectId, { limit: runsPageSize, offset }),
    initialPageParam: 0,
    getNextPageParam: (last, pages) => (last.length < runsPageSize ? undefined : pages.length * runsPageSize),
    select: ({ pages }) => [...new Map(pages.flat().map((run) => [run.id, run])).values()],
  });
export const reconciliations = () =>
  queryOptions({ queryKey: ['reconciliations'], queryFn: () => api.listReconciliations({ limit: 20 }) });

export const sprints = (projectId: string) =>
  queryOptions({
    queryKey: ['sprints', projectId],
    queryFn: () => fetchAllPages((page) => api.listSprints(projectId, page)),
  });
export const sprint = (id: string) => queryOptions({ queryKey: ['sprint', id], queryFn: () => api.getSprint(id) });
/** The figures of a sprint. Its forecast leaves out the tasks in `without`. */
export const metrics = (id: string, without: string[] = []) =>
  queryOptions({
    queryKey: ['metrics', id, ...without],
    queryFn: () => api.getSprintMetrics(id, without.length === 0 ? {} : { without: without.join(',') }),
  });
export const burndown = (id: string) =>
  queryOptions({ queryKey: ['burndown', id], queryFn: () => api.getBurndown(id, { ahead: true }) });
export const digest = (id: string) => queryOptions({ queryKey: ['digest', id], queryFn: () => api.getDigest(id) });
/** What the runs of a project have used in the last days. */
export const spend = (projectId: string, days: number, by: api.Spend['by'] = 'agent') =>
  queryOptions({ queryKey: ['spend', projectId, days, by], queryFn: () => api.getSpend(projectId, { days, by }) });

export const velocity = (projectId: string) =>
  queryOptions({
    queryKey: ['velocity', projectId],
    queryFn: () => api.getVelocity(projectId, { count: 12 }),
  });

export const wizards = (projectId: string) =>
  queryOptions({ queryKey: ['wizards', projectId], queryFn: () => api.listWizards(projectId) });

export const wizard = (projectId: string, sessionId: string) =>
  queryOptions({ queryKey: ['wizard', sessionId], queryFn: () => api.getWizard(projectId, sessionId) });

/** What a chat is about. */
export interface ChatSubject {
  kind: 'task' | 'sprint';
  id: string;
}

/** Messages of a chat that are fetched at once. */
const chatPageSize = 50;

/** A conversation, oldest message first. Each further page has earlier messages. */
export const chat = ({ kind, id }: ChatSubject) =>
  infiniteQueryOptions({
    queryKey: ['chat', id],
    queryFn: ({ pageParam }) => {
      const page = { limit: chatPageSize, ...(pageParam === '' ? {} : { before: pageParam }) };
      return kind === 'task' ? api.listTaskChat(id, page) : api.listSprintChat(id, page);
    },
    initialPageParam: '',
    getNextPageParam: (last) => (last.length < chatPageSize ? undefined : last[0]?.id),
    select: ({ pages }) => [...pages].reverse().flat(),
  });

/** Records of the audit log that are fetched at once. */
const auditPageSize = 50;

/** Which records of the audit log to show, with the names of the API; undefined for all. */
export type AuditFilter = Partial<Record<'actor' | 'action' | 'object' | 'since' | 'until', string>>;

/** The audit log. A record that moves to the next page, because newer ones have come, is included once. */
export const auditRecords = (projectId: string, filter: AuditFilter) =>
  infiniteQueryOptions({
    queryKey: ['audit', projectId, filter],
    queryFn: ({ pageParam: offset }) => {
      const { object: $object, ...rest } = filter;
      return api.listAuditRecords(projectId, { limit: auditPageSize, offset, $object, ...rest });
    },
    initialPageParam: 0,
    getNextPageParam: (last, pages) => (last.length < auditPageSize ? undefined : pages.length * auditPageSize),
    select: ({ pages }) => [...new Map(pages.flat().map((record) => [record.id, record])).values()],
  });
/** What a task will probably cost. A start does not need it. */
export const quote = (taskId: string) =>
  queryOptions({ queryKey: ['quote', taskId], queryFn: ({ signal }) => api.getQuote(taskId, { signal }) });
/** What an undo of a task would revert. */
export const undo = (taskId: string) =>
  queryOptions({ queryKey: ['undo', taskId], queryFn: ({ signal }) => api.getUndo(taskId, { signal }) });
/** How well the quotes of a project held. */
export const pastQuotes = (projectId: string) =>
  queryOptions({ queryKey: ['quotes', projectId], queryFn: () => api.listQuotes(projectId, { limit: 10 }) });
