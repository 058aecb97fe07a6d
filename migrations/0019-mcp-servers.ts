import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The MCP servers of a project, whose tools its agents may call. The values of their headers are encrypted. */
export class McpServers1765238400000 implements MigrationInterface {
  name = 'McpServers1765238400000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table mcp_servers (
        project_id text not null references projects (id) on delete cascade,
        name text not null,
        position integer not null,
        url text not null,
        tools jsonb,
        primary key (project_id, name)
      );
      create table mcp_headers (
        project_id text not null,
        server text not null,
        name text not null,
        key_id text not null,
        ciphertext bytea not null,
        primary key (project_id, server, name),
        foreign key (project_id, server) references mcp_servers (project_id, name) on delete cascade
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table mcp_headers; drop table mcp_servers');
  }
}
