// Requests /healthz twenty times a second and records the response times. It is a separate process with an address of
// its own, like the health check of a load balancer: the bench's load does not distort the times, and the service does
// not mistake it for the sender of the deliveries. The argument is the service's URL. To each message of the parent it
// replies with what happened since the previous message.
import { Agent, get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/** An answer that took longer than 200 ms, or none. Times are in milliseconds; `at` counts from the probe's start. */
interface Slow {
  at: number;
  took: number;
  problem: string | undefined;
}

export interface Probed {
  times: number[];
  slow: Slow[];
}

const [address = ''] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true });
let probed: Probed = { times: [], slow: [] };

function ask(): Promise<void> {
  const from = performance.now();
  return new Promise((resolve) => {
    const note = (problem?: string) => {
      const took = performance.now() - from;
      probed.times.push(took);
      if (took > 200 || problem !== undefined) probed.slow.push({ at: from, took, problem });
      resolve();
    };
    const asked = get(`${address}/healthz`, { agent, localAddress: '127.0.0.2', timeout: 10_000 }, (answer) => {
      answer.resume().on('end', () => note(answer.statusCode === 200 ? undefined : `HTTP ${answer.statusCode}`));
    });
    asked.on('timeout', () => asked.destroy(new Error('timed out')));
    asked.on('error', (error) => note(error.message));
  });
}

process.on('message', () => {
  process.send?.(probed);
  probed = { times: [], slow: [] };
});
process.on('disconnect', () => process.exit(0));
for (;;) {
  await ask();
  await sleep(50);
}
