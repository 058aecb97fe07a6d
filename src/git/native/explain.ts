import { withAdvice } from '../../domain/text/github-advice.ts';
import { retryAfterMs } from '../../domain/waiting.ts';
import type { NextHop } from '../../host/proxies.ts';
import { refusedByProxy, unreachableProxy, whichCertificates } from '../../host/through-proxy.ts';
import { GitFailed, type GitFault, type Remote } from '../engine.ts';

/** Longer lines are cut, because a hostile server can make git log lines of any length. */
const maxLine = 8192;

/**
 * Reads git's log of HTTP headers (`GIT_TRACE_CURL`). Git's error messages are unsuitable for decisions: they vary
 * between versions and contain text of the remote. Git also takes any web page for an empty repository served over the
 * old "dumb" protocol.
 */
export function curlTrace(remote?: Remote) {
  let rest = '';
  /** Whether the last request was to the proxy, which was to open a tunnel. */
  let isForProxy = false;
  let last: { status: number; type: string; retryAfterMs: number | undefined } | undefined;
  /** The content type of the first successful response that was not git data. */
  let page: string | undefined;
  const read = (line: string) => {
    const [, method] = /=> Send header: ([A-Z]+) /.exec(line) ?? [];
    if (method !== undefined) {
      finish();
      last = undefined;
      isForProxy = method === 'CONNECT';
    }
    const [, name, value = ''] = /<= Recv header: (HTTP\/[\d.]+|[\w-]+):? (.*)/.exec(line) ?? [];
    if (name === undefined) return;
    if (name.startsWith('HTTP/')) {
      finish();
      last = { status: Number.parseInt(value, 10), type: '', retryAfterMs: undefined };
    } else if (last !== undefined && name.toLowerCase() === 'retry-after') last.retryAfterMs = retryAfterMs(value);
    else if (last !== undefined && name.toLowerCase() === 'content-type') last.type = value.trim();
  };
  const finish = () => {
    if (!isForProxy && last?.status === 200 && !isOfGit(last.type)) page ??= last.type;
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
      if (page !== undefined) return notGit(page);
      if (last === undefined) return undefined;
      const { status } = last;
      if (remote?.proxy !== undefined && (status === 407 || (isForProxy && status !== 200)))
        return proxyFault(remote.proxy, status, remote.url);
      return isForProxy ? undefined : answerFault(last);
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
  const why = isRedirect(status) ? `, so ${movedAway}` : '';
  return fault && new GitFailed(fault, `git: the host answered with HTTP ${status}${why}`, waitMs);
}

/** Returns the fault for a status with which the proxy refused to connect to the host. */
export function proxyFault(proxy: NextHop, status: number, url: string): GitFailed {
  return new GitFailed('unreachable', `git: ${refusedByProxy(proxy, status, new URL(url).host).message}`);
}

/** Redirects are not followed, because the credential belongs to the address that a person or GitHub gave us. */
const movedAway =
  'the repository has probably moved. Deckhand learns a new address on GitHub within minutes; set any other on the repository. Then try again';

function isRedirect(status: number): boolean {
  return status >= 300 && status < 400;
}

function faultOf(status: number, waitMs: number | undefined): GitFault | undefined {
  if (status === 429 || status >= 500) return 'unreachable';
  // GitHub also uses 403, with a Retry-After header, for rate limits.
  if (status === 401 || status === 403) return waitMs === undefined ? 'auth' : 'unreachable';
  if (status === 404 || status === 410 || isRedirect(status)) return 'missing';
  return undefined;
}

export function notGit(contentType: string): GitFailed {
  const type = /^[\w.+/-]{1,100}/.exec(contentType)?.[0] ?? 'data of no known type';
  return new GitFailed('not_git', `git: the host answered with ${type} instead of git data`);
}

/** Matched against git's own messages only, never against the remote's (`remote: …`). */
const faults: [RegExp, GitFault][] = [
  [/couldn't find remote ref/, 'missing'],
  // The host accepted the push but failed to process it.
  [/\[remote rejected\].*\((internal server error|unpacker error)/i, 'unreachable'],
  [/\[(remote )?rejected\]|non-fast-forward|fetch first|hook declined/i, 'rejected'],
  [/Authentication failed|could not read (Username|Password)|Permission to .* denied/i, 'auth'],
  [/repository .* not found|does not exist/i, 'missing'],
  // The last phrase is all that git says of a list of branches that ends early. A refusal has an HTTP status, which
  // counts more.
  [
    /Could not resolve|Failed to connect|Connection (refused|reset|timed out)|early EOF|unexpected disconnect|timed out|unable to access|Operation too slow|RPC failed|hung up|Could not read from remote repository/i,
    'unreachable',
  ],
  // The pack ended early. Git says no more when the process that received it ended first.
  [/^fatal: fetch-pack: invalid index-pack output$/, 'unreachable'],
];

/** What OpenSSL and GnuTLS say of a certificate. */
const unknownAuthority =
  /SSL certificate problem: (self[- ]signed|unable to get)|server certificate verification failed|signer not found/i;

/** The repository does not fit into the limits of `GitLimits`. */
export function tooLarge(): GitFailed {
  return new GitFailed('broken', 'git: the repository needs more than 10 GB or more than half of the free disk space');
}

/** Returns why git failed. The HTTP response of the remote takes precedence over git's messages. */
export function explain(err: string, code: number | null, answered: GitFailed | undefined, remote?: Remote): GitFailed {
  const said = lines(err).filter((line) => !line.startsWith('hint:'));
  const [theirs, own] = [said.filter((l) => l.startsWith('remote:')), said.filter((l) => !l.startsWith('remote:'))];
  if (answered !== undefined) {
    const words = theirs.slice(-3).join(' ');
    return new GitFailed(
      answered.fault,
      withAdvice([answered.message, words].filter(Boolean).join('; ')),
      answered.retryAfterMs,
    );
  }
  if (/File too large/.test(own.join('\n'))) return tooLarge();
  const unreached =
    remote?.proxy && /Could not resolve proxy|Failed to connect|Connection refused/i.exec(own.join('\n'));
  if (remote?.proxy && unreached)
    return new GitFailed('unreachable', `git: ${unreachableProxy(remote.proxy, unreached[0].toLowerCase()).message}`);
  if (unknownAuthority.test(own.join('\n')))
    return new GitFailed('unreachable', `git: the host could not be reached: ${whichCertificates}`);
  const fault = faults.find(([pattern]) => pattern.test(own.join('\n')))?.[1] ?? 'broken';
  return new GitFailed(fault, `git: ${said.slice(-4).join(' ') || `it ended with exit code ${code} and no message`}`);
}

export function lines(text: string): string[] {
  return text.split('\n').filter((l) => l.trim() !== '');
}
