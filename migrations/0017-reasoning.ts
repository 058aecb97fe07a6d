import type { MigrationInterface, QueryRunner } from 'typeorm';

/** How much the model of an agent may think and write, and the input tokens that were read from a server's cache. */
export class Reasoning1765065600000 implements MigrationInterface {
  name = 'Reasoning1765065600000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      -- Null leaves it to the server.
      alter table agents
        add column reasoning_effort text
          check (reasoning_effort in ('none', 'minimal', 'low', 'medium', 'high', 'xhigh')),
        add column max_output_tokens integer check (max_output_tokens between 256 and 200000);
      -- A part of input_tokens.
      alter table runs add column cached_input_tokens bigint not null default 0`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table agents drop column reasoning_effort, drop column max_output_tokens;
      alter table runs drop column cached_input_tokens`);
  }
}
