import cron, { type ScheduledTask } from 'node-cron';

/** Runs functions at the times of cron expressions until stopped. Skips a function that is still running. */
export function startSchedule(entries: [string, () => Promise<void>][], onError: (error: unknown) => void) {
  const tasks: ScheduledTask[] = entries.map(([expression, act]) =>
    cron.schedule(expression, () => act().catch(onError), { noOverlap: true }),
  );
  return {
    stop: async () => {
      // Stopped tasks would stay in the list that node-cron keeps.
      for (const task of tasks) await task.destroy();
    },
  };
}
