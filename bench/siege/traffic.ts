import type { DemoGitHub } from '../../demo/github/github.ts';
import { until } from '../../demo/real-service.ts';

export interface Planned {
  event: string;
  body: string;
}

export interface SiegeIssue {
  repository: string;
  number: number;
  /** The owner's command: `create` creates a task, `start` also starts a run. */
  asks: 'create' | 'start';
}

export interface Traffic {
  issues: SiegeIssue[];
  deliveries: Planned[];
}

export const hostileTitle = 'The hostile one';
const agents = ['Developer', 'Reviewer', 'QA Engineer', 'Technical Writer', 'Software Architect'];
const deliveriesPerIssue = 20;
/** The real events of an issue: the issue, two comments and a label. */
const realPerIssue = 4;

/**
 * Creates the issues and comments on the emulator before webhooks are enabled. Returns what GitHub would send: twenty
 * deliveries per issue, including the owner's command, a stranger's command, and comments without a command.
 */
export async function planTraffic(
  github: DemoGitHub,
  owner: string,
  repositories: string[],
  { issues, runs }: { issues: number; runs: number },
): Promise<Traffic> {
  const planned: Traffic = { issues: [], deliveries: [] };
  const mona = github.as(owner);
  for (let i = 0; i < issues; i++) {
    const repository = repositories[i % repositories.length] ?? '';
    const repo = `/repos/${owner}/${repository}`;
    const from = github.deliveries.length;
    const asks = i < runs ? 'start' : 'create';
    const title = i === 0 ? hostileTitle : `Issue ${i} of the siege`;
    const { number } = await mona<{ number: number }>('POST', `${repo}/issues`, { title, body: 'Please.' });
    const command = asks === 'start' ? `/agent start ${agents[i % agents.length]}` : '/agent create';
    await mona('POST', `${repo}/issues/${number}/comments`, { body: command });
    await github.as('stranger')('POST', `${repo}/issues/${number}/comments`, { body: '/agent start' });
    await mona('POST', `${repo}/issues/${number}/labels`, { labels: ['bug'] });
    // The emulator records a delivery shortly after it replies, so wait for it.
    await until('the deliveries of an issue', async () => github.deliveries.length >= from + realPerIssue);
    const real = github.deliveries.slice(from).map(({ event, body }) => ({ event, body }));
    planned.issues.push({ repository, number, asks });
    planned.deliveries.push(...real, ...chatter(real, deliveriesPerIssue - real.length));
  }
  // These deliveries were not sent. Clear the list, so that it contains only what the siege sends.
  github.deliveries.length = 0;
  return planned;
}

const talk = `I think so too. ${'> quoted `code` <!-- hidden --> [link](https://example.org) **bold** '.repeat(80)}`;

/** Copies the real comment event, with long texts that contain no command. */
function chatter(real: Planned[], count: number): Planned[] {
  const comment = real.find((r) => r.event === 'issue_comment');
  if (comment === undefined) throw new Error('the emulator sent no comment');
  return Array.from({ length: count }, (_, i) => {
    const payload = JSON.parse(comment.body);
    payload.comment = { ...payload.comment, id: payload.comment.id * 1000 + i, body: `${talk} ${i}` };
    return { event: 'issue_comment', body: JSON.stringify(payload) };
  });
}

/** Returns a generator of pseudo-random numbers, which are the same in every run of the bench (mulberry32). */
export function seeded(seed: number): () => number {
  let a = seed;
  return () => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Returns a copy in random order. */
export function shuffled<T>(list: T[], next: () => number): T[] {
  return list
    .map((each) => [next(), each] as const)
    .sort(([a], [b]) => a - b)
    .map(([, each]) => each);
}
