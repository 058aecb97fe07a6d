import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { App } from '../../app.ts';
import type { EnvironmentSecretRow } from '../../db/tables/environment.ts';
import type { RepositoryRow } from '../../db/tables/project.ts';
import { changesBetween } from '../../domain/audit.ts';
import { Refused } from '../../domain/machine.ts';
import { isTakenVariable, secretName } from '../../domain/settings.ts';
import { isHardToGuess } from '../../domain/text/hard-to-guess.ts';
import { badField, notFound } from '../../errors.ts';
import { type Access, anyUser, type InProject, inProject } from '../../http/access/access.ts';
import { IdText, type Route, route, Timestamp } from '../../http/route.ts';
import { registryHost } from '../../images/reference.ts';
import { revealSecret } from '../../projects/secrets.ts';
import { listProjectRepositories, lockProjectRow } from '../../repositories/store.ts';
import {
  deleteSecret,
  listSecretPlaces,
  listSecretRows,
  listSecretRowsOf,
  listSecretSizes,
  listSecrets,
  listUnassigned,
  lockSecret,
  placeOf,
  resealSecret,
  upsertSecret,
} from './store.ts';

/**
 * Returns the secrets to search for in what is written about some repositories of a project. Those of these repositories are
 * all included. Those of other repositories, of the project and of the service are included only if nobody can guess them:
 * a refusal tells an agent that a guess was right, and it can write a million guesses into one file.
 */
export async function knownSecrets(app: App, projectId: string, repositoryIds: string[]): Promise<string[]> {
  const own = new Set<string>();
  for (const id of repositoryIds) for (const { value } of await revealSecrets(app, { id, projectId })) own.add(value);
  const others = [
    await revealSecret(app, projectId, 'model_token'),
    await revealSecret(app, projectId, 'git_token'),
    ...(await revealAllSecrets(app, projectId)).map(({ value }) => value),
    ...app.ownSecrets(),
  ].filter((secret) => secret !== undefined);
  return [...own, ...others.filter((secret) => !own.has(secret) && isHardToGuess(secret))];
}

/** Shorter values cannot be searched for, because they would match by chance. */
const leastChars = 8;
const maxBytes = 32_768;
/** The most repositories of one secret, and the most registries. */
const [maxRepositories, maxHosts] = [1000, 20];

const host = z.string().transform((text, context) => {
  const found = registryHost(text);
  if (found !== undefined) return found;
  context.addIssue('must be the host of a registry such as registry.example.org or registry.example.org:5000');
  return z.NEVER;
});

export const SetEnvironmentSecret = z.strictObject({
  value: z
    .string()
    .min(leastChars, `must have at least ${leastChars} characters`)
    .refine((value) => Buffer.byteLength(value) <= maxBytes, 'must have at most 32 kB')
    .refine((value) => !value.includes('\0'), 'must not contain a NUL character'),
  repositories: z.array(IdText).max(maxRepositories, `must have at most ${maxRepositories} entries`).optional().meta({
    description:
      'ids of the repositories of the project that may use the secret; without it, the only repository of the project',
  }),
  hosts: z.array(host).max(maxHosts, `must have at most ${maxHosts} entries`).default([]).meta({
    description:
      'registries, and their token services, that may get the secret as a credential of `imageAuth`, with the port unless it is 443',
  }),
});

const EnvironmentSecret = z
  .object({
    name: z.string(),
    createdAt: Timestamp,
    repositories: z.array(z.string()).meta({ description: 'ids of the repositories that may use it' }),
    hosts: z.array(z.string()).meta({ description: 'hosts that may get it as a credential for an image' }),
  })
  .meta({ id: 'EnvironmentSecret' });

const UnassignedSecrets = z
  .object({ projectId: z.string(), names: z.array(z.string()) })
  .meta({ id: 'UnassignedSecrets' });

/** The most secrets of a project. */
const maxSecrets = 100;
/**
 * The most bytes of a project's secrets together. All texts of its runs and chats are searched for them, in twenty
 * encodings.
 */
const maxTotalBytes = 262_144;

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
 * @throws AppError 400 for an unsuitable name, for repositories that are not in the project, or when the values together
 * are too large; Refused when the project has too many secrets
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
    assertSmall(await listSecretSizes(em, projectId), name, value);
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

/**
 * Secrets of an older version may be larger together, so a value that is not larger than the one it replaces is allowed.
 * @throws AppError 400 on `value`
 */
function assertSmall(sizes: Map<string, number>, name: string, value: string): void {
  const before = sizes.get(name) ?? 0;
  const bytes = Buffer.byteLength(value);
  const total = [...sizes.values()].reduce((sum, each) => sum + each, bytes - before);
  if (total <= maxTotalBytes || bytes <= before) return;
  throw badField(
    'value',
    `value is too large: the environment secrets of a project may have ${maxTotalBytes} bytes together, and with this one they would have ${total}. Delete secrets that are no longer used, or keep large files elsewhere`,
  );
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
async function removeSecret(app: App, projectId: string, name: string): Promise<void> {
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

const path = '/projects/:projectId/environment-secrets';
const tag = 'projects';

/** Adds the name in the path to what the handler receives. It need not exist. */
function ofName(role: 'admin'): Access<InProject & { name: string }> {
  const project = inProject(role);
  return {
    ...project,
    load: async (app, asked) => ({ ...(await project.load(app, asked)), name: asked.params.name ?? '' }),
  };
}

export const environmentSecretRoutes: Route[] = [
  route({
    operationId: 'listUnassignedSecrets',
    method: 'get',
    path: '/me/unassigned-secrets',
    summary: 'List the environment secrets that no repository may use, in all projects that the caller can administer',
    guide: null,
    tag,
    access: anyUser,
    reply: [200, z.array(UnassignedSecrets)],
    handle: (app, { user }) => listUnassigned(app.db.manager, user.id),
  }),
  route({
    operationId: 'listEnvironmentSecrets',
    method: 'get',
    path,
    summary: 'List the environment secrets of a project. Their values are never shown',
    tag,
    access: inProject('viewer'),
    reply: [200, z.array(EnvironmentSecret)],
    handle: (app, { projectId }) => listSecrets(app.db.manager, projectId),
  }),
  route({
    operationId: 'setEnvironmentSecret',
    method: 'put',
    path: `${path}/:name`,
    summary:
      'Set an environment secret with the repositories that may use it. A secret that exists is replaced as a whole',
    guide: null,
    tag,
    access: ofName('admin'),
    audit: { action: 'secret.set', object: ({ name, projectId }) => ({ id: name, projectId }) },
    body: SetEnvironmentSecret,
    reply: [204],
    errors: { 409: 'The project has too many environment secrets' },
    handle: (app, { projectId, name, body }) => setSecret(app, projectId, name, body),
  }),
  route({
    operationId: 'removeEnvironmentSecret',
    method: 'delete',
    path: `${path}/:name`,
    summary: 'Delete an environment secret',
    tag,
    access: ofName('admin'),
    audit: { action: 'secret.remove', object: ({ name, projectId }) => ({ id: name, projectId }) },
    reply: [204],
    handle: (app, { projectId, name }) => removeSecret(app, projectId, name),
  }),
];
