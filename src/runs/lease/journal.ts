import type { EntityManager } from 'typeorm';
import type { App } from '../../app.ts';
import { assertHeld, type Held } from '../store.ts';
import { findStep, insertEvent, insertStep, listStepNames } from './journal-store.ts';

/** The memory of a run: what it has settled stays settled, whoever continues it. */
export interface Journal {
  /** The data of a step, made at most once; `make` looks up what it would do before it does it. */
  once<T extends object>(name: string, make: () => Promise<T>): Promise<T>;
  recall<T>(name: string): Promise<T | undefined>;
  /** The names of the settled steps that begin so, in the order in which they were settled. */
  steps(begin: string): Promise<string[]>;
  /** A transaction that commits only while the run is ours. @throws LeaseLost */
  write<T>(work: (em: EntityManager) => Promise<T>): Promise<T>;
  /** A line of the run's log, for people. */
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
    steps: (begin) => listStepNames(app.db.manager, held.id, begin),
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

/** The name of a step: plain for the task's own repository, with its id for another one that the run has opened. */
export function stepOf(step: string, task: { repositoryId: string | null }, repository: { id: string }): string {
  return repository.id === task.repositoryId ? step : `${step} ${repository.id}`;
}
