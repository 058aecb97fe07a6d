import { useEffect, useState } from 'react';
import type { PlannedTask, WizardSession } from '../api.ts';

/**
 * Returns the planned tasks with the edits made in this browser. The edits survive reloads until the sprint is created.
 */
export function useTaskDraft(session: WizardSession) {
  const [tasks, setTasks] = useState(() => storedDraft(session));
  useEffect(() => {
    sessionStorage.setItem(storageKey(session), JSON.stringify({ of: session.tasks, tasks }));
  }, [session, tasks]);
  const update = (ref: string, change: Partial<PlannedTask>) =>
    setTasks((before) => before.map((task) => (task.ref === ref ? { ...task, ...change } : task)));
  const remove = (ref: string) =>
    setTasks((before) =>
      before
        .filter((task) => task.ref !== ref)
        .map((task) => ({ ...task, dependsOn: task.dependsOn.filter((each) => each !== ref) })),
    );
  const isChanged = JSON.stringify(tasks) !== JSON.stringify(session.tasks);
  return { tasks, update, remove, isChanged };
}

const storageKey = ({ sessionId }: WizardSession) => `plan ${sessionId}`;

/** Returns the stored edits, unless the tasks have been regenerated since. */
function storedDraft(session: WizardSession): PlannedTask[] {
  const generated = session.tasks ?? [];
  const stored = JSON.parse(sessionStorage.getItem(storageKey(session)) ?? '{}') as {
    of?: unknown;
    tasks?: PlannedTask[];
  };
  return JSON.stringify(stored.of) === JSON.stringify(session.tasks) ? (stored.tasks ?? generated) : generated;
}
