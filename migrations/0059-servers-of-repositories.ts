import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The repositories whose runs may use an MCP server; null for the only repository of the project. */
export class ServersOfRepositories1768694400000 implements MigrationInterface {
  name = 'ServersOfRepositories1768694400000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table mcp_servers add repositories jsonb;');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table mcp_servers drop column repositories;');
  }
}
