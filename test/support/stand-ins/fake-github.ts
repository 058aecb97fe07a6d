import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One request that the fake GitHub answers: its path after the method, as in `GET /orgs/acme`. */
type Route = [pattern: RegExp, answer: (match: RegExpExecArray, res: ServerResponse, body: string) => unknown];

export interface FakeGitHub {
  url: string;
  close(): void;
}

/** Starts a GitHub that replies with the first matching route; 404 if none matches or its answer is undefined. */
export async function openFakeGitHub(
  routes: Route[],
  seen: (req: IncomingMessage, body: string) => void = () => {},
): Promise<FakeGitHub> {
  const server: Server = createServer(async (req, res) => {
    let body = '';
    for await (const chunk of req.setEncoding('utf8')) body += chunk;
    seen(req, body);
    const found = await answerOf(routes, `${req.method} ${req.url}`, res, body);
    if (res.headersSent) return;
    const status = found === undefined ? 404 : successOf(req.method, req.url);
    res.writeHead(res.statusCode === 200 ? status : res.statusCode, { 'Content-Type': 'application/json' });
    res.end(res.statusCode === 204 ? undefined : JSON.stringify(found ?? { message: 'Not Found' }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Returns the status with which GitHub reports success. */
function successOf(method = 'GET', url = ''): number {
  if (method === 'DELETE') return /\/labels\/|\/sub_issue$|\/blocked_by\//.test(url) ? 200 : 204;
  if (method !== 'POST' || /^\/(graphql|markdown)|\/issues\/\d+\/labels$/.test(url)) return 200;
  if (url.endsWith('/reviews')) return 200;
  return url.endsWith('/attempts') ? 202 : 201;
}

function answerOf(routes: Route[], request: string, res: ServerResponse, body: string): unknown {
  for (const [pattern, answer] of [...routes, tokenRoute]) {
    const match = pattern.exec(request);
    if (match !== null) return answer(match, res, body);
  }
  return undefined;
}

const tokenRoute: Route = [
  /\/access_tokens$/,
  () => ({ token: 'ghs_x', expires_at: new Date(Date.now() + 3_600_000).toISOString() }),
];

/** What GraphQL shows of a pull request that GitHub does not merge. */
export const unmerged = {
  ...{ id: 'PR_1', headRefOid: 'c'.repeat(40), mergeStateStatus: 'CLEAN', isMergeQueueEnabled: false },
  ...{ autoMergeRequest: null, mergeQueueEntry: null, timelineItems: { nodes: [] } },
};

/** A pull request as the REST API shows it. */
interface Listed {
  number: number;
  state?: string;
  head: { sha: string; repo?: { id: number } };
  base: { ref: string; repo?: { id: number } };
  updated_at?: string;
}

/** Answers a query for the open pull requests with the page after a cursor, which is a number here. */
export function listedPulls(pulls: Listed[], body: string): object | undefined {
  const { query, variables } = JSON.parse(body) as { query: string; variables: Record<string, string | null> };
  if (!query.includes('pullRequests(')) return undefined;
  const { base, after } = variables;
  const left = pulls
    .filter((pull) => (after == null || pull.number < Number(after)) && (base == null || pull.base.ref === base))
    .toSorted((a, b) => b.number - a.number);
  const nodes = left.slice(0, 100).map(({ number, head, base: to, updated_at = '2020-01-01T00:00:00Z' }) => ({
    ...{ number, headRefOid: head.sha, baseRefName: to.ref, updatedAt: updated_at },
    isCrossRepository: head.repo?.id !== to.repo?.id,
  }));
  const pageInfo = { hasNextPage: left.length > 100, endCursor: nodes.at(-1)?.number.toString() ?? null };
  return { data: { repository: { pullRequests: { nodes, pageInfo } } } };
}

/** Answers a query for pull requests by their numbers, which all are open or closed. GitHub names each that it does not have. */
export function pullsByNumber(pullOf: (number: number) => Listed | undefined, body: string): object | undefined {
  const { query } = JSON.parse(body) as { query: string };
  const numbers = [...query.matchAll(/\bp\d+: pullRequest\(number: (\d+)\)/g)].map((match) => Number(match[1]));
  if (numbers.length === 0) return undefined;
  const pulls = numbers.map((number) => [number, pullOf(number)] as const);
  const repository = Object.fromEntries(
    pulls.map(([number, pull]) => [
      `p${number}`,
      pull === undefined
        ? null
        : { number, state: pull.state?.toUpperCase(), headRefOid: pull.head.sha, baseRefName: pull.base.ref },
    ]),
  );
  const errors = pulls
    .filter(([, pull]) => pull === undefined)
    .map(([number]) => ({
      ...{ type: 'NOT_FOUND', path: ['repository', `p${number}`] },
      message: `Could not resolve to a PullRequest with the number of ${number}.`,
    }));
  return { data: { repository }, ...(errors.length === 0 ? {} : { errors }) };
}
