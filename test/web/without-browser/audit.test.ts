import type { AuditRecord } from '../../../src/web/api.ts';
import {
  auditFilterOf,
  changesIn,
  idsIn,
  namedVersions,
  partsOf,
  shownValue,
} from '../../../src/web/audit/record-texts.ts';
import { actionPhrase, fieldName } from '../../../src/web/audit/words.ts';

// How the audit log finds the names of what its records are about.

const idOf = (prefix: string, digit: number) => `${prefix}_${String(digit).repeat(26)}`;

function record(action: string, id: string, detail: AuditRecord['detail'] = {}): AuditRecord {
  const at = '2026-01-05T10:00:00.000Z';
  return { id: 'audit_1', at, actor: null, via: 'session', action, object: { type: 'task', id }, detail };
}

test('every id in a record is found once, also in lists and between words', () => {
  const [task, other, agent] = [idOf('task', 1), idOf('task', 2), idOf('agent', 3)];
  const records = [
    record('sprint.add_tasks', idOf('sprint', 4), { tasks: [null, `${task}, ${other}, task_22222…`] }),
    record('project.save_view', idOf('proj', 5), { 'view mine': [null, `agent=${agent}&sort=cost`], days: [1, 90] }),
    record('task.update', task, { owner: [agent, idOf('user', 6)], title: ['task_force', 'a task_1 b'] }),
    record('issue.import', 'acme/app#12'),
  ];
  const ids = [idOf('sprint', 4), task, other, idOf('proj', 5), agent, idOf('user', 6)];
  expect(idsIn(records)).toEqual(ids);
  expect(partsOf(`agent=${agent}&sort=cost`)).toEqual(['agent=', agent, '&sort=cost']);
});

test('earlier versions of an agent have its name, as long as it has one', () => {
  const [one, two, three, gone] = [1, 2, 3, 4].map((digit) => idOf('agent', digit)) as [string, string, string, string];
  const evolve = (before: string, after: string, version: number) =>
    record('agent.evolve', before, { id: [before, after], version: [version, version + 1] });
  const named = new Map([[three, { name: 'Writer', to: `/agents/${three}` }]]);
  expect(namedVersions([evolve(two, three, 2), evolve(gone, 'agent_x', 1), evolve(one, two, 1)], named)).toEqual([
    [two, { name: 'Writer (version 2)', to: `/agents/${two}` }],
    [one, { name: 'Writer (version 1)', to: `/agents/${one}` }],
  ]);
});

test('a status has the name that the board shows, and an empty value is said', () => {
  expect([shownValue('status', 'in_review'), shownValue('title', 'in_review')]).toEqual(['In review', 'in_review']);
  expect([null, undefined, ''].map((value) => shownValue('status', value))).toEqual(Array(3).fill('(none)'));
  expect(shownValue('paused', false)).toBe('no');
  expect(shownValue('snoozedUntil', '2026-01-06T09:00:00.000Z')).toBe('2026-01-06 09:00:00 UTC');
});

test('budgets are said in words', () => {
  const change = (field: string, before: string | null, after: string) =>
    `${shownValue(field, before)} → ${shownValue(field, after)}`;
  expect(change('budget', null, '{"costUsd":0.5}')).toBe('none → $0.50 a run');
  expect(change('budget', '{"costUsd":8,"steps":1}', '{"minutes":20}')).toBe('$8, 1 step a run → 20 minutes a run');
  expect(change('budgets', '{}', '{"runCostUsd":null,"dayCostUsd":12.5}')).toBe('none → $12.50 a day');
  expect(change('budgets', '{"runTokens":1000}', '{"runTok…')).toBe('1,000 tokens a run → {"runTok…');
});

test('an empty field of something new is not shown as a change', () => {
  const detail = { owner: [null, null], description: [null, ''], title: [null, 'New'] };
  expect(changesIn(detail).map(([field]) => field)).toEqual(['title']);
});

test('an approval says what was approved, if its record says it', () => {
  expect(actionPhrase('task.approve', { attention: ['plan', null] })).toBe('approved the plan of');
  expect(actionPhrase('task.approve', { attention: ['push', null] })).toBe('approved the change of');
  expect(actionPhrase('task.approve', {})).toBe('approved what waited in');
  expect(actionPhrase('task.answer', { attention: ['question', null] })).toBe('answered the question of');
  expect(actionPhrase('task.levitate', {})).toBe('task.levitate');
});

test('fields have names in words, and that of a view stays as somebody wrote it', () => {
  expect(['reasoningEffort', 'sprintId', 'git_token', 'view Mine', `step_${'0'.repeat(26)}`].map(fieldName)).toEqual([
    'reasoning effort',
    'sprint',
    'Git token',
    'view Mine',
    'answer',
  ]);
});

test('the filter of the audit log includes both of its days, and leaves out what is no day', () => {
  const none = { person: '', action: '', object: '', from: '', to: '' };
  expect(auditFilterOf(none)).toEqual({});
  const {
    since = '',
    until = '',
    ...rest
  } = auditFilterOf({
    ...none,
    person: 'system',
    from: '2026-01-31',
    to: '2026-01-31',
  });
  expect([rest, Date.parse(until) - Date.parse(since)]).toEqual([{ actor: 'system' }, 86_400_000]);
  expect(auditFilterOf({ ...none, from: '2026-02-99', to: 'yesterday' })).toEqual({});
});
