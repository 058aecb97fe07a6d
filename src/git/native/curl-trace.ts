import { retryAfterMs } from '../../domain/patience.ts';
import { GitFailed, type GitFault } from '../engine.ts';

/** Longer lines are cut, because a hostile server can make git log lines of any length. */
const maxLine = 8192;

/**
 * Reads git's log of HTTP headers (`GIT_TRACE_CURL`). Git's error messages are unsuitable for decisions: they vary
 * between versions and contain text of the remote. Git also takes any web page for an empty repository served over the
 * old "dumb" protocol.
 */
export function curlTrace() {
  let rest = '';
  let last: { status: number; type: string; retryAfterMs: number | undefined } | undefined;
  /** The content type of the first successful response that was not git data. */
  let page: string | undefined;
  const read = (line: string) => {
    const [, name, value = ''] = /<= Recv header: (HTTP\/[\d.]+|[\w-]+):? (.*)/.exec(line) ?? [];
    if (name === undefined) return;
    if (name.startsWith('HTTP/')) {
      finish();
      last = { status: Number.parseInt(value, 10), type: '', retryAfterMs: undefined };
    } else if (last !== undefined && name.toLowerCase() === 'retry-after') last.retryAfterMs = retryAfterMs(value);
    else if (last !== undefined && name.toLowerCase() === 'content-type') last.type = value.trim();
  };
  const finish = () => {
    if (last?.status === 200 && !isOfGit(last.type)) page ??= last.type;
  };
  return {
    hear: (chunk: string): void => {
      const lines = (rest + chunk).split('\n');
      rest = (lines.pop() ?? '').slice(0, maxLine);
      lines.forEach(read);
    },
    /** Returns the fault that the responses indicate, or undefined when there is none. */
    fault: (): GitFailed | undefined => {
      finish();
      return page === undefined ? last && answerFault(last) : notGit(page);
    },
  };
}

export function isOfGit(contentType: string): boolean {
  return contentType.startsWith('application/x-git-');
}

/** Returns the fault that an HTTP status stands for, for both engines, or undefined when it stands for none. */
export function answerFault({
  status,
  retryAfterMs: waitMs,
}: {
  status: number;
  retryAfterMs: number | undefined;
}): GitFailed | undefined {
  const fault = faultOf(status, waitMs);
  return fault && new GitFailed(fault, `git: the host answered with HTTP ${status}`, waitMs);
}

function faultOf(status: number, waitMs: number | undefined): GitFault | undefined {
  if (status === 429 || status >= 500) return 'unreachable';
  // GitHub also uses 403, with a Retry-After header, for rate limits.
  if (status === 401 || status === 403) return waitMs === undefined ? 'auth' : 'unreachable';
  // Redirects are not followed: when a repository has moved, a person has to connect its new address.
  if (status === 404 || status === 410 || (status >= 300 && status < 400)) return 'missing';
  return undefined;
}

export function notGit(contentType: string): GitFailed {
  const type = /^[\w.+/-]{1,100}/.exec(contentType)?.[0] ?? 'data of no known type';
  return new GitFailed('not_git', `git: the host answered with ${type} instead of git data`);
}
