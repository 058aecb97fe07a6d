import { planName } from '../../../src/domain/wizard.ts';
import { planComment } from '../../../src/github/planning/plan-comment.ts';
import type { PlannedTask, Session } from '../../../src/planning/store.ts';
import type { Outlook } from '../../../src/planning/view.ts';
import { openAcme } from '../../support/stand-ins/acme.ts';

const task = (ref: string, more: Partial<PlannedTask> = {}): PlannedTask => ({
  ref,
  title: `Do ${ref}`,
  description: '',
  owner: null,
  ownerReason: null,
  repositoryId: null,
  dependsOn: [],
  ...more,
});
const session: Session = {
  id: 'wiz_1',
  projectId: 'proj_1',
  repositoryIds: [],
  repositoryCount: 0,
  goal: 'Greet people',
  status: 'tasks_ready',
  steps: [],
  prd: null,
  plan: null,
  tasks: [task('a'), task('b', { dependsOn: ['a'] }), task('c')],
  previous: {},
  outdated: [],
  wish: null,
  repositoryNotes: null,
  result: null,
  sprintId: null,
  issueRepositoryId: null,
  issueNumber: null,
  issueUrl: null,
  createdBy: null,
  directedBy: [],
  updatedBy: null,
  createdAt: new Date(0),
  updatedAt: new Date(0),
  version: 1,
};
const estimate = { likelyMinutes: 41.3, safeMinutes: 90, workMinutes: 20, basedOn: ['x', 'y', 'z'], isSimilar: true };
const tasksWith = (outlook: Outlook) =>
  planComment(session, '/agent', { agents: new Map(), repositories: new Map(), outlook })
    .split('\n')
    .filter((line) => line.startsWith('- `'));

test('the comment of a plan says how long tasks may take, and which ones would be done too late', () => {
  const estimates = new Map([
    ['a', estimate],
    ['b', { ...estimate, likelyMinutes: 4000, isSimilar: false }],
  ]);
  const doesNotFit = [{ ref: 'b', doneAt: new Date(), reason: 'Would be done too late.' }];
  expect(tasksWith({ estimates, doesNotFit })).toEqual([
    '- `a` Do a. About 40 min, from 3 similar tasks.',
    '- `b` Do b, after a. About 3 days, from the latest 3 finished tasks. Would be done too late.',
    '- `c` Do c',
  ]);
  expect(tasksWith({ estimates: new Map(), doesNotFit: [] })).toEqual([
    '- `a` Do a',
    '- `b` Do b, after a',
    '- `c` Do c',
  ]);
});

const acme = openAcme();

test('a plan from an issue is called what the issue is called, without its text', async () => {
  const { call, em, projectId } = await acme.twoPeople();
  const shows = { title: 'Greet people', body: '# Why\n\n- **Warmth**' };
  await acme.say(400, 'ada', '/agent plan keep it small', 81, undefined, shows);
  const [listed] = (await call('ada', 'GET', `/projects/${projectId}/wizard`)).body;
  expect(listed).toMatchObject({
    goal: 'Greet people\n\n# Why - **Warmth** Above all: keep it small',
    issueUrl: expect.stringMatching(/\/acme\/app\/issues\/81$/),
  });
  expect(planName(listed)).toBe('Greet people');
  const [, heading] = planComment({ ...session, ...listed }, '/agent', {
    ...{ agents: new Map(), repositories: new Map(), outlook: { estimates: new Map(), doesNotFit: [] } },
  }).split('\n');
  expect(heading).toBe('### 🧭 Plan: Greet people');
  expect(planName({ ...listed, issueUrl: null })).toContain('# Why');
  await em.query('delete from wizard_sessions');
});
