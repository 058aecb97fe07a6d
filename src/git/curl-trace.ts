import { retryAfterMs } from '../domain/patience.ts';
import { GitFailed, type GitFault } from './engine.ts';

/** More of a line is dropped; of a hostile answer git hands on whatever comes. */
const maxLine = 8192;

/**
 * Reads what git logs about HTTP (`GIT_TRACE_CURL`): git tells of an answer that fails only in words, which vary with its
 * version and with what the remote says, and takes any page for an empty repository of the old, dumb protocol.
 */
export function curlTrace() {
  let rest = '';
  let last: { status: number; type: string; retryAfterMs: number | undefined } | undefined;
  /** The type of the first successful answer that was not of git. */
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
    /** What went wrong by the answers of the remote; undefined when they were as they should be, or there was none. */
    fault: (): GitFailed | undefined => {
      finish();
      return page === undefined ? last && answerFault(last) : notGit(page);
    },
  };
}

export function isOfGit(contentType: string): boolean {
  return contentType.startsWith('application/x-git-');
}

/** What an answer of HTTP says is wrong, for both engines; undefined when it says nothing of that. */
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
  // GitHub refuses with 403 what comes too often, too.
  if (status === 401 || status === 403) return waitMs === undefined ? 'auth' : 'unreachable';
  // A repository that has moved: where it is now must be connected by a person.
  if (status === 404 || status === 410 || (status >= 300 && status < 400)) return 'missing';
  return undefined;
}

export function notGit(contentType: string): GitFailed {
  const type = /^[\w.+/-]{1,100}/.exec(contentType)?.[0] ?? 'something without a type';
  return new GitFailed('not_git', `git: the host answered with ${type}, which is not what a git server says`);
}
