import { AsyncLocalStorage } from 'node:async_hooks';
import type { DataSource, EntityManager, QueryRunner } from 'typeorm';

/** A transaction that everything called inside it joins without being passed it. */
export interface Ambient {
  /**
   * Runs `work` and commits; rolls back if it throws. With `at: 'start'` all of it is one transaction. With
   * `at: 'first transaction'` the statements before its first `transaction` are committed one by one, so that `work` may
   * wait for other servers without holding a connection.
   */
  run<T>(at: Begins, work: () => Promise<T>): Promise<T>;
  /** A savepoint inside an ambient transaction, a transaction of its own elsewhere. */
  transaction<T>(work: (em: EntityManager) => Promise<T>): Promise<T>;
  /** The connection of the ambient transaction; undefined outside of one, and before it begins. */
  runner(): QueryRunner | undefined;
  /** Whether the caller's transactions are committed only later. */
  isInside(): boolean;
  /** Calls `act` once the writes so far are committed: at once outside, never if they are rolled back. */
  afterCommit(act: () => void): void;
}

export type Begins = 'start' | 'first transaction';

interface Unit {
  runner: QueryRunner | undefined;
  /** Code that outlives the unit, such as a timer it has set, has transactions of its own again. */
  isOver: boolean;
  afterwards: (() => void)[];
}

export function openAmbient(source: DataSource): Ambient {
  const storage = new AsyncLocalStorage<Unit>();
  const current = () => {
    const unit = storage.getStore();
    return unit?.isOver ? undefined : unit;
  };
  const begin = async (unit: Unit): Promise<QueryRunner> => {
    unit.runner = source.createQueryRunner();
    await unit.runner.startTransaction();
    return unit.runner;
  };
  return {
    run: async (at, work) => {
      const unit: Unit = { runner: undefined, isOver: false, afterwards: [] };
      const committed = async () => {
        if (at === 'start') await begin(unit);
        const result = await storage.run(unit, work);
        await unit.runner?.commitTransaction();
        return result;
      };
      try {
        const result = await committed();
        unit.isOver = true;
        for (const act of unit.afterwards) act();
        return result;
      } finally {
        unit.isOver = true;
        // A connection that is broken has rolled back already.
        if (unit.runner?.isTransactionActive) await unit.runner.rollbackTransaction().catch(() => {});
        await unit.runner?.release();
      }
    },
    transaction: async (work) => {
      const unit = current();
      if (unit === undefined) return source.transaction(work);
      const runner = unit.runner ?? (await begin(unit));
      return runner.manager.transaction(work);
    },
    runner: () => current()?.runner,
    isInside: () => current() !== undefined,
    afterCommit: (act) => {
      const unit = current();
      if (unit === undefined) act();
      else unit.afterwards.push(act);
    },
  };
}
