import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A check of the encryption key, and deliveries without their payloads once they are handled. */
export class Upkeep1771977600000 implements MigrationInterface {
  name = 'Upkeep1771977600000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      -- One known value, encrypted, which shows whether the key of a process is that of the stored secrets.
      create table key_check (
        is_only boolean primary key default true check (is_only),
        key_id text not null,
        ciphertext bytea not null
      );

      -- Handled deliveries keep the digest of their payload (SHA-256). Existing ones lose their payloads in portions.
      alter table deliveries alter column payload drop not null, add column digest bytea,
        add constraint deliveries_payload_check check (payload is not null or handled_at is not null);
      create index deliveries_with_payload on deliveries (received_at) where payload is not null and handled_at is not null;
      create index reconciliations_age on reconciliations (started_at);
      create index handled_commands_age on handled_commands (at);
      create index diffs_age on diffs (at);`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      drop index diffs_age, handled_commands_age, reconciliations_age, deliveries_with_payload;
      alter table deliveries drop constraint deliveries_payload_check, drop column digest;
      update deliveries set payload = '{}' where payload is null;
      alter table deliveries alter column payload set not null;
      drop table key_check;`);
  }
}
