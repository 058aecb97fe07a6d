import { z } from 'zod';
import type { App } from '../app.ts';
import { type Access, anyUser, type Caller, inProjectOfQuery } from '../http/access/access.ts';
import { IdText, type Route, route } from '../http/route.ts';
import { readAllHealth, readLanguageSkills, readOneHealth, readPerformance, resetHealth } from './figures.ts';
import { listModelNames } from './model-names.ts';
import {
  createAgent,
  deleteAgent,
  onAgent,
  onChangeableAgent,
  onWorkingAgent,
  shown,
  updateAgent,
} from './operations.ts';
import {
  Agent,
  AgentEntry,
  AgentHealth,
  AgentPerformance,
  AgentSkill,
  CreateAgent,
  FiguresQuery,
  ModelNames,
  PerformanceQuery,
  UpdateAgent,
} from './schemas.ts';
import { type AgentView, listAgents } from './store.ts';

const tag = 'agents';

/** Accepts any team in the path. A team is only a word on agents, so an unknown word is an empty team and not a 404. */
const inTeam: Access<{ user: Caller; team: string }> = {
  ...anyUser,
  load: async (app, asked) => ({ ...(await anyUser.load(app, asked)), team: asked.params.team ?? '' }),
};

const figuresOf = ({ id }: AgentView, { version }: { version?: number | undefined }) => ({ agentId: id, version });

const list = (app: App, user: Caller) => listAgents(app.db.manager, user.id);

/** Paths with a fixed word come before `/agents/:id`, which would otherwise treat the word as an id. */
export const agentRoutes: Route[] = [
  route({
    operationId: 'listAgents',
    method: 'get',
    path: '/agents',
    summary: 'List the agents that the caller can see, or only those that can work in a project',
    guide: 'List the agents that can own tasks, with their roles and models.',
    tag,
    access: inProjectOfQuery,
    query: z.strictObject({ projectId: IdText.optional() }),
    reply: [200, z.array(AgentEntry)],
    handle: (app, { user, projectId }) => listAgents(app.db.manager, user.id, projectId),
  }),
  route({
    operationId: 'createAgent',
    method: 'post',
    path: '/agents',
    summary: 'Create an agent',
    tag,
    access: anyUser,
    audit: { action: 'agent.create', made: ({ id }) => ({ id, projectId: null }) },
    body: CreateAgent,
    reply: [201, Agent],
    errors: { 409: 'The caller already has an agent of this name, or 200 agents' },
    waits: 'before it writes',
    handle: (app, { user, body }) => createAgent(app, user.id, body),
  }),
  route({
    operationId: 'listModelNames',
    method: 'get',
    path: '/agents/models',
    summary: 'List the models that the model server lists for a project, or for agents without one',
    guide: null,
    tag,
    access: inProjectOfQuery,
    query: z.strictObject({ projectId: IdText.optional() }),
    reply: [200, ModelNames],
    handle: async (app, { projectId }) => ({ names: (await listModelNames(app, projectId)) ?? [] }),
  }),
  route({
    operationId: 'listTeams',
    method: 'get',
    path: '/agents/teams',
    summary: 'List the teams of the agents that the caller can see',
    tag,
    access: anyUser,
    reply: [200, z.array(z.string())],
    handle: async (app, { user }) => [...new Set((await list(app, user)).map((a) => a.team))].filter(Boolean).sort(),
  }),
  route({
    operationId: 'listTeamAgents',
    method: 'get',
    path: '/agents/teams/:team',
    summary: 'List the agents of a team',
    tag,
    access: inTeam,
    reply: [200, z.array(AgentEntry)],
    handle: async (app, { user, team }) => (await list(app, user)).filter((a) => a.team === team),
  }),
  route({
    operationId: 'listAgentHealth',
    method: 'get',
    path: '/agents/health/all',
    summary: 'Get the health of all agents',
    tag,
    access: anyUser,
    reply: [200, z.array(AgentHealth)],
    handle: (app, { user }) => readAllHealth(app.db.manager, user.id),
  }),
  route({
    operationId: 'listUnhealthyAgents',
    method: 'get',
    path: '/agents/health/unhealthy',
    summary: 'Get the health of unhealthy agents',
    tag,
    access: anyUser,
    reply: [200, z.array(AgentHealth)],
    handle: async (app, { user }) =>
      (await readAllHealth(app.db.manager, user.id)).filter((h) => h.status === 'unhealthy'),
  }),
  route({
    operationId: 'getAgent',
    method: 'get',
    path: '/agents/:id',
    summary: 'Get an agent',
    tag,
    access: onAgent,
    reply: [200, Agent],
    handle: async (app, { agent }) => shown(app, agent),
  }),
  route({
    operationId: 'updateAgent',
    method: 'patch',
    path: '/agents/:id',
    summary: 'Change an agent',
    tag,
    access: onChangeableAgent,
    audit: { action: 'agent.update', object: ({ agent }) => agent },
    body: UpdateAgent,
    reply: [200, Agent],
    errors: { 409: 'The name is taken, or it is not the newest version' },
    waits: 'before it writes',
    handle: (app, { agent, user, body }) => updateAgent(app, agent, user.id, body),
  }),
  route({
    operationId: 'deleteAgent',
    method: 'delete',
    path: '/agents/:id',
    summary: 'Delete an agent',
    tag,
    access: onChangeableAgent,
    audit: { action: 'agent.delete', object: ({ agent }) => agent },
    reply: [204],
    errors: { 409: 'It has an unfinished run' },
    handle: (app, { agent }) => deleteAgent(app, agent),
  }),
  route({
    operationId: 'getAgentHealth',
    method: 'get',
    path: '/agents/:id/health',
    summary: 'Get the health of an agent',
    tag,
    access: onAgent,
    query: FiguresQuery,
    reply: [200, AgentHealth],
    handle: (app, { agent, user, query }) => readOneHealth(app.db.manager, user.id, figuresOf(agent, query)),
  }),
  route({
    operationId: 'resetAgentHealth',
    method: 'post',
    path: '/agents/:id/health/reset',
    summary: 'Clear the failures of an agent and release its runs whose workers were lost',
    tag,
    access: onWorkingAgent,
    audit: { action: 'agent.reset_health', object: ({ agent }) => agent },
    reply: [200, AgentHealth],
    handle: (app, { agent, user }) => resetHealth(app, user.id, agent.id),
  }),
  route({
    operationId: 'getAgentPerformance',
    method: 'get',
    path: '/agents/:id/performance',
    summary: 'Get the performance of an agent',
    tag,
    access: onAgent,
    query: PerformanceQuery,
    reply: [200, AgentPerformance],
    handle: (app, { agent, user, query }) =>
      readPerformance(app.db.manager, user.id, figuresOf(agent, query), query.weeks),
  }),
  route({
    operationId: 'getAgentSkills',
    method: 'get',
    path: '/agents/:id/skills',
    summary: "List the languages of the agent's merged work",
    tag,
    access: onAgent,
    query: FiguresQuery,
    reply: [200, z.array(AgentSkill)],
    handle: (app, { agent, user, query }) => readLanguageSkills(app.db.manager, user.id, figuresOf(agent, query)),
  }),
];
