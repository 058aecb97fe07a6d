import type { App } from '../../app.ts';
import { revealSecret } from '../../projects/secrets.ts';
import { revealAllSecrets } from './operations.ts';

/** Returns all secrets that the service knows of a project, and its own. None of them may reach a model or people. */
export async function knownSecrets(app: App, projectId: string): Promise<string[]> {
  const tokens = [
    await revealSecret(app, projectId, 'model_token'),
    await revealSecret(app, projectId, 'git_token'),
  ].filter((token) => token !== undefined);
  const ofSetup = (await revealAllSecrets(app, projectId)).map(({ value }) => value);
  return [...tokens, ...ofSetup, ...app.ownSecrets()];
}
