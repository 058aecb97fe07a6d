import type { Octokit } from '../../app.ts';
import type { OwnedFiles } from '../../domain/text/code-owners.ts';
import type { RepoName } from '../../git/remote-url.ts';
import { isRefusedWith } from '../../outgoing/github-errors.ts';
import { apart } from '../../threads/apart.ts';
import { OverLimit } from '../../threads/start-thread.ts';

/** Where GitHub looks for the file, in this order. It uses the first one. */
const places = ['.github/CODEOWNERS', 'CODEOWNERS', 'docs/CODEOWNERS'];
/** Larger files are not read. GitHub reads up to 3 MB. */
const maxBytes = 256 * 1024;

/** Ordinary files take milliseconds. A pattern can be written so that matching takes forever. */
const matcher = apart<typeof import('../../domain/text/code-owners.ts')>(
  new URL('../../domain/text/code-owners.ts', import.meta.url),
  { seconds: 2, heapMb: 128 },
);

type At = RepoName & { ref: string; request: { signal: AbortSignal } };

/** Reads the CODEOWNERS file of a branch. Returns undefined when there is none, and `too large` beyond 256 kB. */
export async function readCodeOwners(octokit: Octokit, at: At): Promise<string | 'too large' | undefined> {
  for (const path of places) {
    const file = await octokit.request('GET /repos/{owner}/{repo}/contents/{path}', { ...at, path }).then(
      ({ data }) => data,
      (error) => {
        if (isRefusedWith(error, 403, 404)) return undefined;
        throw error;
      },
    );
    if (file === undefined || !('content' in file)) continue;
    if (file.encoding !== 'base64' || file.size > maxBytes) return 'too large';
    return Buffer.from(file.content, 'base64').toString('utf8');
  }
  return undefined;
}

/** Returns the owners of files, in groups; undefined when there are too many patterns, or matching takes too long. */
export async function matchOwners(text: string, paths: string[]): Promise<OwnedFiles[] | undefined> {
  return matcher.call('ownersOf', text, paths).catch((error) => {
    if (error instanceof OverLimit) return undefined;
    throw error;
  });
}
