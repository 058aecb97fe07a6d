import type { App, Octokit } from '../../app.ts';
import type { RepoName } from '../../git/remote-url.ts';
import { fetchAttachment } from '../../outgoing/fetch-from.ts';
import { followRedirects, HttpFailed } from '../../outgoing/follow-redirects.ts';
import { type Credential, checkedAddress, githubUrl, octokitFor } from '../../repositories/credentials.ts';

/** How to reach the attachments of a repository. */
export interface Access {
  /** Sent to GitHub itself only. */
  token: string | undefined;
  /** Returns the signed address of an attachment, or undefined if GitHub gives none. */
  sign(url: string): Promise<string | undefined>;
}

/** How long all attachments together may take. */
const allMs = 60_000;

/** Opens the access of a credential. The token can read one repository. */
export async function accessWith(app: App, credential: Credential): Promise<Access> {
  if (credential.kind !== 'installation' || app.github === undefined)
    return { token: undefined, sign: async () => undefined };
  const { token } = await app.github.mintToken(credential.installationId, credential, { contents: 'read' });
  return { token, sign: async (url) => signedAddress(await octokitFor(app, credential), credential, url) };
}

/**
 * Returns the signed address of an image. github.com answers 404 to installation tokens for the attachments of private
 * repositories (https://github.com/josegonzalez/python-github-backup/issues/477). But when it renders Markdown in the
 * context of the repository, it signs the images in it for five minutes.
 */
export async function signedAddress(
  octokit: Octokit,
  { owner, repo }: RepoName,
  url: string,
): Promise<string | undefined> {
  const rendered = { text: `![](${url})`, mode: 'gfm', context: `${owner}/${repo}` } as const;
  const { data } = await octokit.request('POST /markdown', rendered);
  const [, address] = /<img [^>]{0,2000}?src="(https:[^"]{1,4000})"/.exec(String(data)) ?? [];
  return address?.replaceAll('&amp;', '&');
}

/**
 * Returns a function that downloads attachments. GitHub redirects to signed addresses of its storage. Every address on
 * the way is checked.
 */
export function downloader(app: App, { token, sign }: Access, signal: AbortSignal) {
  const ours = `${githubUrl(app)}/`;
  const fetch = fetchAttachment(checkedAddress(app));
  const within = AbortSignal.any([signal, AbortSignal.timeout(allMs)]);
  const ask = (at: URL) => {
    const isOurs = at.href.startsWith(ours) && token !== undefined;
    const authorization = isOurs ? { Authorization: `Bearer ${token}` } : {};
    const headers = { ...authorization, Accept: 'image/*', 'User-Agent': 'deckhand' };
    return fetch(at.href, { headers, signal: within });
  };
  const follow = async (url: string): Promise<Buffer> => {
    const answer = await followRedirects(new URL(url), ask);
    return Buffer.from(await answer.arrayBuffer());
  };
  return async (url: string): Promise<Buffer> => {
    try {
      return await follow(url);
    } catch (error) {
      const isHidden = error instanceof HttpFailed && error.status === 404;
      const signed = isHidden ? await sign(url).catch(() => undefined) : undefined;
      if (signed === undefined || signed === url) throw error;
      return follow(signed);
    }
  };
}
