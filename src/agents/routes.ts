import { z } from 'zod';
import { notFound } from '../errors.ts';
import { type Access, anyUser, type Caller, storable } from '../http/access.ts';
import { type Route, route } from '../http/route.ts';
import { createAgent, shown } from './operations.ts';
import { Agent, AgentEntry, CreateAgent } from './schemas.ts';
import { type AgentView, findVisibleAgent, listAgents } from './store.ts';

const tag = 'agents';

/** An agent is not of one project alone, so its visibility has a rule of its own. */
const onAgent: Access<{ user: Caller; agent: AgentView }> = {
  kind: 'object',
  names: 'id',
  load: async (app, asked) => {
    const { user } = await anyUser.load(app, asked);
    const id = asked.params.id ?? '';
    const agent = await findVisibleAgent(app.db.manager, user.id, storable(id));
    if (agent === undefined) throw notFound('Agent', id);
    return { user, agent };
  },
};

export const agentRoutes: Route[] = [
  route({
    method: 'get',
    path: '/agents',
    summary: 'List the agents that the caller can see',
    tag,
    access: anyUser,
    reply: [200, z.array(AgentEntry)],
    handle: (app, { user }) => listAgents(app.db.manager, user.id),
  }),
  route({
    method: 'post',
    path: '/agents',
    summary: 'Create an agent',
    tag,
    access: anyUser,
    body: CreateAgent,
    reply: [201, Agent],
    errors: { 409: 'The caller has an agent of that name' },
    handle: (app, { user, body }) => createAgent(app, user.id, body),
  }),
  route({
    method: 'get',
    path: '/agents/:id',
    summary: 'Get an agent',
    tag,
    access: onAgent,
    reply: [200, Agent],
    handle: async (app, { agent }) => shown(app, agent),
  }),
];
