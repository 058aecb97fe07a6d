import { syncMilestones } from '../../../src/github/mirror/milestones.ts';
import { syncTask } from '../../../src/github/mirror/sync.ts';
import { openAcme } from '../../support/stand-ins/acme.ts';
import { around, asked } from '../../support/stand-ins/named-github.ts';

const acme = openAcme();
const milestones = '/repos/acme/app/milestones';

/** Shows a task of an active sprint on its issue. */
async function shown(pages: typeof around.pages = {}) {
  const { em, own, task, call, projectId } = await acme.twoPeople();
  const taskId = await task('ada');
  around.pages['/milestones'] = [];
  around.pages['/issues/8'] = { number: 8, milestone: null };
  Object.assign(around.pages, pages);
  const day = new Date().toISOString().slice(0, 10);
  const sprint = await call('ada', 'POST', `/projects/${projectId}/sprints`, {
    name: 'S',
    startDate: day,
    endDate: day,
  });
  await em.query(`update sprints set status = 'active' where id = $1`, [sprint.body.id]);
  await em.query('update tasks set issue_repository_id = $2, issue_number = 8, sprint_id = $3 where id = $1', [
    taskId,
    own.id,
    sprint.body.id,
  ]);
  await syncTask(acme.service.app, { taskId, recheck: false }).finally(() =>
    em.query(`update sprints set status = 'cancelled' where id = $1`, [sprint.body.id]),
  );
  return asked.map(({ path }) => path);
}

test('the issue of a task gets the milestone of its sprint', async () => {
  around.writes[`POST ${milestones}`] = { status: 201, body: { number: 3 } };
  expect(await shown()).toEqual(expect.arrayContaining([milestones, '/repos/acme/app/issues/8']));
});

test('of many milestones, the 1,000 with the last days are read', async () => {
  around.writes[`POST ${milestones}`] = { status: 201, body: { number: 4 } };
  const queries: string[] = [];
  const page = Array.from({ length: 100 }, (_, i) => ({ number: i + 10, title: `M${i}`, description: null }));
  const paths = await shown({
    '/milestones': (query: URLSearchParams) => {
      queries.push(query.toString());
      return page;
    },
  });
  expect(paths).toContain(milestones);
  const wanted = 'state=all&sort=due_on&direction=desc&per_page=100';
  expect(queries).toEqual(Array.from({ length: 10 }, (_, i) => `${wanted}&page=${i + 1}`));
});

test.each([403, 404, 422])('a milestone that GitHub refuses with %s does not fail the mirror', async (status) => {
  around.writes[`POST ${milestones}`] = { status, body: { message: 'refused' } };
  const paths = await shown();
  expect(paths).toEqual(expect.arrayContaining([milestones, '/repos/acme/app/issues/8/comments']));
  expect(paths).not.toContain('/repos/acme/app/issues/8');
});

/** What reading the repository answers, after updating its milestone was answered with a status. */
const answers = {
  'is readable': { status: 200, body: { id: 1, full_name: 'acme/app', has_issues: true } },
  'has no issues': { status: 200, body: { id: 1, full_name: 'acme/app', has_issues: false } },
  'is not readable': { status: 404, body: { message: 'Not Found' } },
};

test.each([
  [404, 'is readable', true],
  [404, 'has no issues', false],
  [404, 'is not readable', false],
  [403, 'is readable', false],
  [422, 'is readable', true],
] as const)('the milestone of a deleted sprint that GitHub answers with %i, whose repository %s, is forgotten: %p', async (status, repository, isForgotten) => {
  const { em, own, projectId } = await acme.twoPeople();
  await em.query('delete from sprint_milestones');
  await em.query(`insert into sprint_milestones (repository_id, number, shown) values ($1, 5, '')`, [own.id]);
  around.writes[`PATCH ${milestones}/5`] = { status, body: { message: 'refused' } };
  around.reads['/repos/acme/app'] = answers[repository];
  await syncMilestones(acme.service.app, projectId);
  expect(await em.query('select 1 from sprint_milestones')).toHaveLength(isForgotten ? 0 : 1);
});

test('a milestone whose update fails makes the job fail, which is tried again, after the others had their turn', async () => {
  const { em, own, projectId } = await acme.twoPeople();
  await em.query('delete from sprint_milestones');
  await em.query(
    `insert into sprint_milestones (repository_id, number, shown) select $1, n, '' from generate_series(5, 6) n`,
    [own.id],
  );
  around.writes[`PATCH ${milestones}/5`] = { status: 502, body: { message: 'Server Error' } };
  around.writes[`PATCH ${milestones}/6`] = { status: 200, body: { number: 6 } };
  await expect(syncMilestones(acme.service.app, projectId)).rejects.toMatchObject({ status: 502 });
  expect(await em.query('select number from sprint_milestones')).toEqual([{ number: 5 }]);
});
