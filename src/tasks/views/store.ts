import type { EntityManager } from 'typeorm';
import { SavedViews } from '../../db/tables/project.ts';

interface Owned {
  projectId: string;
  userId: string;
}

/** Keeps other changes of these views waiting until the transaction ends. */
export async function lockViews(em: EntityManager, { projectId, userId }: Owned): Promise<void> {
  await em.query('select 1 from members where project_id = $1 and user_id = $2 for no key update', [projectId, userId]);
}

/** Returns the views that a person has saved in a project, in the order in which they were created. */
export async function listViews(
  em: EntityManager,
  { projectId, userId }: Owned,
): Promise<{ name: string; query: string }[]> {
  return em.query(
    'select name, query from saved_views where project_id = $1 and user_id = $2 order by created_at, name',
    [projectId, userId],
  );
}

export async function upsertView(em: EntityManager, view: Owned & { name: string; query: string }): Promise<void> {
  await em.upsert(SavedViews, view, ['projectId', 'userId', 'name']);
}

/** Returns false when there is no such view. */
export async function deleteViewRow(em: EntityManager, key: Owned & { name: string }): Promise<boolean> {
  const { affected } = await em.delete(SavedViews, key);
  return affected === 1;
}
