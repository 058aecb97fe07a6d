import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Runs that go back to a turn of an earlier run. To make this possible, each turn keeps its files and its figures. */
export class Rewinding1765843200000 implements MigrationInterface {
  name = 'Rewinding1765843200000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table runs
        -- The turn of continues_run_id, numbered from 1, after which a rewound run goes on.
        add column rewound_turn integer,
        drop constraint runs_kind_check,
        add constraint runs_kind_check check (kind in ('start', 'retry', 'revise', 'continue', 'rewind')),
        add constraint runs_rewound_check check ((kind = 'rewind') = (rewound_turn is not null));
      alter table run_turns
        -- The figures of the turn; 0 for a turn that was copied from an earlier run. Null for a turn that an older version
        -- stored. Its workspace holds all files that differ from the start, and only the newest one was kept.
        add column input_tokens bigint,
        add column cached_input_tokens bigint,
        add column output_tokens bigint,
        add column cost_usd numeric,
        -- What the prompts of this turn and later ones leave out; null when it is as before.
        add column learned json;
      -- The files with which the run began, if those are not the files of a commit.
      alter table run_contexts add column workspace bytea;`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table run_contexts drop column workspace;
      alter table run_turns drop column learned, drop column cost_usd, drop column output_tokens,
        drop column cached_input_tokens, drop column input_tokens;
      delete from runs where kind = 'rewind';
      alter table runs drop constraint runs_rewound_check, drop constraint runs_kind_check,
        add constraint runs_kind_check check (kind in ('start', 'retry', 'revise', 'continue')),
        drop column rewound_turn;`);
  }
}
