import { makeDueTask } from '../../src/automations/fire.ts';
import { listDue } from '../../src/automations/store.ts';
import { compose } from '../../src/compose.ts';
import { readConfig } from '../../src/config.ts';
import { createLogger } from '../../src/logger.ts';

// A process of the service in a simulated time: its parent says what time it is, and it makes the tasks that are due.

const config = readConfig(process.env);
const { app } = await compose(config, createLogger(config), {
  isWorker: false,
  stopping: new AbortController().signal,
});

process.on('message', async ({ now }) => {
  const time = new Date(now);
  for (const id of await listDue(app.db.manager, time)) await makeDueTask(app, id, time);
  process.send?.({ now });
});
process.send?.({ now: 'ready' });
