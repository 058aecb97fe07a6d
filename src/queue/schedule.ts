import cron, { type ScheduledTask } from 'node-cron';

/** Runs things by the clock until stopped; a thing that is still at it when its time comes again is left alone. */
export function startSchedule(entries: [string, () => Promise<void>][], onError: (error: unknown) => void) {
  const tasks: ScheduledTask[] = entries.map(([expression, act]) =>
    cron.schedule(expression, () => act().catch(onError), { noOverlap: true }),
  );
  return {
    stop: async () => {
      for (const task of tasks) await task.stop();
    },
  };
}
