import type { EntityManager } from 'typeorm';
import type { z } from 'zod';
import type { App } from '../app.ts';
import { badRequest, type Problem } from '../errors.ts';
import { insertTask, ownerProblems, repositoryProblems, sprintProblems } from './operations.ts';
import type { CreateTasks } from './schemas.ts';
import { getTasks, replaceDependencies, type TaskView, tasksAmong } from './store.ts';

type NewTask = z.output<typeof CreateTasks>['tasks'][number];

/**
 * Creates several tasks in the given order, all or none. A dependency may be the `ref` of another task in the list.
 * @throws AppError 400 naming each field that is wrong
 */
export async function createTasks(app: App, projectId: string, userId: string, tasks: NewTask[]): Promise<TaskView[]> {
  return app.db.transaction(async (em) => {
    const created = await createTasksIn(app, em, projectId, userId, tasks);
    app.audit.note({ tasks: [null, created.map(({ id }) => id).join(', ')] });
    return created;
  });
}

/**
 * Creates several tasks, like `createTasks`, in the caller's transaction. `directedBy` are the people whose words they
 * follow, if not only those of the person who creates them.
 */
export async function createTasksIn(
  app: App,
  em: EntityManager,
  projectId: string,
  userId: string,
  tasks: NewTask[],
  directedBy = [userId],
): Promise<TaskView[]> {
  const problems = [...refProblems(tasks), ...(await referenceProblems(em, projectId, userId, tasks))];
  if (problems.length > 0) throw badRequest(problems);
  const ids: string[] = [];
  for (const { ref: _ref, dependsOn: _insertedBelow, issue, ...task } of tasks)
    ids.push(await insertTask(app, em, projectId, { ...task, wantsIssue: issue, createdBy: userId, directedBy }));
  const byRef = new Map(tasks.map((task, i) => [task.ref, ids[i] as string]));
  for (const [i, { dependsOn }] of tasks.entries()) {
    const resolved = dependsOn.map((id) => byRef.get(id) ?? id);
    if (resolved.length > 0) await replaceDependencies(em, ids[i] as string, [...new Set(resolved)]);
  }
  return getTasks(em, ids);
}

/** Finds refs that are used twice, and cycles of dependencies among the new tasks. */
function refProblems(tasks: NewTask[]): Problem[] {
  const problems: Problem[] = [];
  const byRef = new Map<string, NewTask>();
  for (const [i, task] of tasks.entries()) {
    if (task.ref === undefined) continue;
    const path = `tasks.${i}.ref`;
    if (byRef.has(task.ref))
      problems.push({ path, message: `${path} must differ from the refs of earlier tasks; it is ${task.ref}` });
    byRef.set(task.ref, task);
  }
  const state = new Map<NewTask, 'open' | 'done'>();
  const closesCycle = (task: NewTask): boolean => {
    if (state.has(task)) return state.get(task) === 'open';
    state.set(task, 'open');
    const found = task.dependsOn.some((id) => {
      const next = byRef.get(id);
      return next !== undefined && closesCycle(next);
    });
    state.set(task, 'done');
    return found;
  };
  for (const [i, task] of tasks.entries()) {
    const path = `tasks.${i}.dependsOn`;
    if (closesCycle(task))
      problems.push({
        path,
        message: `${path} must not make the task depend on itself, directly or through other tasks`,
      });
  }
  return problems;
}

async function referenceProblems(
  em: EntityManager,
  projectId: string,
  userId: string,
  tasks: NewTask[],
): Promise<Problem[]> {
  const refs = new Set(tasks.map((t) => t.ref));
  const ids = tasks.flatMap((t) => t.dependsOn).filter((id) => !refs.has(id));
  const known = await tasksAmong(em, projectId, ids);
  const problems: Problem[] = [];
  for (const [i, task] of tasks.entries()) {
    const own = [
      ...(await ownerProblems(em, projectId, userId, task.owner)),
      ...(await repositoryProblems(em, projectId, task.repositoryId)),
      ...(await sprintProblems(em, projectId, task.sprintId)),
      ...task.dependsOn.flatMap((id, n) => {
        const path = `dependsOn.${n}`;
        return refs.has(id) || known.has(id)
          ? []
          : [{ path, message: `${path} must be a task of this project or a ref of this request, not ${id}` }];
      }),
    ];
    problems.push(
      ...own.map(({ path, message }) => ({ path: `tasks.${i}.${path}`, message: `tasks.${i}.${message}` })),
    );
  }
  return problems;
}
