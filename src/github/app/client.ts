import type { createAppAuth } from '@octokit/auth-app';
import type { EmitterWebhookEvent } from '@octokit/webhooks';
import type { Probot } from 'probot';
import type { GitHub, GitHubAccount, Octokit } from '../../app.ts';
import { RateLimited } from '../../outgoing/github-errors.ts';
import { listActiveInstallations } from '../store.ts';
import { appItself, keepPace, type Pace } from './pacing.ts';

interface Parts {
  probot: Probot;
  /** Mints installation tokens for git. Each is limited to one repository, unlike the tokens of Probot's clients. */
  appAuth: ReturnType<typeof createAppAuth>;
  pace: Pace;
  anonymous: Octokit;
}

/** Creates the App's access to GitHub from Probot's clients. */
export function githubApp({ probot, appAuth, pace, anonymous }: Parts): GitHub {
  // Probot returns the same client each time. Wrapping it once is enough.
  let app: Promise<Octokit> | undefined;
  const asApp = () => {
    app ??= probot.auth().then((octokit) => keepPace(octokit as Octokit, appItself, pace));
    return app;
  };
  const renewing = tokenRenewal();
  let slug: Promise<string> | undefined;
  let bot: Promise<{ login: string; id: number }> | undefined;
  const github: GitHub = {
    asApp,
    signing: new Map(),
    refused: new Map(),
    asInstallation: async (id) => renewing(keepPace((await probot.auth(id)) as Octokit, id, pace), id),
    mintToken: async (installationId, { githubId, repo }, permissions) => {
      const { token, expiresAt } = await appAuth({
        type: 'installation',
        installationId,
        ...(githubId === null ? { repositoryNames: [repo] } : { repositoryIds: [githubId] }),
        permissions,
        refresh: true,
      });
      return { token, endsAt: new Date(expiresAt) };
    },
    receive: async (delivery) => {
      try {
        await probot.receive(delivery as EmitterWebhookEvent);
      } catch (error) {
        throw withoutPayload(error);
      }
    },
    findUser: (login, ids) => readUser(github, { pace, anonymous }, { login, ids }),
    slug: () => {
      slug ??= readSlug(asApp).catch((error) => {
        slug = undefined;
        throw error;
      });
      return slug;
    },
    bot: () => {
      bot ??= readBot(github).catch((error) => {
        bot = undefined;
        throw error;
      });
      return bot;
    },
  };
  return github;
}

/**
 * Returns the first cause of Probot's error, which describes what went wrong. The error itself contains the whole
 * event, which does not belong in the log.
 */
function withoutPayload(error: unknown): unknown {
  const first = error instanceof AggregateError ? error.errors[0] : error;
  if (!(first instanceof Error)) return first;
  const { request, response } = first as { request?: { url?: string }; response?: { headers?: object } };
  for (const name of ['event', 'request', 'response']) Reflect.deleteProperty(first, name);
  // They tell whether GitHub answered, and when it may be asked again.
  return Object.assign(first, {
    ...(request?.url === undefined ? {} : { request: { url: request.url } }),
    ...(response?.headers === undefined ? {} : { response: { headers: response.headers } }),
  });
}

async function readSlug(asApp: () => Promise<Octokit>): Promise<string> {
  const { data } = await (await asApp()).request('GET /app');
  if (!data?.slug) throw new Error('GitHub does not know this App; check APP_ID and PRIVATE_KEY');
  return data.slug;
}

async function readBot(github: GitHub): Promise<{ login: string; id: number }> {
  const login = `${await github.slug()}[bot]`;
  const user = await github.findUser(login);
  if (user === undefined) throw new Error(`GitHub has no user ${login}, which should be the App's bot`);
  return { login: user.login, id: user.id };
}

/** At most this many installations are asked about a user. */
const maxAsked = 5;

/**
 * Finds a user with the client of an installation that GitHub accepts, or without a token: the App's own token works for
 * `/app` only, and the token of a suspended or walled installation not at all.
 */
async function readUser(
  github: GitHub,
  { pace, anonymous }: Pick<Parts, 'pace' | 'anonymous'>,
  { login, ids }: { login: string; ids: number[] | undefined },
): Promise<GitHubAccount | undefined> {
  for (const id of ids ?? (await someInstallations(github, pace.db)))
    try {
      return await userWith(await github.asInstallation(id), login);
    } catch (error) {
      // An installation that has used up its hour does not ask without a token instead: everybody shares that hour.
      if (ids !== undefined && error instanceof RateLimited) throw error;
      // The next one may work, and a failure of GitHub as a whole shows in the last request.
    }
  return userWith(anonymous, login);
}

/** Returns the ids of installations that can be asked. GitHub is asked for them only while none that works is stored. */
async function someInstallations(github: GitHub, { manager }: Pace['db']): Promise<number[]> {
  const stored = (await listActiveInstallations(manager)).filter(({ problem }) => problem === null);
  if (stored.length > 0) return stored.slice(0, maxAsked).map(({ installationId }) => installationId);
  const { data } = await (await github.asApp()).request('GET /app/installations', { per_page: 100 });
  const usable = data.filter(({ suspended_at }) => !suspended_at);
  return usable.slice(0, maxAsked).map(({ id }) => id);
}

async function userWith(octokit: Octokit, username: string): Promise<GitHubAccount | undefined> {
  try {
    const { data } = await octokit.request('GET /users/{username}', { username });
    return { id: Number(data.id), login: data.login, name: data.name ?? null, avatar_url: data.avatar_url };
  } catch (error) {
    const isOfUser = (error as { request?: { url?: string } }).request?.url?.includes('/users/') ?? false;
    if ((error as { status?: number }).status === 404 && isOfUser) return undefined;
    throw error;
  }
}

/** For a permission that is really missing, each installation sends one request twice in this time, and gets one token. */
const pauseMs = 60_000;

interface Renewal {
  done: Promise<unknown>;
  /** Infinite until it has ended. */
  endedAt: number;
}

/**
 * Returns a function that makes the client of an installation send a request once more, with a new token, when the
 * permissions of the old one refuse it. A token keeps the permissions that it was created with, and Probot keeps the token
 * for 59 minutes. Without this, what an owner accepts would count only after that time.
 */
function tokenRenewal() {
  const renewals = new Map<number, Renewal>();
  /** Returns whether there is a token that is newer than a request sent at `sentAt`. Gets one, but not more often than each `pauseMs`. */
  const renew = async (octokit: Octokit, installationId: number, sentAt: number): Promise<boolean> => {
    const known = renewals.get(installationId);
    if (known !== undefined && known.endedAt > sentAt) {
      await known.done;
      return true;
    }
    if (known !== undefined && performance.now() - known.endedAt < pauseMs) return false;
    const renewal: Renewal = { done: octokit.auth({ type: 'installation', refresh: true }), endedAt: Infinity };
    renewals.set(installationId, renewal);
    try {
      await renewal.done;
    } finally {
      renewal.endedAt = performance.now();
    }
    return true;
  };
  return (octokit: Octokit, installationId: number): Octokit => {
    octokit.hook.wrap('request', async (request, options) => {
      const sentAt = performance.now();
      try {
        const answer = await request(options);
        if (!lacksPermission(answer.data) || !(await renew(octokit, installationId, sentAt))) return answer;
      } catch (error) {
        if (!isRefused(error) || !(await renew(octokit, installationId, sentAt))) throw error;
      }
      return request(options);
    });
    return octokit;
  };
}

/** GitHub's words for an App without the permission (docs.github.com, "Troubleshooting the REST API"). */
const lack = /^Resource not accessible by integration/;

function isRefused(error: unknown): boolean {
  const { status, message } = error as { status?: number; message?: string };
  return status === 403 && lack.test(message ?? '');
}

/** Returns whether GraphQL refused something for lack of a permission. It does so with status 200. */
function lacksPermission(data: unknown): boolean {
  const { errors } = (data ?? {}) as { errors?: unknown };
  return Array.isArray(errors) && errors.some((each) => lack.test(String(each?.message)));
}
