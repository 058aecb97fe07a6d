import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Titles of several words, and descriptions, are searched with an index in which each project has words of its own. */
export class SearchByProject1766880000000 implements MigrationInterface {
  name = 'SearchByProject1766880000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      -- The words of a task. Each begins with a hash of the project, which seldom is that of another one, and then with a
      -- dot if it is in the description, with '=' if it is in the title. Words of the title follow once more with '<', from
      -- their last letter to their first, so that the end of a word is found too.
      create function search_words(project_id text, title text, words tsvector) returns tsvector
      language sql immutable parallel safe cost 5000 as $$
        select array_to_tsvector(array_agg(distinct to_hex(hashtext(project_id)) || word)) from (
          select '.' || word from unnest(tsvector_to_array(words)) word where word not like '/%'
          union all
          select unnest(array['=' || left(word, 60), '<' || left(reverse(word), 60)])
          from regexp_split_to_table(lower(title), '[\\t-\\r -/:-@[-^\`{-~]+') word where word <> '') all_words (word)
      $$;
      drop index tasks_words;
      create index tasks_search on tasks using gin (search_words(project_id, title, words)) with (fastupdate = off);`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      drop index tasks_search;
      create index tasks_words on tasks using gin (words) with (fastupdate = off);
      drop function search_words(text, text, tsvector);`);
  }
}
