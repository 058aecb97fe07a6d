import type { EntityManager } from 'typeorm';
import { z } from 'zod';
import type { App } from '../app.ts';
import { SavedViews } from '../db/tables/project.ts';
import { Refused } from '../domain/machine.ts';
import { badField, notFound } from '../errors.ts';
import { type Access, type InProject, inProject, theProject } from '../http/access/access.ts';
import { longText, type Route, route } from '../http/route.ts';

const SavedView = z.object({ name: z.string(), query: z.string() }).meta({
  id: 'SavedView',
  description: 'Filters and sorting of a board under a name. Each person has their own in each project',
});

const SaveView = z.strictObject({
  query: longText(1000).meta({ description: 'the query of the address of the board' }),
});

interface Owned {
  projectId: string;
  userId: string;
}

/** Keeps other changes of these views waiting until the transaction ends. */
async function lockViews(em: EntityManager, { projectId, userId }: Owned): Promise<void> {
  await em.query('select 1 from members where project_id = $1 and user_id = $2 for no key update', [projectId, userId]);
}

/** Returns the views that a person has saved in a project, in the order in which they were created. */
async function listViews(em: EntityManager, { projectId, userId }: Owned): Promise<{ name: string; query: string }[]> {
  return em.query(
    'select name, query from saved_views where project_id = $1 and user_id = $2 order by created_at, name',
    [projectId, userId],
  );
}

async function upsertView(em: EntityManager, view: Owned & { name: string; query: string }): Promise<void> {
  await em.upsert(SavedViews, view, ['projectId', 'userId', 'name']);
}

/** Returns false when there is no such view. */
async function deleteViewRow(em: EntityManager, key: Owned & { name: string }): Promise<boolean> {
  const { affected } = await em.delete(SavedViews, key);
  return affected === 1;
}

/** The most views of a person in a project, and the longest name. */
const [maxViews, maxName] = [50, 60];

/**
 * Saves a view of a person, or replaces the one with this name.
 * @throws AppError 400 for an unsuitable name; Refused when the person has too many views
 */
export async function saveView(app: App, owned: Owned, name: string, query: string): Promise<void> {
  const isSuitable = name.length <= maxName && name.trim() === name && name !== '' && !/\p{Cc}/u.test(name);
  if (!isSuitable)
    throw badField(
      'name',
      `name must have 1 to ${maxName} characters, without spaces at its ends or control characters`,
    );
  await app.db.transaction(async (em) => {
    // Two simultaneous requests could together exceed the limit.
    await lockViews(em, owned);
    const known = await listViews(em, owned);
    const before = known.find((view) => view.name === name);
    if (before === undefined && known.length >= maxViews)
      throw new Refused(`You have ${maxViews} views in this project, which is the limit. Delete one first.`);
    await upsertView(em, { ...owned, name, query });
    app.audit.note({ [`view ${name}`]: [before?.query ?? null, query] });
  });
}

/** Deletes a view of a person. @throws AppError 404 when none has this name */
async function deleteView(app: App, owned: Owned, name: string): Promise<void> {
  const isDeleted = !name.includes('\0') && (await deleteViewRow(app.db.manager, { ...owned, name }));
  if (!isDeleted) throw notFound('View', name.slice(0, 100));
  app.audit.note({ [`view ${name}`]: ['saved', null] });
}

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
    guide: null,
    tag,
    access: inProject('viewer'),
    reply: [200, z.array(SavedView)],
    handle: (app, { projectId, user }) => listViews(app.db.manager, { projectId, userId: user.id }),
  }),
  route({
    operationId: 'saveView',
    method: 'put',
    path: `${path}/:name`,
    summary: 'Save a view of the board for the caller, or replace the one with this name',
    guide: null,
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
    guide: null,
    tag,
    access: ofName,
    audit: { action: 'project.delete_view', object: theProject },
    reply: [204],
    handle: (app, { projectId, user, name }) => deleteView(app, { projectId, userId: user.id }, name),
  }),
];
