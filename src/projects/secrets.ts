import type { App } from '../app.ts';
import type { SecretPlace } from '../db/sealed.ts';
import { ProjectSecrets, type SecretKind } from '../db/tables/project.ts';
import { upsertSecret } from './store.ts';

/**
 * Returns the place that a secret is bound to. Its ciphertext cannot be decrypted in another row, column or project.
 */
function place(projectId: string, kind: SecretKind): SecretPlace {
  return { table: 'project_secrets', row: `${projectId}/${kind}`, column: 'ciphertext', project: projectId };
}

/** Encrypts and stores a project's git or model token. */
export async function keepSecret(app: App, projectId: string, kind: SecretKind, value: string): Promise<void> {
  const { configured } = await secretState(app, projectId, kind);
  await upsertSecret(app.db.manager, { projectId, kind, ...app.secrets.seal(value, place(projectId, kind)) });
  app.audit.note({ [kind]: configured ? ['set', 'replaced'] : [null, 'set'] });
}

/** Returns the decrypted token, for use in this process only; undefined when none is set. */
export async function revealSecret(app: App, projectId: string, kind: SecretKind): Promise<string | undefined> {
  const row = await app.db.manager.findOneBy(ProjectSecrets, { projectId, kind });
  return row === null ? undefined : app.secrets.open(row, place(projectId, kind));
}

export async function secretState(app: App, projectId: string, kind: SecretKind) {
  const row = await app.db.manager.findOneBy(ProjectSecrets, { projectId, kind });
  return { configured: row !== null, updatedAt: row?.updatedAt ?? null };
}

export async function dropSecret(app: App, projectId: string, kind: SecretKind): Promise<void> {
  const { affected } = await app.db.manager.delete(ProjectSecrets, { projectId, kind });
  app.audit.note(affected === 0 ? {} : { [kind]: ['set', null] });
}

/** Encrypts every secret with the newest key, each in a separate transaction. Returns the number of secrets. */
export async function resealSecrets(app: App): Promise<number> {
  const all = await app.db.manager.find(ProjectSecrets, { select: { projectId: true, kind: true } });
  let count = 0;
  for (const { projectId, kind } of all)
    await app.db.transaction(async (em) => {
      const row = await em.findOne(ProjectSecrets, { where: { projectId, kind }, lock: { mode: 'pessimistic_write' } });
      // The secret was removed since the list was read.
      if (row === null) return;
      const at = place(projectId, kind);
      await em.update(ProjectSecrets, { projectId, kind }, app.secrets.seal(app.secrets.open(row, at), at));
      count += 1;
    });
  return count;
}
