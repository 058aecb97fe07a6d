import { type RunningService, until } from '../demo/real-service.ts';

interface Ended {
  status: string;
  startedAt: string;
  finishedAt: string;
  failure: object | null;
}

/**
 * Connects the repository to a new project. Returns a function that runs a task with this title there, and returns how
 * many milliseconds the run took.
 */
export async function prepareTasks(
  service: RunningService,
  url: string,
  title: string,
): Promise<() => Promise<number>> {
  const token = await service.token('bench');
  const call = <T>(method: string, path: string, body?: object) => service.api<T>(token, method, path, body);
  const project = await call<{ id: string }>('POST', '/projects', { name: title });
  await call('POST', `/projects/${project.id}/git-token`, { token: 'any' });
  await call('POST', '/repositories', { projectId: project.id, name: 'bench', url });
  const [agent] = await call<{ id: string }[]>('GET', `/agents?projectId=${project.id}`);
  const owner = agent?.id;
  return async () => {
    const task = await call<{ id: string }>('POST', `/projects/${project.id}/tasks`, { title, owner });
    await call('POST', `/tasks/${task.id}/start`);
    const run = await until('the run', async () => {
      const [found] = await call<Ended[]>('GET', `/tasks/${task.id}/runs`);
      if (found?.status === 'failed') throw new Error(JSON.stringify(found.failure));
      return found?.status === 'succeeded' && found;
    });
    return Date.parse(run.finishedAt) - Date.parse(run.startedAt);
  };
}
