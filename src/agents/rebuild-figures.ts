import type { EntityManager } from 'typeorm';
import { languagesByExtension } from './languages.ts';

/** Tasks counted by one statement. Transactions that change one of them wait for it when they commit. */
const portion = 250;

/**
 * Computes the figures of all agents and the counts of all tasks again, in small transactions, while the service runs.
 * Returns the number of tasks that have figures.
 */
export async function rebuildFigures(em: EntityManager): Promise<number> {
  await replaceLanguages(em);
  let counted = 0;
  for (let ids = await nextTasks(em, ''); ids.length > 0; ids = await nextTasks(em, ids.at(-1) ?? '')) {
    await em.query('select count_tasks($1)', [ids]);
    counted += ids.length;
  }
  const lines: { id: string }[] = await em.query(
    'select line_id as id from agents union select line_id from agent_figures',
  );
  for (const { id } of lines) await em.query('select recount_line($1)', [id]);
  await em.query('select recount_statuses()');
  return counted;
}

/** Returns the ids of tasks with runs, and of those that still have figures. */
async function nextTasks(em: EntityManager, after: string): Promise<string[]> {
  const rows: { id: string }[] = await em.query(
    `select id from (
       (select distinct task_id as id from runs where task_id > $1 order by 1 limit $2)
       union (select distinct task_id from task_figures where task_id > $1 order by 1 limit $2)) ids
     order by id limit $2`,
    [after, portion],
  );
  return rows.map((r) => r.id);
}

/** Stores the languages of the installed package, which may be newer than those stored. */
async function replaceLanguages(em: EntityManager): Promise<void> {
  const languages = await languagesByExtension();
  await em.query(
    `with installed as (select * from unnest($1::text[], $2::text[]) i (extension, name)),
     gone as (delete from languages where extension not in (select extension from installed))
     insert into languages select * from installed on conflict (extension) do update set name = excluded.name`,
    [[...languages.keys()], [...languages.values()]],
  );
}
