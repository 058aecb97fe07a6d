import { setTimeout as sleep } from 'node:timers/promises';
import autocannon from 'autocannon';
import type { Crowd } from './crowd.ts';
import { median, percentile, say } from './figures.ts';

interface Sides {
  ours: string;
  twin: string;
  token: string;
}

/** Measures the service and the twin alternately, so that other load on the machine affects both. */
export async function againstTwin({ ours, twin, token }: Sides, path: string, wanted: number): Promise<void> {
  const rate = async (base: string, duration: number) => {
    const headers = { authorization: `Bearer ${token}` };
    const result = await autocannon({ url: base + path, duration, connections: 10, headers });
    if (result.non2xx > 0) throw new Error(`${result.non2xx} answers of ${base + path} were not 2xx`);
    return result.requests.average;
  };
  for (const base of [ours, twin]) await rate(base, 2);
  const rounds: [number, number][] = [];
  for (let round = 0; round < 3; round++) rounds.push([await rate(ours, 4), await rate(twin, 4)]);
  const share = median(rounds.map(([a, b]) => a / b));
  const all = rounds.map(([a, b]) => `${Math.round(a)}:${Math.round(b)}`).join(', ');
  say(`${path.padEnd(52)} ${share.toFixed(2)} of the twin (at least ${wanted} wanted; requests a second ${all})`);
}

/** Sends every read request 50 times a second for 4 s, with 100,000 tasks in the database. */
export async function underCrowd({ ours, token }: Sides, crowd: Crowd): Promise<void> {
  const paths = [
    `/projects/${crowd.large}/tasks`,
    `/projects/${crowd.small}/tasks`,
    `/projects/${crowd.large}/tasks?limit=100&status=done`,
    `/projects/${crowd.large}/tasks?limit=100&search=49999`,
    `/projects/${crowd.large}/tasks?owner=${crowd.agent}`,
    `/projects/${crowd.large}/stats`,
    `/projects/${crowd.large}`,
    `/projects/${crowd.large}/members`,
    '/projects?limit=100',
    '/repositories',
    `/repositories/primary/${crowd.large}`,
    '/agents',
    '/agents/teams',
    '/agents/health/all',
    `/agents/${crowd.agent}`,
    `/agents/${crowd.agent}/health`,
    `/agents/${crowd.agent}/performance`,
    `/agents/${crowd.agent}/skills`,
    `/agents/${crowd.agent}/suggestions`,
    '/agents/pool/reconciliations',
    `/tasks/${crowd.task}`,
    `/tasks/${crowd.task}/subtasks`,
    `/tasks/${crowd.task}/runs`,
    `/tasks/${crowd.task}/prs`,
    `/tasks/${crowd.task}/diff`,
    `/runs/${crowd.run}`,
    '/me/tokens',
  ];
  for (const path of paths) {
    const times = await paced(200, 20, async () => {
      const answer = await fetch(ours + path, { headers: { authorization: `Bearer ${token}` } });
      await answer.arrayBuffer();
      if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}`);
    });
    say(
      `${path.padEnd(52)} median ${median(times).toFixed(1)} ms, p99 ${percentile(times, 0.99).toFixed(1)} ms (under 50 wanted)`,
    );
  }
}

/** Calls `count` times, once every `everyMs`, without waiting for earlier calls. Returns the times in ms. */
export async function paced(count: number, everyMs: number, call: () => Promise<void>): Promise<number[]> {
  const times: number[] = [];
  const began = performance.now();
  const calls = [];
  for (let i = 0; i < count; i++) {
    await sleep(Math.max(0, began + i * everyMs - performance.now()));
    const from = performance.now();
    calls.push(call().then(() => times.push(performance.now() - from)));
  }
  await Promise.all(calls);
  return times;
}
