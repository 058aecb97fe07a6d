import type { App } from '../../app.ts';
import { Refused } from '../../domain/machine.ts';
import { badField, notFound } from '../../errors.ts';
import { deleteViewRow, listViews, lockViews, upsertView } from './store.ts';

/** The most views of a person in a project, and the longest name. */
const [maxViews, maxName] = [50, 60];

interface Owned {
  projectId: string;
  userId: string;
}

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
export async function deleteView(app: App, owned: Owned, name: string): Promise<void> {
  const isDeleted = !name.includes('\0') && (await deleteViewRow(app.db.manager, { ...owned, name }));
  if (!isDeleted) throw notFound('View', name.slice(0, 100));
  app.audit.note({ [`view ${name}`]: ['saved', null] });
}
