import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { serveGit } from '../../../demo/github/git/git-server.ts';

/** A pull request that the service opened. */
export interface Pull {
  number: number;
  node_id: string;
  html_url: string;
  state: 'open' | 'closed';
  draft: boolean;
  title: string;
  body: string;
  head: { ref: string; sha: string; repo: { id: number } };
  base: { ref: string; repo: { id: number } };
}

export interface EvalGitHub {
  url: string;
  /** Returns the folder of a bare repository, given as `owner/name`. */
  folderOf(name: string): string;
  /** Returns the latest open pull request of a repository. */
  pullOf(name: string): Pull | undefined;
  close(): void;
}

/**
 * Starts a host for any number of repositories in a folder: git over HTTP, and the part of GitHub's API that a project
 * with a git token uses. The demo's emulator is more complete, but copying each file through its API would take longer
 * than the runs.
 */
export async function startGitHub(root: string): Promise<EvalGitHub> {
  const pulls = new Map<string, Pull[]>();
  const ids = new Map<string, number>();
  const idOf = (name: string) => ids.get(name) ?? ids.set(name, ids.size + 1).size;
  const folderOf = (name: string) => join(root, `${name.replace('/', '__')}.git`);
  const git = {
    find: async (name: string) => folderOf(name),
    beforeAdvertising: async () => {},
    push: (_name: string, _token: string, receive: () => Promise<Buffer>) => receive(),
  };
  const server = createServer(async (req, res) => {
    if (await serveGit(git, req, res)) return;
    const { method = 'GET', url = '/' } = req;
    const body = method === 'GET' ? {} : await bodyOf(req);
    const [, name = '', rest = ''] = /^\/repos\/([^/]+\/[^/?]+)(.*)$/.exec(url) ?? [];
    const here = pulls.get(name) ?? [];
    pulls.set(name, here);
    const repository = { id: idOf(name), name, full_name: name, private: false, default_branch: 'main' };
    const reply =
      url === '/graphql'
        ? markReady([...pulls.values()].flat(), body)
        : rest.startsWith('/pulls')
          ? onPulls({ method, rest, body, here, id: repository.id, url: `http://github.test/${name}` })
          : { ...repository, permissions: { pull: true, push: true } };
    res
      .writeHead(reply === undefined ? 404 : 200, { 'Content-Type': 'application/json' })
      .end(JSON.stringify(reply ?? { message: 'Not Found' }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    folderOf,
    pullOf: (name) => pulls.get(name)?.findLast((pull) => pull.state === 'open'),
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

interface PullRequest {
  method: string;
  rest: string;
  body: Record<string, unknown>;
  here: Pull[];
  id: number;
  url: string;
}

function onPulls({ method, rest, body, here, id, url }: PullRequest): unknown {
  const number = Number(/^\/pulls\/(\d+)$/.exec(rest)?.[1]);
  const found = here.find((pull) => pull.number === number);
  if (found !== undefined) return method === 'PATCH' ? Object.assign(found, body) : found;
  if (method === 'GET') {
    const head = new URL(rest, 'http://host').searchParams.get('head')?.split(':')[1];
    return here.filter((pull) => pull.state === 'open' && (head === undefined || pull.head.ref === head));
  }
  if (method !== 'POST' || rest !== '/pulls') return undefined;
  const next = here.length + 1;
  const pull: Pull = {
    number: next,
    node_id: `${url}#${next}`,
    html_url: `${url}/pull/${next}`,
    state: 'open',
    draft: body.draft === true,
    title: String(body.title),
    body: String(body.body),
    head: { ref: String(body.head), sha: 'c'.repeat(40), repo: { id } },
    base: { ref: String(body.base), repo: { id } },
  };
  here.push(pull);
  return pull;
}

/** The only mutation that the service sends: a draft becomes ready for review. */
function markReady(pulls: Pull[], body: Record<string, unknown>): unknown {
  const { id } = (body.variables ?? {}) as { id?: string };
  const pull = pulls.find((each) => each.node_id === id);
  if (pull !== undefined) pull.draft = false;
  return { data: { markPullRequestReadyForReview: { clientMutationId: null } } };
}

async function bodyOf(req: IncomingMessage): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString('utf8');
  return text === '' ? {} : JSON.parse(text);
}
