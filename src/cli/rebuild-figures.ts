import { rebuildFigures } from '../agents/rebuild-figures.ts';
import type { Config } from '../config.ts';
import { withApp } from './with-app.ts';

/** Runs the `rebuild-figures` command: computes the figures of agents and the counts of tasks again. */
export async function rebuildFiguresCommand(config: Config): Promise<number> {
  return withApp(config, async (app) => {
    const count = await rebuildFigures(app.db.manager);
    process.stdout.write(`the figures of agents were computed again from the runs of ${count} tasks\n`);
    return 0;
  });
}
