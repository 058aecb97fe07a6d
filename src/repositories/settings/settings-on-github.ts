import type { Octokit } from '../../app.ts';
import type { RepoName } from '../../git/remote-url.ts';
import { isRefusedWith } from '../../outgoing/github-errors.ts';
import { noSettings, parseSettings, settingsFile } from './repository-settings.ts';
import type { RepositorySettings } from './schema.ts';

/**
 * Reads the settings of a repository through GitHub's API, without a clone; by default those of its default branch.
 * @throws RunFailed `repository` when the file is invalid, and the error of GitHub when it cannot be asked
 */
export async function settingsOnGitHub(octokit: Octokit, at: RepoName & At): Promise<RepositorySettings> {
  const file = await readSettingsFile(octokit, at);
  return file === undefined ? noSettings : parseSettings(file);
}

/** Returns whether the settings file has a word, for settings that cannot be used. */
export async function mentionsInSettings(octokit: Octokit, at: RepoName & At, word: string): Promise<boolean> {
  const file = await readSettingsFile(octokit, at);
  return file !== undefined && file !== 'too large' && file.includes(word);
}

async function readSettingsFile(octokit: Octokit, at: RepoName & At): Promise<Buffer | 'too large' | undefined> {
  const path = 'GET /repos/{owner}/{repo}/contents/{path}';
  const file = await octokit.request(path, { ...at, path: settingsFile }).then(
    ({ data }) => data,
    (error) => {
      if (isRefusedWith(error, 404)) return undefined;
      throw error;
    },
  );
  if (file === undefined || !('content' in file)) return undefined;
  // GitHub sends no content of files above 1 MB.
  return file.encoding === 'base64' ? Buffer.from(file.content, 'base64') : 'too large';
}

interface At {
  ref?: string;
  request?: { signal: AbortSignal };
}
