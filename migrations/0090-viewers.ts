import type { MigrationInterface, QueryRunner } from 'typeorm';

/** People who read a project and change nothing. Becoming one, or ceasing to be one, changes what one's inbox lists. */
export class Viewers1771286400000 implements MigrationInterface {
  name = 'Viewers1771286400000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table members drop constraint members_role_check,
        add constraint members_role_check check (role in ('viewer', 'member', 'admin', 'owner')),
        drop constraint members_given_role_check,
        add constraint members_given_role_check check (given_role in ('viewer', 'member', 'admin', 'owner'));
      drop trigger members_inbox on members;
      create trigger members_inbox after insert or delete or update of role on members
        for each row execute function note_inbox_of_member();`);
  }

  /** Viewers lose their access. Any other role would let them change things. */
  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      drop trigger members_inbox on members;
      create trigger members_inbox after insert or delete on members
        for each row execute function note_inbox_of_member();
      delete from members where role = 'viewer';
      update members set given_role = null where given_role = 'viewer';
      alter table members drop constraint members_role_check,
        add constraint members_role_check check (role in ('member', 'admin', 'owner')),
        drop constraint members_given_role_check,
        add constraint members_given_role_check check (given_role in ('member', 'admin', 'owner'));`);
  }
}
