import { listProjects, type Project } from '../api.ts';
import { type Service, service } from '../connection.ts';
import { DeckhandError } from '../errors.ts';
import { CommandFailed, UsageError } from './failures.ts';
import { atEnd } from './id-ends.ts';
import { type Login, readLogin } from './login-file.ts';
import type { Terminal } from './terminal.ts';

/** Options of every command. */
export interface GlobalOptions {
  json?: boolean;
  url?: string;
  project?: string;
  ca?: string;
}

/** A service, and the person who calls it. */
export interface Session {
  at: Service;
  url: string;
  /** Finds the project of a command. @throws UsageError when it is not clear which is meant */
  project(): Promise<Project>;
}

/** Compares the addresses without a slash at the end. */
const plain = (url: string) => url.replace(/\/+$/, '');

/**
 * Opens the service of `--url`, DECKHAND_URL or the stored login. A stored token is sent only to the service for which it
 * was stored.
 */
export async function openSession(
  options: GlobalOptions,
  env: NodeJS.ProcessEnv,
  terminal: Terminal,
): Promise<Session> {
  const login = await storedLogin(env);
  const url = options.url ?? (env.DECKHAND_URL || undefined) ?? login?.url;
  if (url === undefined)
    throw new CommandFailed(
      'You are not logged in. Run "deckhand login <address>", or set DECKHAND_URL and DECKHAND_TOKEN.',
    );
  const own = login !== undefined && plain(login.url) === plain(url) ? login : undefined;
  const token = env.DECKHAND_TOKEN?.trim() || own?.token;
  if (token === undefined)
    throw new CommandFailed(
      login === undefined
        ? `There is no token for ${url}. Run "deckhand login ${url}", or set DECKHAND_TOKEN.`
        : `You are logged in to ${login.url}, not to ${url}. Run "deckhand login ${url}", or set DECKHAND_TOKEN.`,
    );
  terminal.hide(token);
  const at = service({ url, token });
  return { at, url: plain(url), project: () => findProject(at, options.project ?? own?.project) };
}

/** With both variables set, the stored login is not read. */
async function storedLogin(env: NodeJS.ProcessEnv): Promise<Login | undefined> {
  return env.DECKHAND_URL && env.DECKHAND_TOKEN ? undefined : readLogin(env);
}

/** The service lists at most so many at once. */
const pageSize = 100;

/** Finds a project by its id, a unique end of its id, its slug or its name; without any of these, the only one. */
export async function findProject(at: Service, wanted: string | undefined): Promise<Project> {
  const all: Project[] = [];
  for (let offset = 0; ; offset += pageSize) {
    const page = await listProjects({ limit: pageSize, offset }, at);
    all.push(...page);
    if (page.length < pageSize) break;
  }
  const names = () => all.map(({ slug, id }) => `  ${slug}  ${id}`).join('\n');
  if (wanted === undefined) {
    const [only, another] = all;
    if (only === undefined)
      throw new CommandFailed('You are in no project. Create one in the dashboard, or ask its owner to add you.');
    if (another !== undefined)
      throw new UsageError(`You are in several projects. Name one with --project, or at "deckhand login":\n${names()}`);
    return only;
  }
  const found = all.filter(({ id, slug, name }) => [id, slug, name].includes(wanted));
  const [project, another] = found.length > 0 ? found : all.filter(({ id }) => atEnd(id, wanted));
  if (project === undefined) throw new CommandFailed(`There is no project ${wanted}. Yours are:\n${names()}`);
  if (another !== undefined)
    throw new UsageError(`Several projects are called ${wanted}. Give one of these ids:\n${names()}`);
  return project;
}

/** Returns whether the service does not know the address of a request, because it is older than this program. */
export const isUnknownAddress = (error: unknown): boolean =>
  error instanceof DeckhandError && error.status === 404 && error.message === 'No such address';
