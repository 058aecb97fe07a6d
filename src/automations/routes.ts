import { z } from 'zod';
import type { App } from '../app.ts';
import { newId } from '../db/ids.ts';
import type { AutomationRow } from '../db/tables/automation.ts';
import { notFound } from '../errors.ts';
import { type Access, type InProject, idOrEmpty, inProject } from '../http/access/access.ts';
import { type Route, route } from '../http/route.ts';
import { fire } from './fire.ts';
import { createAutomation, deleteAutomation, getAutomation, shown, updateAutomation } from './operations.ts';
import { rehearseAutomation } from './rehearsal.ts';
import { Automation, CreateAutomation, Rehearsal, RehearsalQuery, UpdateAutomation } from './schemas.ts';
import { findAutomationOf, listAutomations } from './store.ts';

const path = '/projects/:projectId/automations';
const tag = 'automations';

/** Finds the automation in the path below its project. */
const onAutomation: Access<InProject & { automation: AutomationRow }> = {
  ...inProject('admin'),
  load: async (app, asked) => {
    const found = await inProject('admin').load(app, asked);
    const { automationId = '' } = asked.params;
    const automation = await findAutomationOf(app.db.manager, found.projectId, idOrEmpty(automationId));
    if (automation === null) throw notFound('Automation', automationId);
    return { ...found, automation };
  },
};

/** Makes the task of an automation now, or says in `last` why it cannot be made. */
async function runNow(app: App, { id }: AutomationRow, userId: string, requestId: string | undefined) {
  const key = `asked ${requestId ?? newId('step')}`;
  await fire(app, id, { key, tick: null, depth: 1, fields: {}, repositoryId: null, people: [userId], isAsked: true });
  return getAutomation(app.db.manager, id);
}

export const automationRoutes: Route[] = [
  route({
    operationId: 'listAutomations',
    method: 'get',
    path,
    summary: 'List the automations of a project, oldest first',
    tag,
    access: inProject('viewer'),
    reply: [200, z.array(Automation)],
    handle: async (app, { projectId }) => (await listAutomations(app.db.manager, projectId)).map(shown),
  }),
  route({
    operationId: 'createAutomation',
    method: 'post',
    path,
    summary: 'Create an automation, which creates tasks at times or after events. They have the rights of the caller',
    tag,
    access: inProject('admin'),
    audit: { action: 'automation.create', made: ({ id, projectId }) => ({ id, projectId }) },
    body: CreateAutomation,
    reply: [201, Automation],
    errors: { 409: 'The project has too many automations', 502: 'The host of the repository cannot be asked' },
    waits: 'before it writes',
    handle: async (app, { projectId, user, body }) => shown(await createAutomation(app, projectId, user.id, body)),
  }),
  route({
    operationId: 'tryAutomation',
    method: 'get',
    path: `${path}/trial`,
    summary:
      'Find out how many tasks an automation with this trigger would have made in the last week, from its schedule or from the events that arrived',
    tag,
    access: inProject('viewer'),
    query: RehearsalQuery,
    reply: [200, Rehearsal],
    // It computes what may be thousands of times, or reads as many deliveries.
    counts: ({ event }) => (event === undefined ? 5 : 20),
    handle: (app, { projectId, query }) => rehearseAutomation(app, projectId, query),
  }),
  route({
    operationId: 'updateAutomation',
    method: 'patch',
    path: `${path}/:automationId`,
    summary: 'Change an automation. From then on, its tasks have the rights of the caller',
    tag,
    access: onAutomation,
    audit: { action: 'automation.update', object: ({ automation }) => automation },
    body: UpdateAutomation,
    reply: [200, Automation],
    errors: { 502: 'The host of the repository cannot be asked' },
    waits: 'before it writes',
    handle: async (app, { automation, user, body }) => shown(await updateAutomation(app, automation, user.id, body)),
  }),
  route({
    operationId: 'deleteAutomation',
    method: 'delete',
    path: `${path}/:automationId`,
    summary: 'Delete an automation. Its tasks stay',
    tag,
    access: onAutomation,
    audit: { action: 'automation.delete', object: ({ automation }) => automation },
    reply: [204],
    handle: (app, { automation }) => deleteAutomation(app, automation),
  }),
  route({
    operationId: 'runAutomation',
    method: 'post',
    path: `${path}/:automationId/run`,
    summary:
      'Make the task of an automation now, even if it is switched off. `last` has the task or the problem. The task counts against `mostPerDay`',
    tag,
    access: onAutomation,
    audit: { action: 'automation.run', object: ({ automation }) => automation },
    reply: [202, Automation],
    costs: 'start',
    waits: 'before it writes',
    handle: async (app, { automation, user, keyed }) => shown(await runNow(app, automation, user.id, keyed?.id)),
  }),
];
