import type { Page } from 'playwright-core';
import { chromiumPath } from '../../demo/browser.ts';
import { openOwner, visit, watchBrowser } from '../support/browser.ts';
import { openWorld, type World } from '../support/world.ts';

/** Opens a board in a browser, for all tests of a file: a task that a run works on, one whose run waits for its turn, and two others. */
export function openBoard() {
  let world: World;
  let page: Page;
  let base: string;
  let agentId: string;
  let sprintId: string;
  const tasks: Record<string, string> = {};

  const api = <T>(method: string, path: string, body?: object) => world.service.api<T>(world.token, method, path, body);
  const column = (status: string) => page.locator(`[data-status=${status}]`);
  const cardOf = (title: string) => page.locator('.card').filter({ hasText: title });

  /**
   * Adds a run that is not carried out: its lease is held until tomorrow, or its turn has not come. The task is in progress
   * from the same moment, because the service fails a task in progress that has no run.
   */
  const addRun = (taskId: string, status: 'running' | 'queued', cost: number) =>
    world.sql(
      `with started as (update tasks set status = 'in_progress' where id = $1)
       insert into runs (id, task_id, project_id, agent_id, kind, status, cost_usd, created_at, started_at, lease_until, not_before)
       values ('run_' || $1, $1, $2, $3, 'start', $4::text, $5, now() - interval '65 minutes',
         case when $4 = 'running' then now() - interval '65 minutes' end, now() + interval '1 day', now() + interval '1 day')`,
      [taskId, world.project.id, agentId, status, cost],
    );

  beforeAll(async () => {
    if (chromiumPath === undefined) return;
    world = await openWorld([], { settings: { SANDBOX: 'off' } });
    base = `/projects/${world.project.id}`;
    const [agent] = await api<{ id: string }[]>('GET', `/agents?projectId=${world.project.id}`);
    agentId = agent?.id ?? '';
    const day = new Date().toISOString().slice(0, 10);
    sprintId = (await api<{ id: string }>('POST', `${base}/sprints`, { name: 'Spring', startDate: day, endDate: day }))
      .id;
    for (const title of ['Works now', 'Waits its turn', 'Plain one', 'Plain two'])
      tasks[title] = (await api<{ id: string }>('POST', `${base}/tasks`, { title, owner: agentId })).id;
    await api('POST', `/sprints/${sprintId}/tasks`, { taskId: tasks['Works now'] });
    await addRun(tasks['Works now'] ?? '', 'running', 0.75);
    await addRun(tasks['Waits its turn'] ?? '', 'queued', 0);
    await world.sql(`insert into run_events (run_id, type, text, data) values ($1, 'model', 'm answered', $2)`, [
      `run_${tasks['Works now']}`,
      { calls: ['run_command npm test'] },
    ]);
    page = await openOwner(world);
  });
  watchBrowser(() => world?.close());

  /** Opens the board with a query and waits for its cards. */
  async function open(query = ''): Promise<void> {
    await visit(page, `${world.service.url}${base}${query}`);
    await page.locator('.card').first().waitFor();
  }

  return {
    get world() {
      return world;
    },
    get page() {
      return page;
    },
    get base() {
      return base;
    },
    get agentId() {
      return agentId;
    },
    get sprintId() {
      return sprintId;
    },
    tasks,
    api,
    column,
    cardOf,
    addRun,
    open,
  };
}
