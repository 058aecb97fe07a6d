import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The paths of a diff are read for all tasks in progress at once, and its lines are not: reading both took seconds. The trigger
 * also works for what a worker of the previous release stores.
 */
export class PathsOfDiffs1772238000000 implements MigrationInterface {
  name = 'PathsOfDiffs1772238000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table diffs add column paths jsonb not null default '[]';
      update diffs set paths = jsonb_path_query_array(files, '$[*].path');

      create function keep_paths_of_diff() returns trigger language plpgsql as $f$
      begin
        new.paths := jsonb_path_query_array(new.files, '$[*].path');
        return new;
      end $f$;
      create trigger diffs_paths before insert or update of files on diffs for each row
        execute function keep_paths_of_diff();`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      drop trigger diffs_paths on diffs;
      drop function keep_paths_of_diff();
      alter table diffs drop column paths;`);
  }
}
