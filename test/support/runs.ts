import type { EntityManager } from 'typeorm';
import { type RunRow, Runs } from '../../src/db/tables/run.ts';
import { type TaskRow, Tasks } from '../../src/db/tables/task.ts';
import { openTestApp, type TestApp } from './app.ts';

interface Given {
  service: TestApp;
  token: string;
  projectId: string;
  /** The agents of the project. */
  agentIds: string[];
  /** Calls `act` in a transaction, in which now() does not change, and rolls it back. */
  undone(act: (em: EntityManager) => Promise<void>): Promise<void>;
  addTask(em: EntityManager, more?: Partial<TaskRow>): Promise<string>;
  /** Stores a run of a new task in progress, by default queued, of the project's first agent. */
  addRun(em: EntityManager, more?: Partial<RunRow>): Promise<string>;
  /** Sets columns of a row to SQL expressions, such as times before now(). */
  set(em: EntityManager, id: string, columns: Record<string, string>): Promise<void>;
}

/** Opens a service, without workers, for the tests of one file on runs and their tasks. */
export function openRuns(settings: Record<string, string> = {}): Given {
  const given = {} as Given;
  let made = 0;
  beforeAll(async () => {
    given.service = await openTestApp(settings);
    given.token = await given.service.token('octocat');
    const { token } = given;
    given.projectId = (await given.service.call('POST', '/projects', { token, body: { name: 'Runs' } })).body.id;
    const agents = await given.service.call('GET', `/agents?projectId=${given.projectId}`, { token });
    given.agentIds = agents.body.map((agent: { id: string }) => agent.id);
  });
  afterAll(() => given.service.close());
  given.undone = async (act) => {
    const undo = new Error('undo');
    const work = given.service.app.db.transaction(async (em) => {
      await act(em);
      throw undo;
    });
    await expect(work).rejects.toBe(undo);
  };
  given.addTask = async (em, more = {}) => {
    const id = `task_${++made}`;
    await em.insert(Tasks, { id, projectId: given.projectId, title: id, status: 'in_progress', ...more });
    return id;
  };
  given.addRun = async (em, more = {}) => {
    const id = `run_${++made}`;
    const taskId = more.taskId ?? (await given.addTask(em));
    const { projectId, agentIds } = given;
    await em.insert(Runs, {
      id,
      taskId,
      projectId,
      agentId: agentIds[0] ?? null,
      kind: 'start',
      status: 'queued',
      ...more,
    });
    return id;
  };
  given.set = async (em, id, columns) => {
    const changes = Object.entries(columns).map(([column, sql]) => `${column} = ${sql}`);
    await em.query(`update ${id.startsWith('task') ? 'tasks' : 'runs'} set ${changes.join(', ')} where id = $1`, [id]);
  };
  return given;
}
