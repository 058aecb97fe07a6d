import type { App, Octokit } from '../../app.ts';
import type { RepoName } from '../../git/remote-url.ts';
import { fetchAttachment } from '../../outgoing/fetch-from.ts';
import { type Credential, hostRules, octokitFor } from '../../repositories/credentials.ts';
import { checkedAddress } from '../outgoing/checked-address.ts';

/** How to reach the attachments of a repository. */
export interface Access {
  /** Sent to GitHub itself only. */
  token: string | undefined;
  /** Returns the signed address of an attachment, or undefined if GitHub gives none. */
  sign(url: string): Promise<string | undefined>;
}

/** How long all attachments together may take. */
const allMs = 60_000;
const maxRedirects = 3;

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

/** The response had this status, which is not a success. */
class HttpFailed extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`HTTP ${status}`);
    this.status = status;
  }
}

/**
 * Returns a function that downloads attachments. GitHub redirects to signed addresses of its storage. Every address on
 * the way is checked.
 */
export function downloader(app: App, { token, sign }: Access, signal: AbortSignal) {
  const { githubOrigin } = hostRules(app);
  const fetch = fetchAttachment(checkedAddress(app));
  const within = AbortSignal.any([signal, AbortSignal.timeout(allMs)]);
  const ask = (at: URL) => {
    const isOurs = at.origin === githubOrigin && token !== undefined;
    const authorization = isOurs ? { Authorization: `Bearer ${token}` } : {};
    const headers = { ...authorization, Accept: 'image/*', 'User-Agent': 'deckhand' };
    return fetch(at.href, { headers, signal: within });
  };
  const follow = async (url: string): Promise<Buffer> => {
    let at = new URL(url);
    for (let redirects = 0; redirects <= maxRedirects; redirects++) {
      const answer = await ask(at);
      const location = answer.headers.get('location');
      if (answer.ok) return Buffer.from(await answer.arrayBuffer());
      if (answer.status < 300 || answer.status > 399 || location === null) throw new HttpFailed(answer.status);
      if (!URL.canParse(location, at.href)) throw new Error('redirects to an invalid address');
      at = new URL(location, at);
    }
    throw new Error('redirects too often');
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
