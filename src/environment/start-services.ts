import { commandFailed } from '../domain/run.ts';
import { startServices } from '../sandbox/machine/service-start.ts';
import type { Machine } from '../sandbox/sandbox.ts';
import type { Room } from './room.ts';

/** Starts the services of .deckhand.yml on a machine. @throws RunFailed `setup` when one is not up in time */
export async function startAll(
  { settings, isOutputHidden = false, note }: Pick<Room, 'settings' | 'isOutputHidden' | 'note'>,
  machine: () => Promise<Machine>,
  signal: AbortSignal,
): Promise<void> {
  const { services } = settings;
  if (services.length === 0) return;
  const problem = await startServices(await machine(), services, { signal });
  if (problem !== undefined)
    throw commandFailed('setup', {
      ...problem,
      message: isOutputHidden ? problem.message : `${problem.message}. Its output:`,
      isOutputHidden,
    });
  await note('setup', `services are up: ${services.map(({ run }) => run.slice(0, 100)).join('; ')}`);
}
