import { z } from 'zod';
import { type Access, type InProject, inProject, theProject } from '../../http/access/access.ts';
import { type Route, route } from '../../http/route.ts';
import { deleteView, saveView } from './operations.ts';
import { SavedView, SaveView } from './schemas.ts';
import { listViews } from './store.ts';

const path = '/projects/:projectId/views';
const tag = 'tasks';

/** Adds the name in the path to what the handler receives. It need not exist. */
const ofName: Access<InProject & { name: string }> = {
  ...inProject('member'),
  load: async (app, asked) => ({ ...(await inProject('member').load(app, asked)), name: asked.params.name ?? '' }),
};

export const viewRoutes: Route[] = [
  route({
    operationId: 'listViews',
    method: 'get',
    path,
    summary: 'List the views of the board that the caller has saved, oldest first',
    tag,
    access: inProject('member'),
    reply: [200, z.array(SavedView)],
    handle: (app, { projectId, user }) => listViews(app.db.manager, { projectId, userId: user.id }),
  }),
  route({
    operationId: 'saveView',
    method: 'put',
    path: `${path}/:name`,
    summary: 'Save a view of the board for the caller, or replace the one with this name',
    tag,
    access: ofName,
    audit: { action: 'project.save_view', object: theProject },
    body: SaveView,
    reply: [204],
    errors: { 409: 'The caller has too many views in this project' },
    handle: (app, { projectId, user, name, body }) => saveView(app, { projectId, userId: user.id }, name, body.query),
  }),
  route({
    operationId: 'deleteView',
    method: 'delete',
    path: `${path}/:name`,
    summary: 'Delete a view of the caller',
    tag,
    access: ofName,
    audit: { action: 'project.delete_view', object: theProject },
    reply: [204],
    handle: (app, { projectId, user, name }) => deleteView(app, { projectId, userId: user.id }, name),
  }),
];
