import type { MigrationInterface, QueryRunner } from 'typeorm';

const behind = `('prove', 'harvest', 'trial')`;

/**
 * What autoscalers read: a row for each run that a worker holds, or could claim now if it had the labels. Runs with the
 * same `place` in a project exclude each other, because an agent works on one run of a project at a time.
 *
 * It is a view, so that an autoscaler needs a role that may read nothing else. `MAX_RUNS_PER_PROJECT` is a setting, so the
 * reader applies it.
 */
export class Scaling1772064000000 implements MigrationInterface {
  name = 'Scaling1772064000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create view deckhand_scaling as
      select r.project_id, r.runs_on,
        case when r.agent_id is null or r.kind in ${behind} then r.id else r.agent_id end as place,
        r.status,
        case when r.status = 'running' then r.started_at else greatest(r.created_at, r.waiting_since) end as since
      from runs r
      where r.status = 'running'
        or r.status = 'queued' and r.kind not in ${behind} and not exists (
          select from runs b where b.status = 'running' and b.kind not in ${behind}
            and b.project_id = r.project_id and b.agent_id = r.agent_id)
        -- These let all others of their project go first.
        or r.status = 'queued' and r.kind in ${behind} and not exists (
          select from runs w where w.status = 'queued' and w.kind not in ${behind} and w.project_id = r.project_id)
        -- No running worker had its labels. It continues as soon as one starts.
        or r.status = 'waiting' and r.wait_reason = 'host' and r.runs_on <> '{}' and r.resume_at is null;`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop view deckhand_scaling');
  }
}
