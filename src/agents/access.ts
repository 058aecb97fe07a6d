import { notFound } from '../errors.ts';
import { type Access, anyUser, type Caller, idOrEmpty } from '../http/access/access.ts';
import { type AgentView, findVisibleAgent } from './store.ts';
import { assertMayChange } from './versions.ts';

/**
 * Finds the agent in the path. An agent can belong to a person instead of a project, so a separate rule decides who
 * sees it.
 */
export const onAgent: Access<{ user: Caller; agent: AgentView }> = {
  kind: 'object',
  names: 'id',
  load: async (app, asked) => {
    const { user } = await anyUser.load(app, asked);
    const id = asked.params.id ?? '';
    const agent = await findVisibleAgent(app.db.manager, user.id, idOrEmpty(id));
    if (agent === undefined) throw notFound('Agent', id);
    return { user, agent };
  },
};

/** Finds an agent that the caller may change. */
export const onChangeableAgent: typeof onAgent = {
  ...onAgent,
  load: async (app, asked) => {
    const found = await onAgent.load(app, asked);
    await assertMayChange(app.db.manager, found.agent, found.user.id);
    return found;
  },
};
