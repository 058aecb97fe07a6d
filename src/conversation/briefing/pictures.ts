import { createHash } from 'node:crypto';
import type { App, Octokit } from '../../app.ts';
import type { RepoName } from '../../git/remote-url.ts';
import type { Image } from '../../llm/model.ts';
import { fetchAttachment, followRedirects, HttpFailed } from '../../outgoing/fetch-from.ts';
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
function downloader(app: App, { token, sign }: Access, signal: AbortSignal) {
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

/** Text of the assignment in which people may have put images. */
export interface Source {
  /** Where the text is from, to tell the agent. */
  from: string;
  text: string;
}

/** Where an image was found. Its digest shows that a later download brought the same image. */
export interface PictureRef {
  url: string;
  from: string;
  sha256: string;
}

export interface Picture extends PictureRef {
  image: Image;
}

const maxPictures = 10;
/** At most this many attachments are downloaded to find ten images among them. */
const maxDownloads = 20;

/**
 * Downloads the images that people attached on GitHub itself. Links to other hosts stay links, and so do attachments that
 * are not images, are too large or cannot be downloaded; `problems` names the last two. Images are never decoded here.
 */
export async function fetchPictures(
  app: App,
  sources: Source[],
  open: () => Promise<Access>,
  signal: AbortSignal,
): Promise<{ pictures: Picture[]; problems: string[] }> {
  const pictures: Picture[] = [];
  const problems: string[] = [];
  const attachments = attachmentsIn(sources, githubUrl(app)).slice(0, maxDownloads);
  if (attachments.length === 0) return { pictures, problems };
  const download = downloader(app, await open(), signal);
  for (const { url, from } of attachments) {
    if (pictures.length === maxPictures) break;
    try {
      const bytes = await download(url);
      const image = imageOf(bytes);
      if (image !== undefined) pictures.push({ url, from, sha256: digestOf(bytes), image });
    } catch (error) {
      signal.throwIfAborted();
      problems.push(`${url}: ${(error as Error).message}`);
    }
  }
  return { pictures, problems };
}

/** Downloads images again for a worker that takes over. One that is gone or has changed is left out. */
export async function fetchAgain(
  app: App,
  pictures: PictureRef[],
  access: Access,
  signal: AbortSignal,
): Promise<Image[]> {
  const download = downloader(app, access, signal);
  const images: Image[] = [];
  for (const { url, sha256 } of pictures) {
    const bytes = await download(url).catch(() => undefined);
    signal.throwIfAborted();
    const image = bytes !== undefined && digestOf(bytes) === sha256 ? imageOf(bytes) : undefined;
    if (image !== undefined) images.push(image);
  }
  return images;
}

/** Returns the URLs of attachments on this GitHub, each once, in the order of the sources. */
function attachmentsIn(sources: Source[], githubUrl: string): { url: string; from: string }[] {
  const attachment = new RegExp(
    `${githubUrl.replace(/[^\w/:-]/g, '\\$&')}/(?:user-attachments/[\\w.%/-]{1,300}|[\\w.-]{1,100}/[\\w.-]{1,100}/assets/\\d{1,20}/[\\w-]{1,100}|storage/user/\\d{1,20}/files/[\\w-]{1,100})`,
    'g',
  );
  const found = new Map<string, string>();
  for (const { from, text } of sources)
    for (const [match] of text.matchAll(attachment)) {
      const url = match.replace(/[./]+$/, '');
      // A path with `..` in it leads elsewhere.
      if (!found.has(url) && new URL(url).href === url) found.set(url, from);
    }
  return [...found].map(([url, from]) => ({ url, from }));
}

/** The first bytes of the formats that models accept. */
const signatures: [Image['mediaType'], (bytes: Buffer) => boolean][] = [
  ['image/png', (bytes) => bytes.subarray(0, 8).equals(Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'))],
  ['image/jpeg', (bytes) => bytes.subarray(0, 3).equals(Buffer.from('\xff\xd8\xff', 'latin1'))],
  ['image/gif', (bytes) => /^GIF8[79]a$/.test(bytes.toString('latin1', 0, 6))],
  ['image/webp', (bytes) => /^RIFF....WEBP$/s.test(bytes.toString('latin1', 0, 12))],
];

function imageOf(bytes: Buffer): Image | undefined {
  const mediaType = signatures.find(([, fits]) => fits(bytes))?.[0];
  return mediaType && { mediaType, base64: bytes.toString('base64') };
}

function digestOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
