import type { EntityManager } from 'typeorm';
import type { App } from '../../app.ts';
import { assertHeld, type Held } from '../store.ts';
import { findStep, insertEvent, insertStep, listStepNames } from './journal-store.ts';

/** The step that holds how the agent ended its conversation and what the host judged. */
export const endingStep = 'ending';

/** The recorded steps of a run. A recorded step is never repeated, even when another worker continues the run. */
export interface Journal {
  /**
   * Returns the data of a step. Calls `make` only if the step is not recorded yet. A worker may stop between `make` and
   * the recording, so `make` must check what exists before it creates anything.
   */
  once<T extends object>(name: string, make: () => Promise<T>): Promise<T>;
  /** Returns the data of a recorded step; undefined for any other. */
  recall<T>(name: string): Promise<T | undefined>;
  /** Returns the names of the recorded steps that start with a prefix, in the order in which they were recorded. */
  steps(prefix: string): Promise<string[]>;
  /** Runs a transaction that commits only while this worker holds the run. @throws LeaseLost */
  write<T>(work: (em: EntityManager) => Promise<T>): Promise<T>;
  /** Adds a line to the run's log, which people read. */
  note(type: string, text: string, data?: object): Promise<void>;
}

export function openJournal(app: App, held: Held): Journal {
  const write = <T>(work: (em: EntityManager) => Promise<T>) =>
    app.db.transaction(async (em) => {
      await assertHeld(em, held);
      return work(em);
    });
  return {
    write,
    recall: (name) => findStep(app.db.manager, held.id, name),
    steps: (prefix) => listStepNames(app.db.manager, held.id, prefix),
    once: async (name, make) => {
      const known = await findStep<Awaited<ReturnType<typeof make>>>(app.db.manager, held.id, name);
      if (known !== undefined) return known;
      const data = await make();
      await write((em) => insertStep(em, held.id, name, data));
      return data;
    },
    note: (type, text, data = {}) => write((em) => insertEvent(em, held.id, type, text, data)),
  };
}

/**
 * Returns the name of a step for one repository. The task's own repository uses the plain name; for any other, its id
 * is appended.
 */
export function stepOf(step: string, task: { repositoryId: string | null }, repository: { id: string }): string {
  return repository.id === task.repositoryId ? step : `${step} ${repository.id}`;
}

/** The step of a rewound run that holds the branch of the run that it goes back to, one for each repository. */
export const earlierStep = 'earlier branch';

/** The step that holds the first turn (numbered from 0) up to which the files of a run are still known. */
export const droppedStep = 'files dropped';
