import { randomUUID } from 'node:crypto';
import type { App } from '../../app.ts';
import { Refused } from '../../domain/machine.ts';
import { isTakenVariable, secretName } from '../../domain/settings/environment-secret.ts';
import { badField, notFound } from '../../errors.ts';
import { lockProjectRow } from '../../repositories/store.ts';
import {
  deleteSecret,
  listSecretPlaces,
  listSecrets,
  lockSecret,
  placeOf,
  resealSecret,
  upsertSecret,
} from './store.ts';

/** The most secrets of a project. */
const maxSecrets = 100;

/** An environment secret with its value, for use in this process only. */
export interface OpenSecret {
  name: string;
  value: string;
  version: string;
}

/**
 * Stores an environment secret of a project, or replaces its value.
 * @throws AppError 400 for an unsuitable name; Refused when the project has too many secrets
 */
export async function setSecret(app: App, projectId: string, name: string, value: string): Promise<void> {
  if (!secretName.test(name))
    throw badField('name', 'name must have 1 to 64 capital letters, digits or _, and begin with a letter');
  if (isTakenVariable(name))
    throw badField('name', `name must not be ${name}, which is a variable that the sandbox sets`);
  await app.db.transaction(async (em) => {
    await lockProjectRow(em, projectId);
    const known = await listSecrets(em, projectId);
    const isKnown = known.some((each) => each.name === name);
    if (known.length >= maxSecrets && !isKnown)
      throw new Refused(`The project has ${maxSecrets} environment secrets, which is the limit. Delete one first.`);
    const sealed = app.secrets.seal(value, placeOf({ projectId, name }));
    await upsertSecret(em, { projectId, name, ...sealed, version: randomUUID() });
    app.audit.note({ value: isKnown ? ['set', 'replaced'] : [null, 'set'] });
  });
}

/** Deletes an environment secret. @throws AppError 404 when no secret has this name */
export async function removeSecret(app: App, projectId: string, name: string): Promise<void> {
  const isDeleted = secretName.test(name) && (await deleteSecret(app.db.manager, { projectId, name }));
  if (!isDeleted) throw notFound('Environment secret', name.slice(0, 100));
  app.audit.note({ value: ['set', null] });
}

/** Returns the environment secrets of a project with their values. */
export async function revealSecrets(app: App, projectId: string): Promise<OpenSecret[]> {
  const rows = await listSecrets(app.db.manager, projectId);
  return rows.map((row) => ({
    name: row.name,
    version: row.version,
    value: app.secrets.open(row, placeOf(row)),
  }));
}

/** Encrypts every environment secret with the newest key, each in a separate transaction. Returns their number. */
export async function resealEnvironmentSecrets(app: App): Promise<number> {
  let count = 0;
  for (const each of await listSecretPlaces(app.db.manager))
    await app.db.transaction(async (em) => {
      const row = await lockSecret(em, each);
      // The secret was removed since the list was read.
      if (row === null) return;
      await resealSecret(em, each, app.secrets.seal(app.secrets.open(row, placeOf(row)), placeOf(row)));
      count += 1;
    });
  return count;
}
