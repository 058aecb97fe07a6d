import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const probe = fileURLToPath(new URL('./health-probe.mjs', import.meta.url));

export interface Health {
  /** The slowest reply of `/healthz`, in ms. */
  longest: number;
  /** How many times slower than an idle machine this one was at most, because of other processes. */
  slowness: number;
  answers: number;
}

/**
 * Watches `/healthz` from separate processes during `act`.
 * @throws Error when it does not respond at all
 */
export async function healthDuring(url: string, act: () => Promise<unknown>): Promise<Health> {
  const child = fork(probe, [url], { execArgv: [], env: {} });
  const ended = once(child, 'exit').then(() => Promise.reject(new Error('/healthz did not answer')));
  ended.catch(() => {});
  const said = () => Promise.race([once(child, 'message'), ended]);
  try {
    await said();
    await act();
    child.send('stop');
    const [health] = (await said()) as [Health];
    return health;
  } finally {
    if (child.connected) child.disconnect();
  }
}
