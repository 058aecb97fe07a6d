import type { App } from '../../app.ts';
import { LeaseLost } from '../../domain/run.ts';
import { withoutSecrets } from '../../domain/secrets.ts';
import { storable } from '../../domain/text/sanitize.ts';
import type { Image } from '../../llm/model.ts';
import { credentialFor } from '../../repositories/credentials.ts';
import type { AboutRun } from '../about-run.ts';
import { placesOf, readThread, type Thread } from './comments.ts';
import {
  type Access,
  accessWith,
  fetchAgain,
  fetchPictures,
  type Picture,
  type PictureRef,
  type Source,
} from './pictures.ts';

/** The comments and images on a task's issue and pull request. */
export interface Discussion {
  threads: Thread[];
  pictures: PictureRef[];
  /** The images themselves. One that could not be downloaded again is missing. */
  images: Image[];
}

/**
 * Reads the comments on a task's issue and pull request, and the images in them and in the task's description. They are
 * read once in a run and kept in its journal, so that a worker that takes over tells the model the same. Only the images
 * are downloaded again, because ten of them may have 50 MB. When GitHub does not answer, the run goes on without them,
 * and its log says so.
 */
export async function readDiscussion(app: App, work: AboutRun, signal: AbortSignal): Promise<Discussion> {
  let fetched: Picture[] | undefined;
  const stored = await work.journal.once('discussion', async () => {
    const threads = await readThreads(app, work, signal);
    fetched = await readPictures(app, work, threads, signal);
    const pictures = fetched.map(({ url, from, sha256 }) => ({ url, from, sha256 }));
    return storable(withoutSecrets({ threads, pictures }, work.secrets));
  });
  const images = fetched?.map(({ image }) => image) ?? (await imagesAgain(app, work, stored.pictures, signal));
  return { ...stored, images };
}

async function readThreads(app: App, work: AboutRun, signal: AbortSignal): Promise<Thread[]> {
  const threads: Thread[] = [];
  const onRefused = (why: string) => say(work, `the comments on the issue are left out: ${why}`);
  for (const place of await placesOf(app, work, onRefused)) {
    const what = `the comments on the ${place.where}`;
    const thread = await unlessDown(app, work, { what, signal }, () => readThread(app, place, work));
    if (thread === undefined) continue;
    threads.push(thread);
    if (thread.unattributed > 0)
      await say(
        work,
        `GitHub does not say which person edited ${thread.unattributed} of ${what} last, so they are no instructions`,
      );
  }
  return threads;
}

/** Reads the comments since a time. GitHub reports times in whole seconds. They are not kept in the journal. */
export async function commentsSince(app: App, work: AboutRun, from: Date, signal: AbortSignal): Promise<Thread[]> {
  const second = Math.floor(from.getTime() / 1000) * 1000;
  const isNew = ({ at }: Thread['comments'][number]) => Date.parse(at) >= second;
  const threads = await readThreads(app, work, signal);
  return threads.map((thread) => ({ ...thread, isCut: false, comments: thread.comments.filter(isNew) }));
}

/** Downloads the images of the description, then those of the comments, newest first. */
async function readPictures(app: App, work: AboutRun, threads: Thread[], signal: AbortSignal): Promise<Picture[]> {
  const comments = threads.flatMap((thread) => thread.comments).sort((a, b) => b.at.localeCompare(a.at));
  const sources: Source[] = [
    { from: 'from the description', text: work.task.description },
    ...comments.map(({ author, isByWriter, text }) => ({
      from: `from a comment of ${author}${isByWriter ? '' : ', without write permission'}`,
      text,
    })),
  ];
  const read = () => fetchPictures(app, sources, () => accessTo(app, work), signal);
  const found = await unlessDown(app, work, { what: 'the images', signal }, read);
  if (found === undefined) return [];
  const { pictures, problems } = found;
  if (problems.length > 0) await say(work, `these images stay links: ${problems.join('; ')}`);
  return pictures;
}

async function imagesAgain(app: App, work: AboutRun, pictures: PictureRef[], signal: AbortSignal): Promise<Image[]> {
  if (pictures.length === 0) return [];
  const again = async () => fetchAgain(app, pictures, await accessTo(app, work), signal);
  const images = (await unlessDown(app, work, { what: 'the images', signal }, again)) ?? [];
  const missing = pictures.length - images.length;
  if (missing > 0) await say(work, `${missing} of ${pictures.length} images could not be downloaded again`);
  return images;
}

/** Opens the attachments of the task's issue. Their token counts as a secret of the run. */
async function accessTo(app: App, work: AboutRun): Promise<Access> {
  // Why it may not be read was said when the comments were.
  const place = (await placesOf(app, work, async () => {})).find(({ where }) => where === 'issue');
  const credential = place === undefined ? work.credential : await credentialFor(app, place.repository);
  const access = await accessWith(app, credential);
  if (access.token !== undefined) work.secrets.push(access.token);
  return access;
}

/** Returns undefined when GitHub fails, and says so in the log of the run. */
export async function unlessDown<T>(
  app: App,
  work: AboutRun,
  { what, signal }: { what: string; signal: AbortSignal },
  read: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof LeaseLost) throw error;
    app.log.warn({ err: error, runId: work.run.id }, `${what} could not be read`);
    const { status } = error as { status?: number };
    const why = status === undefined ? 'GitHub could not be reached' : `GitHub answered HTTP ${status}`;
    await say(work, `${what} could not be read (${why}); the agent works without them`);
    return undefined;
  }
}

function say({ journal, secrets }: AboutRun, text: string): Promise<void> {
  return journal.note('assignment', withoutSecrets(text, secrets));
}
