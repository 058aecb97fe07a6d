import { AsyncLocalStorage } from 'node:async_hooks';
import type { DataSource, EntityManager, QueryRunner } from 'typeorm';

/** A transaction that everything called inside it joins without receiving it as a parameter. */
export interface Ambient {
  /**
   * Runs `work` and commits; rolls back if it throws. With `at: 'start'` all of it is one transaction. With `at: 'first
   * transaction'` the statements before its first `transaction` are committed one by one, so that `work` may wait for
   * other servers without holding a connection.
   */
  run<T>(at: Begins, work: () => Promise<T>): Promise<T>;
  /** Runs `work` in a savepoint of the ambient transaction or, if there is none, in a new transaction. */
  transaction<T>(work: (em: EntityManager) => Promise<T>): Promise<T>;
  /** Returns the connection of the ambient transaction, or undefined if none has begun. */
  runner(): QueryRunner | undefined;
  /** Returns whether an ambient transaction will commit the caller's transactions later. */
  isInside(): boolean;
  /** See `Database.afterCommit`. */
  afterCommit(act: () => void, em?: EntityManager): void;
  /** Calls `act` at the end of every transaction that is not inside another one, as its last part. */
  beforeCommit(act: LastAct): void;
}

/** The last part of a transaction. If it throws, the transaction is rolled back. */
export type LastAct = (em: EntityManager) => Promise<void>;

export type Begins = 'start' | 'first transaction';

interface Unit {
  runner: QueryRunner | undefined;
  /** True after the commit or rollback. Code that runs later, such as a timer set by `work`, starts new transactions. */
  isOver: boolean;
  afterwards: (() => void)[];
}

export function openAmbient(source: DataSource): Ambient {
  const storage = new AsyncLocalStorage<Unit>();
  const current = () => {
    const unit = storage.getStore();
    return unit?.isOver ? undefined : unit;
  };
  const lastActs: LastAct[] = [];
  /** What follows the transactions that are not ambient. */
  const followers = new WeakMap<QueryRunner, (() => void)[]>();
  const finish = async (em: EntityManager) => {
    for (const act of lastActs) await act(em);
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
        if (unit.runner !== undefined) await finish(unit.runner.manager);
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
        // A broken connection has been rolled back by the server already.
        if (unit.runner?.isTransactionActive) await unit.runner.rollbackTransaction().catch(() => {});
        await unit.runner?.release();
      }
    },
    transaction: async (work) => {
      const unit = current();
      if (unit === undefined) {
        const afterwards: (() => void)[] = [];
        const result = await source.transaction(async (em) => {
          if (em.queryRunner !== undefined) followers.set(em.queryRunner, afterwards);
          const result = await work(em);
          await finish(em);
          return result;
        });
        for (const act of afterwards) act();
        return result;
      }
      const runner = unit.runner ?? (await begin(unit));
      return runner.manager.transaction(work);
    },
    runner: () => current()?.runner,
    isInside: () => current() !== undefined,
    afterCommit: (act, em) => {
      const afterwards = (em?.queryRunner && followers.get(em.queryRunner)) ?? current()?.afterwards;
      if (afterwards === undefined) act();
      else afterwards.push(act);
    },
    beforeCommit: (act) => {
      lastActs.push(act);
    },
  };
}
