import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * A run that takes up a conversation is told what people ask of it in a message of the last turn that it copied, which may repeat
 * what is in other repositories. Those count as open at the end of that turn from now on.
 */
export class ToldPlaces1772238390000 implements MigrationInterface {
  name = 'ToldPlaces1772238390000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `update run_steps s set at = t.at
       from run_steps c, run_steps told, run_turns t
       where c.run_id = s.run_id and c.name = 'conversation' and told.run_id = s.run_id and told.name = 'continuation'
         and t.run_id = s.run_id and t.turn = (c.data->>'turns')::int - 1
         and starts_with(s.name, 'opened ') and s.at > t.at and s.at <= told.at`,
    );
  }

  async down(): Promise<void> {}
}
