import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Finds the answers of MCP servers, which what is shown in a public repository is asked about often. */
export class McpAnswers1772238360000 implements MigrationInterface {
  name = 'McpAnswers1772238360000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`create index run_events_mcp on run_events (run_id) where type = 'mcp'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop index run_events_mcp');
  }
}
