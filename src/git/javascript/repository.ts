import fs from 'node:fs';
import { type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http';
import { type RequestOptions, request as requestHttps } from 'node:https';
import type { LookupFunction } from 'node:net';
import git, { type GitAuth, type GitHttpRequest, type GitHttpResponse, type HttpClient } from 'isomorphic-git';
import { retryAfterMs } from '../../domain/waiting.ts';
import { whenUnanswered } from '../../host/strangers.ts';
import { agentThrough, explained, hasUnknownAuthority, whichCertificates } from '../../host/through-proxy.ts';
import { GitFailed, type GitFault, leastBytesPerSecond, type Remote, silenceSeconds } from '../engine.ts';
import { answerFault, isOfGit, notGit, proxyFault } from '../native/explain.ts';
import type { TreeEntry } from '../work-tree/tree-files.ts';
import type { ReadBefore } from '../work-tree/work-tree.ts';

/** Calls the library and translates its errors. @throws GitFailed, or the reason of the signal */
async function withGitFailures<T>(signal: AbortSignal | undefined, act: () => Promise<T>): Promise<T> {
  signal?.throwIfAborted();
  try {
    return await act();
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    if (error instanceof GitFailed) throw error;
    throw new GitFailed(faultOf(error), `git: ${(error as Error).message.split('\n')[0]}`);
  }
}

function faultOf(error: unknown): GitFault {
  const { name, data } = error as { name?: string; data?: { statusCode?: number } };
  if (name === 'HttpError') {
    return answerFault({ status: data?.statusCode ?? 0, retryAfterMs: undefined })?.fault ?? 'broken';
  }
  if (name === 'UserCanceledError') return 'auth';
  // The host accepted the push but failed to process it.
  if (name === 'GitPushError' && /internal server error|unpacker error/i.test((error as Error).message))
    return 'unreachable';
  if (name === 'PushRejectedError' || name === 'GitPushError') return 'rejected';
  if (name === 'NotFoundError') return 'missing';
  return 'broken';
}

/** One repository on disk: the arguments for the library, and the state kept between two operations. */
export class IsomorphicRepository {
  readonly gitDir: string;
  readonly workTree: string;
  readonly signal: AbortSignal | undefined;
  /** Replaced when the token is renewed. */
  remote: Remote;
  /** Branches fetched so far. A search for a common ancestor fetches more history of all of them. */
  readonly branches = new Set<string>();
  /** The files of the commit that is checked out. */
  base = new Map<string, TreeEntry>();
  readonly before: ReadBefore = new Map();

  constructor(remote: Remote, folders: { gitDir: string; workTree: string }, signal: AbortSignal | undefined) {
    this.remote = remote;
    this.gitDir = folders.gitDir;
    this.workTree = folders.workTree;
    this.signal = signal;
  }

  /** Returns the library's arguments for an operation on disk. */
  get local() {
    return { fs, dir: this.workTree, gitdir: this.gitDir };
  }

  /** Returns the library's arguments for an operation with the remote. */
  get withRemote() {
    return { ...this.local, ...connectionTo(this.remote, this.signal), remote: 'origin' };
  }

  /** Calls the library and translates its errors. @throws GitFailed, or the reason of the signal */
  run<T>(act: () => Promise<T>): Promise<T> {
    return withGitFailures(this.signal, act);
  }

  /** Returns the tree of a commit. */
  async treeOf(commit: string): Promise<string> {
    return (await git.readCommit({ ...this.local, oid: commit })).commit.tree;
  }
}

function connectionTo(remote: Remote, signal: AbortSignal | undefined) {
  const basic = Buffer.from(`x-access-token:${remote.token}`).toString('base64');
  const headers: Record<string, string> = remote.token === undefined ? {} : { Authorization: `Basic ${basic}` };
  // The library would ask for other credentials. There are none, so cancel.
  const onAuthFailure = (): GitAuth => ({ cancel: true });
  return { http: gitHttp(remote, signal), url: remote.url, headers, onAuthFailure };
}

/** The depth that git understands as the whole history. */
const wholeHistory = 2_147_483_647;

/** Returns the refs whose full name starts with `prefix`, with their commits. */
export function listRefs(remote: Remote, signal: AbortSignal | undefined, prefix: string) {
  return withGitFailures(signal, async () => {
    const connection = connectionTo(remote, signal);
    const refs = await git.listServerRefs({ ...connection, prefix, protocolVersion: 2 });
    connection.http.assertWhole();
    return refs;
  });
}

/** Returns the commit of a remote branch, or undefined when there is no such branch. */
export async function remoteHead({ remote, signal }: IsomorphicRepository, branch: string) {
  const name = `refs/heads/${branch}`;
  return (await listRefs(remote, signal, name)).find(({ ref }) => ref === name)?.oid;
}

/** Fetches a branch and returns its commit; undefined when the remote has no such branch. */
export async function fetchBranch(repository: IsomorphicRepository, branch: string): Promise<string | undefined> {
  const head = await remoteHead(repository, branch);
  if (head === undefined) return undefined;
  await fetchHistory(repository, branch, 1);
  repository.branches.add(branch);
  return head;
}

/**
 * Fetches one commit by its id; returns false when no branch fetched so far contains it. The protocol can fetch a
 * single commit but the library cannot, so the whole history of those branches is fetched.
 */
export async function fetchCommit(repository: IsomorphicRepository, commit: string): Promise<boolean> {
  const isHere = () => git.readCommit({ ...repository.local, oid: commit }).then(() => true);
  if (await isHere().catch(() => false)) return true;
  await deepen(repository, wholeHistory);
  return isHere().catch((error) => {
    if (error.code === 'NotFoundError') return false;
    throw error;
  });
}

/** Fetches every branch fetched so far again, to a depth of that many more commits. */
export async function deepen(repository: IsomorphicRepository, commits: number): Promise<void> {
  for (const branch of repository.branches) await fetchHistory(repository, branch, commits);
}

async function fetchHistory(repository: IsomorphicRepository, branch: string, depth: number): Promise<void> {
  const what = { ref: branch, remoteRef: branch, singleBranch: true, tags: false, depth };
  await repository.run(() => git.fetch({ ...repository.withRemote, ...what }));
}

/**
 * Creates the HTTP client for isomorphic-git. The library's own client gives up after 5 s of silence, although the push
 * may still succeed. This client connects only to the address that was checked (`Remote.resolved`), follows no
 * redirects and limits the response size.
 */
function gitHttp(remote: Remote, signal: AbortSignal | undefined): HttpClient & { assertWhole(): void } {
  let cut: GitFailed | undefined;
  const cutBy = (error: GitFailed) => {
    cut = error;
  };
  return {
    request: (asked) => ask(asked, remote, signal, cutBy),
    // The library ignores read errors, so it would take a truncated list of branches for a complete one.
    assertWhole: () => {
      if (cut !== undefined) throw cut;
    },
  };
}

function ask(
  asked: GitHttpRequest,
  { resolved, proxy, patienceSeconds = silenceSeconds, maxAnswerBytes }: Remote,
  signal: AbortSignal | undefined,
  cutBy: (error: GitFailed) => void,
): Promise<GitHttpResponse> {
  const url = new URL(asked.url);
  const options: RequestOptions = {
    method: asked.method ?? 'GET',
    headers: { ...asked.headers, 'User-Agent': 'git/isomorphic-git' },
  };
  if (proxy !== undefined) options.agent = agentThrough(proxy, url.protocol);
  if (resolved !== undefined) options.lookup = pinned(resolved);
  if (signal !== undefined) options.signal = signal;
  return new Promise((resolve, reject) => {
    const send = url.protocol === 'https:' ? requestHttps : requestHttp;
    const sent = send(url, options, (answer) => {
      const isOfProxy = proxy !== undefined && answer.statusCode === 407;
      const fault = isOfProxy ? proxyFault(proxy, 407, asked.url) : faultOfAnswer(answer);
      if (fault !== undefined) {
        answer.destroy();
        return reject(fault);
      }
      const headers: Record<string, string> = {};
      for (const [name, value] of Object.entries(answer.headers)) headers[name] = String(value);
      resolve({
        url: asked.url,
        method: asked.method ?? 'GET',
        statusCode: answer.statusCode ?? 0,
        statusMessage: answer.statusMessage ?? '',
        headers,
        body: gated(answer, maxAnswerBytes, cutBy),
      });
    });
    sent.setTimeout(patienceSeconds * 1000, () => sent.destroy(new Error('Connection timed out')));
    endWhenSlow(sent, patienceSeconds);
    sent.once('error', (error) => reject(cutOff(proxy === undefined ? error : explained(error, proxy, url.host))));
    whenUnanswered(sent, (error) => reject(cutOff(error)));
    collect(asked.body).then((body) => sent.end(body), reject);
  });
}

/** Returns what a response says of a fault. Rejected credentials are left to the library, which sends others then. */
function faultOfAnswer({ statusCode: status = 0, headers }: IncomingMessage): GitFailed | undefined {
  const fault = answerFault({ status, retryAfterMs: retryAfterMs(headers['retry-after']) });
  if (fault !== undefined && fault.fault !== 'auth') return fault;
  const type = headers['content-type'] ?? '';
  return status === 200 && !isOfGit(type) ? notGit(type) : undefined;
}

/** Returns `unreachable` for every network error. */
function cutOff(error: Error): GitFailed {
  return error instanceof GitFailed ? error : new GitFailed('unreachable', `git: ${wordsOf(error)}`);
}

function wordsOf(error: Error): string {
  return hasUnknownAuthority(error) ? `the host could not be reached: ${whichCertificates}` : error.message;
}

/** Ends a request that transfers too slowly. The socket's timeout only detects silence, not a slow trickle of bytes. */
function endWhenSlow(sent: ClientRequest, seconds: number): void {
  let before: number | undefined;
  const watch = setInterval(() => {
    const { socket } = sent;
    if (socket == null) return;
    const now = socket.bytesRead + socket.bytesWritten;
    if (before !== undefined && now - before < seconds * leastBytesPerSecond)
      sent.destroy(
        new Error(`the remote transferred less than ${leastBytesPerSecond} bytes a second for ${seconds} s`),
      );
    before = now;
  }, seconds * 1000).unref();
  sent.once('close', () => clearInterval(watch));
}

async function* gated(
  answer: AsyncIterable<Uint8Array>,
  max = Number.POSITIVE_INFINITY,
  cutBy: (error: GitFailed) => void,
) {
  let bytes = 0;
  try {
    for await (const chunk of answer) {
      bytes += chunk.length;
      if (bytes > max)
        throw new GitFailed(
          'broken',
          `git: the repository is larger than ${max / 1e6} MB, too large for git in JavaScript; install git (GIT_ENGINE=native)`,
        );
      yield chunk;
    }
  } catch (error) {
    const cut = cutOff(error as Error);
    cutBy(cut);
    throw cut;
  }
}

async function collect(body: GitHttpRequest['body']): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  if (body) for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function pinned(resolved: string): LookupFunction {
  const [, , ...rest] = resolved.split(':');
  const address = rest.join(':').replace(/^\[|\]$/g, '');
  const family = address.includes(':') ? 6 : 4;
  return (_host, { all }, done) => (all ? done(null, [{ address, family }]) : done(null, address, family));
}
