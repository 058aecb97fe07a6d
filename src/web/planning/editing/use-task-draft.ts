import { useEffect, useState } from 'react';
import type { PlannedTask, WizardSession } from '../../api.ts';
import { storeText } from '../../frame/personal-storage.ts';
import { writtenParts } from '../part-text.ts';

interface Draft {
  /** The tasks as they were when the person began to edit. */
  of: PlannedTask[];
  tasks: PlannedTask[];
}

const isSame = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

/**
 * Returns the planned tasks with the edits made in this browser, which survive reloads. When somebody else changes the
 * tasks, unsaved edits stay.
 */
export function useTaskDraft(session: WizardSession) {
  const current = writtenParts(session).tasks ?? [];
  const [draft, setDraft] = useState(() => storedDraft(session));
  const isChanged = !isSame(draft.tasks, draft.of);
  if (!isChanged && !isSame(draft.of, current)) setDraft({ of: current, tasks: current });
  useEffect(() => {
    if (isChanged) storeText(sessionStorage, storageKey(session), JSON.stringify(draft));
    else sessionStorage.removeItem(storageKey(session));
  }, [session, draft, isChanged]);
  const setTasks = (next: (before: PlannedTask[]) => PlannedTask[]) =>
    setDraft((before) => ({ ...before, tasks: next(before.tasks) }));
  return {
    tasks: draft.tasks,
    isChanged,
    update: (ref: string, change: Partial<PlannedTask>) =>
      setTasks((before) => before.map((task) => (task.ref === ref ? { ...task, ...change } : task))),
    remove: (ref: string) =>
      setTasks((before) =>
        before
          .filter((task) => task.ref !== ref)
          .map((task) => ({ ...task, dependsOn: task.dependsOn.filter((each) => each !== ref) })),
      ),
    add: () => setTasks((before) => [...before, emptyTask(before)]),
    /** Drops the unsaved edits and continues with these tasks. */
    reset: (tasks: PlannedTask[] = current) => setDraft({ of: tasks, tasks }),
  };
}

function emptyTask(tasks: PlannedTask[]): PlannedTask {
  let number = tasks.length + 1;
  while (tasks.some(({ ref }) => ref === `task-${number}`)) number += 1;
  const ref = `task-${number}`;
  return { ref, title: '', description: '', owner: null, ownerReason: null, repositoryId: null, dependsOn: [] };
}

const storageKey = ({ sessionId }: WizardSession) => `plan ${sessionId}`;

function storedDraft(session: WizardSession): Draft {
  const tasks = writtenParts(session).tasks ?? [];
  const stored = JSON.parse(sessionStorage.getItem(storageKey(session)) ?? 'null') as Draft | null;
  return stored !== null && Array.isArray(stored.of) && Array.isArray(stored.tasks) ? stored : { of: tasks, tasks };
}
