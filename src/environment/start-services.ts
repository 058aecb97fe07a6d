import { RunFailed } from '../domain/run.ts';
import { startServices } from '../sandbox/machine/service-start.ts';
import type { Machine } from '../sandbox/sandbox.ts';
import type { Room } from './room.ts';

/** Starts the services of .deckhand.yml on a machine. @throws RunFailed `setup` when one is not up in time */
export async function startAll(
  { settings, note }: Pick<Room, 'settings' | 'note'>,
  machine: () => Promise<Machine>,
  signal: AbortSignal,
): Promise<void> {
  const { services } = settings;
  if (services.length === 0) return;
  const problem = await startServices(await machine(), services, { signal });
  if (problem !== undefined) throw new RunFailed('setup', problem);
  await note('setup', `services are up: ${services.map(({ run }) => run.slice(0, 100)).join('; ')}`);
}
