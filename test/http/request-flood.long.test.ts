import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { headOf, openRaw } from '../support/http/raw-http.ts';
import { startWebProcess, type WebProcess } from '../support/http/web-process.ts';
import { mainThreadTime } from '../support/machine/processor-time.ts';

const flood = fileURLToPath(new URL('../support/stand-ins/flood.mjs', import.meta.url));
let web: WebProcess;
beforeAll(async () => {
  web = await startWebProcess();
});
afterAll(() => web.close());

/** Measures how long the service works before it answers /healthz on a new connection, in ms of processor time. */
async function newcomer(): Promise<number> {
  const before = mainThreadTime(web.service.process.pid ?? 0);
  const { socket, status } = openRaw(web.port, headOf('GET /healthz', { Connection: 'close' }));
  expect(await status).toBe(200);
  socket.destroy();
  return mainThreadTime(web.service.process.pid ?? 0) - before;
}

test.each([1, 16])('50 connections with %i requests each keep no newcomer waiting', async (depth) => {
  const attacker: ChildProcess = fork(flood, [String(web.port), String(depth)], { execArgv: [], env: {} });
  try {
    await once(attacker, 'message');
    const times: number[] = [];
    for (let i = 0; i < 30; i++) {
      times.push(await newcomer());
      await sleep(20);
    }
    times.sort((a, b) => a - b);
    // A queue behind the flood would take seconds. The machine may pause this process for a moment.
    expect(times.at(-3)).toBeLessThan(400);
    expect(times[15]).toBeLessThan(200);
  } finally {
    attacker.kill('SIGKILL');
  }
});
