import type { App } from '../../app.ts';
import type { Evidence } from '../../domain/learning/evidence.ts';
import { withoutSecrets } from '../../domain/secrets/without-secrets.ts';
import { knownSecrets } from '../../environment/secrets/known.ts';
import type { FiguresOf } from '../figures-store.ts';
import { listEvidence } from './evidence-store.ts';

/** Longer texts are cut. */
const maxChars = 4000;

/** Returns the evidence of `listEvidence` without secrets, because models and people read it. */
export async function readEvidence(app: App, userId: string, of: FiguresOf): Promise<Evidence[]> {
  // A text is cut after cleaning, because half a secret would not be found.
  const rows = await listEvidence(app.db.manager, userId, of, 2 * maxChars);
  const secrets = new Map<string, string[]>();
  for (const projectId of new Set(rows.map((row) => row.projectId)))
    secrets.set(projectId, await knownSecrets(app, projectId));
  return rows.map(({ projectId, text, ...evidence }) => ({
    ...evidence,
    text: withoutSecrets(text, secrets.get(projectId) ?? []).slice(0, maxChars),
  }));
}
