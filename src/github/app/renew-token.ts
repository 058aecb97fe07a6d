import type { Octokit } from '../../app.ts';

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
export function tokenRenewal() {
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
