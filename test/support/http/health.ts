import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { RunningService, Service } from '../../../demo/real-service.ts';

const probe = fileURLToPath(new URL('./health-probe.mjs', import.meta.url));

/**
 * Requests `/healthz` of a service, which may run in this process, 40 times a second during `act`, from a separate
 * process. Returns how many answers came only after the main thread of the service had worked on other things for half a
 * second. If something occupies it for two seconds, these are sixty. If the machine pauses either process, it is one or
 * two.
 * @throws Error when the service does not respond at all
 */
export async function lateAnswers(service: Service | RunningService, act: () => Promise<unknown>): Promise<number> {
  const { pid } = 'process' in service ? service.process : process;
  const child = fork(probe, [service.url, String(pid)], { execArgv: [], env: {} });
  const ended = once(child, 'exit').then(() => Promise.reject(new Error('/healthz did not answer')));
  ended.catch(() => {});
  const said = () => Promise.race([once(child, 'message'), ended]);
  try {
    await said();
    await act();
    child.send('stop');
    const [{ answers, late }] = (await said()) as [{ answers: number; late: number }];
    if (answers === 0) throw new Error('/healthz did not answer');
    return late;
  } finally {
    if (child.connected) child.disconnect();
  }
}
