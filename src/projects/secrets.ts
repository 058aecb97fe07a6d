import type { App } from '../app.ts';
import type { SecretPlace } from '../db/secret-box.ts';
import { ProjectSecrets, type SecretKind } from '../db/tables.ts';
import { upsertSecret } from './store.ts';

function place(projectId: string, kind: SecretKind): SecretPlace {
  return { table: 'project_secrets', row: `${projectId}/${kind}`, column: 'ciphertext', project: projectId };
}

/** Stores a project's git or model token, encrypted. */
export async function keepSecret(app: App, projectId: string, kind: SecretKind, value: string): Promise<void> {
  await upsertSecret(app.db.manager, { projectId, kind, ...app.secrets.seal(value, place(projectId, kind)) });
}

/** The stored token in the clear, for use in this process only; undefined when none is set. */
export async function revealSecret(app: App, projectId: string, kind: SecretKind): Promise<string | undefined> {
  const row = await app.db.manager.findOneBy(ProjectSecrets, { projectId, kind });
  return row === null ? undefined : app.secrets.open(row, place(projectId, kind));
}

export async function secretState(app: App, projectId: string, kind: SecretKind) {
  const row = await app.db.manager.findOneBy(ProjectSecrets, { projectId, kind });
  return { configured: row !== null, updatedAt: row?.updatedAt ?? null };
}

export async function dropSecret(app: App, projectId: string, kind: SecretKind): Promise<void> {
  await app.db.manager.delete(ProjectSecrets, { projectId, kind });
}
