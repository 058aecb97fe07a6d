import { randomUUID } from 'node:crypto';
import type { z } from 'zod';
import type { App } from '../../app.ts';
import type { EnvironmentSecretRow } from '../../db/tables/environment.ts';
import type { RepositoryRow } from '../../db/tables/project.ts';
import { changesBetween } from '../../domain/audit/changes.ts';
import { Refused } from '../../domain/machine.ts';
import { isTakenVariable, secretName } from '../../domain/settings/environment-secret.ts';
import { badField, notFound } from '../../errors.ts';
import { listProjectRepositories, lockProjectRow } from '../../repositories/store.ts';
import type { SetEnvironmentSecret } from './schemas.ts';
import {
  deleteSecret,
  listSecretPlaces,
  listSecretRows,
  listSecretRowsOf,
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
  /** Changes with every value. */
  version: string;
  /** The registries that may get it as a credential for an image. */
  hosts: string[];
}

/**
 * Stores an environment secret of a project, or replaces it with its value, repositories and hosts.
 * @throws AppError 400 for an unsuitable name, or for repositories that are not in the project; Refused when the project
 * has too many secrets
 */
export async function setSecret(
  app: App,
  projectId: string,
  name: string,
  { value, repositories, hosts }: z.output<typeof SetEnvironmentSecret>,
): Promise<void> {
  if (!secretName.test(name))
    throw badField('name', 'name must have 1 to 64 capital letters, digits or _, and begin with a letter');
  if (isTakenVariable(name))
    throw badField('name', `name must not be ${name}, which is a variable that the sandbox sets`);
  await app.db.transaction(async (em) => {
    await lockProjectRow(em, projectId);
    const chosen = chosenFrom(await listProjectRepositories(em, projectId), repositories);
    const known = await listSecrets(em, projectId);
    const before = known.find((each) => each.name === name);
    if (known.length >= maxSecrets && before === undefined)
      throw new Refused(`The project has ${maxSecrets} environment secrets, which is the limit. Delete one first.`);
    const sealed = app.secrets.seal(value, placeOf({ projectId, name }));
    const row = { projectId, name, ...sealed, version: randomUUID(), hosts: [...new Set(hosts)] };
    await upsertSecret(em, row, chosen);
    const after = { repositories: chosen, hosts: row.hosts };
    app.audit.note({
      value: before === undefined ? [null, 'set'] : ['set', 'replaced'],
      ...changesBetween({ repositories: before?.repositories ?? [], hosts: before?.hosts ?? [] }, after, [
        'repositories',
        'hosts',
      ]),
    });
  });
}

/** Returns the ids of the chosen repositories, oldest repository first. @throws AppError 400 on `repositories` */
function chosenFrom(ofProject: RepositoryRow[], ids: string[] | undefined): string[] {
  const all = ofProject.map(({ id }) => id);
  if (ids === undefined && all.length === 1) return all;
  if (ids === undefined)
    throw badField(
      'repositories',
      `repositories is required, because the project has ${all.length} repositories; list the ids of those that may use the secret`,
    );
  const unknown = ids.find((id) => !all.includes(id));
  if (unknown !== undefined)
    throw badField('repositories', `repositories has ${unknown.slice(0, 100)}, which is no repository of the project`);
  return all.filter((id) => ids.includes(id));
}

/** Deletes an environment secret. @throws AppError 404 when no secret has this name */
export async function removeSecret(app: App, projectId: string, name: string): Promise<void> {
  const isDeleted = secretName.test(name) && (await deleteSecret(app.db.manager, { projectId, name }));
  if (!isDeleted) throw notFound('Environment secret', name.slice(0, 100));
  app.audit.note({ value: ['set', null] });
}

/** Returns the environment secrets that belong to a repository now, with their values. */
export async function revealSecrets(app: App, repository: Pick<RepositoryRow, 'id' | 'projectId'>) {
  return opened(app, await listSecretRowsOf(app.db.manager, repository));
}

/** Returns all environment secrets of a project with their values. For searching only: no command may get them. */
export async function revealAllSecrets(app: App, projectId: string): Promise<OpenSecret[]> {
  return opened(app, await listSecretRows(app.db.manager, projectId));
}

function opened(app: App, rows: EnvironmentSecretRow[]): OpenSecret[] {
  return rows.map((row) => {
    const { name, version, hosts } = row;
    return { name, version, hosts, value: app.secrets.open(row, placeOf(row)) };
  });
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
