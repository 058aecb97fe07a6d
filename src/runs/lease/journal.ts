import type { EntityManager } from 'typeorm';
import type { App } from '../../app.ts';
import { assertHeld, type Held } from '../store.ts';
import { findStep, insertEvent, insertStep, listStepNames } from './journal-store.ts';

/** The memory of a run. A step that is recorded here is never repeated, even when another worker continues the run. */
export interface Journal {
  /**
   * The data of a step; `make` runs only when the step is not recorded yet. A worker may stop before it records the step, so
   * `make` has to look up what exists before it creates anything.
   */
  once<T extends object>(name: string, make: () => Promise<T>): Promise<T>;
  /** The data of a step that is recorded; undefined for any other. */
  recall<T>(name: string): Promise<T | undefined>;
  /** The names of the recorded steps that start with a prefix, in the order in which they were recorded. */
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

/** The name of a step for one repository: plain for the task's own, followed by the id for any other. */
export function stepOf(step: string, task: { repositoryId: string | null }, repository: { id: string }): string {
  return repository.id === task.repositoryId ? step : `${step} ${repository.id}`;
}
