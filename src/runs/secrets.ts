import type { App } from '../app.ts';
import { revealSecrets } from '../environment/secrets/operations.ts';
import { revealSecret } from '../projects/secrets.ts';

/**
 * Returns the credentials that a run of this project must not publish. `gitToken` is the one that the run uses; by default
 * that of the project.
 */
export async function secretsFor(app: App, projectId: string, gitToken?: string): Promise<string[]> {
  const ofGit = gitToken ?? (await revealSecret(app, projectId, 'git_token'));
  const modelToken = await revealSecret(app, projectId, 'model_token');
  const ofSetup = (await revealSecrets(app, projectId)).map(({ value }) => value);
  return [ofGit, modelToken, ...ofSetup, ...app.ownSecrets()].filter((s) => s !== undefined);
}
