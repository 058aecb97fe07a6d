import type { AgentEntry, Spend } from '../../../src/web/api.ts';
import { agentCost, roundedTogether } from '../../../src/web/display/formats.ts';
import { submitOnce } from '../../../src/web/forms/submit.ts';
import {
  dismissConnectionErrors,
  dismissErrorsBefore,
  dismissLinksTo,
  dropNotice,
  listNotices,
  type Notice,
  show,
} from '../../../src/web/frame/shown-notices.ts';
import { ariaKeys, isPressed, keyNames, type ShortcutName, shortcuts } from '../../../src/web/keys/shortcuts.ts';
import { errorMessage } from '../../../src/web/live/errors.ts';
import { rank, scoreOf } from '../../../src/web/palette/rank.ts';
import { listRecent, remember } from '../../../src/web/palette/recent.ts';
import { agentToPreselect } from '../../../src/web/projects/preselected-agent.ts';
import {
  chartOf,
  compareProjects,
  groupName,
  groupPath,
  hasUnpriced,
  type ProjectSpend,
  sumOfProjects,
} from '../../../src/web/spend/spend-text.ts';
import { browserStorage } from '../../support/stand-ins/browser-storage.ts';

// What works on every page of the dashboard, as far as it can be tested without a page.

test('what was opened last comes first, once, and no address leads out of the dashboard', () => {
  const stored = browserStorage();
  for (const id of ['a', 'b', 'a', ...Array.from({ length: 25 }, (_, i) => `n${i}`), 'b'])
    remember(stored, 'mona', { id, kind: 'task', text: id.repeat(300), to: `/tasks/${id}` });
  const recent = listRecent(stored, 'mona');
  expect([recent.length, recent[0]?.id, recent[1]?.id, recent[0]?.text.length]).toEqual([20, 'b', 'n24', 200]);
  for (const text of [
    '{',
    '{}',
    '[1, null, {"id": "x"}]',
    '[{"id":"x","kind":"task","text":"x","to":"//evil.example"}]',
    '[{"id":"x","kind":"task","text":"x","to":"/\\\\evil.example"}]',
  ]) {
    stored.setItem('deckhand-recent mona', text);
    expect([text, listRecent(stored, 'mona')]).toEqual([text, []]);
  }
});

test('the palette finds words in any order, the best and latest match first, and parts of words if there is nothing else', () => {
  const best = (search: string, texts: string[], recent: string[] = []) =>
    rank(
      search,
      texts.map((text) => ({ id: text, text })),
      recent,
      9,
    ).map(({ text }) => text);
  const all = ['Sprints', 'New sprint', 'Reprint invoices', 'Set printer', 'Board'];
  expect(best('print', all)).toEqual(['Set printer']);
  expect(best('sprint', all)).toEqual(['Sprints', 'New sprint']);
  expect(best('rint', all)).toEqual(['Sprints', 'New sprint', 'Reprint invoices', 'Set printer']);
  expect(best('board', ['Show keyboard shortcuts', 'Board of shop'])).toEqual(['Board of shop']);
  expect(best('board', ['Show keyboard shortcuts'])).toEqual(['Show keyboard shortcuts']);
  expect(best('set rint', all)).toEqual(['Set printer']);
  expect(best('INV re', all)).toEqual(['Reprint invoices']);
  expect(best('brd', all)).toEqual(['Board']);
  expect(best('bd', all)).toEqual([]);
  expect(best('start', ['Use the dark theme'])).toEqual([]);
  const members = { id: 'm', text: 'Members', words: 'invite people' };
  const named = (search: string) =>
    rank(search, [members, { id: 't', text: 'Invite form' }], [], 9).map(({ id }) => id);
  expect([named('invite'), named('people'), named('vite')]).toEqual([['t', 'm'], ['m'], ['t']]);
  expect(best('', all, ['Board', 'Set printer'])).toEqual([
    'Board',
    'Set printer',
    'Sprints',
    'New sprint',
    'Reprint invoices',
  ]);
  expect(best('rint', all, ['Reprint invoices'])).toEqual(['Reprint invoices', 'Sprints', 'New sprint', 'Set printer']);
  const found = rank(
    'timeout',
    [
      { id: 'a', text: 'Fix login', isFound: true },
      { id: 'b', text: 'Other' },
    ],
    [],
    9,
  );
  expect(found.map(({ id }) => id)).toEqual(['a']);
  expect(scoreOf('größe', 'Die Größe')).toBeGreaterThan(0);
});

test('each shortcut is declared once and recognized, with Caps Lock too', () => {
  const press = (key: string, more: object = {}) => ({
    key,
    ctrlKey: false,
    metaKey: false,
    altKey: false,
    shiftKey: false,
    ...more,
  });
  const pressed = (keys: ReturnType<typeof press>) =>
    (Object.keys(shortcuts) as ShortcutName[]).filter((name) => isPressed(name, keys));
  expect(pressed(press('n'))).toEqual(['newTask']);
  expect(pressed(press('N'))).toEqual(['newTask']);
  expect(pressed(press('?', { shiftKey: true }))).toEqual(['keys']);
  expect(pressed(press('k', { ctrlKey: true }))).toEqual(['palette']);
  expect(pressed(press('K', { metaKey: true }))).toEqual(['palette']);
  expect(pressed(press('k'))).toEqual(['previous']);
  for (const more of [
    { ctrlKey: true, shiftKey: true },
    { ctrlKey: true, altKey: true },
  ])
    expect(pressed(press('k', more))).toEqual([]);
  expect(pressed(press('n', { ctrlKey: true }))).toEqual([]);
  expect([keyNames('palette', false), keyNames('palette', true), keyNames('newTask', false)]).toEqual([
    ['Ctrl', 'K'],
    ['⌘', 'K'],
    ['n'],
  ]);
  expect([ariaKeys('palette'), ariaKeys('search')]).toEqual(['Control+k Meta+k', '/']);
});

test('notices disappear when they no longer apply', () => {
  const add = (text: string, more: Partial<Notice> = {}) =>
    show({ text, variant: 'danger', isAboutConnection: false, at: 1, ...more });
  const texts = () => listNotices().map(({ text }) => text);
  add('refused');
  add('offline', { isAboutConnection: true });
  add('saved', { variant: 'success' });
  add('refused');
  expect(texts()).toEqual(['offline', 'saved', 'refused']);
  dismissConnectionErrors();
  expect(texts()).toEqual(['saved', 'refused']);
  add('later', { at: 5 });
  dismissErrorsBefore(3);
  expect(texts()).toEqual(['saved', 'later']);
  dropNotice('later');
  for (const text of ['1', '2', '3', '4']) add(text);
  expect(texts()).toEqual(['2', '3', '4']);
  add('created', { variant: 'success', action: { name: 'Open', to: '/tasks/1', act: () => {} } });
  dismissLinksTo('/tasks/2');
  expect(texts()).toContain('created');
  dismissLinksTo('/tasks/1');
  expect(texts()).not.toContain('created');
});

test('an error about fields calls them as the form does', () => {
  const errors = [
    { path: 'login', message: 'login is required' },
    { path: 'role', message: 'role must be admin or member' },
    { path: 'log', message: 'login must differ' },
  ];
  const error = { status: 400, data: { message: errors.map(({ message }) => message).join('; '), errors } };
  expect(errorMessage(error, { login: 'GitHub username', log: 'Log' })).toBe(
    'GitHub username is required; role must be admin or member; login must differ',
  );
  expect(errorMessage(error)).toBe(error.data.message);
  const days = [{ path: 'endDate', message: 'endDate must not be before startDate' }];
  expect(errorMessage({ status: 400, data: { errors: days } }, { startDate: 'First day', endDate: 'Last day' })).toBe(
    'Last day must not be before first day',
  );
  // The browsers' words for a request that failed, and a mistake of a script.
  const lost = [
    'Failed to fetch',
    'NetworkError when attempting to fetch resource.',
    'Load failed',
    'The Internet connection appears to be offline.',
  ];
  for (const words of lost) expect(errorMessage(new TypeError(words))).toMatch(/cannot be reached|You are offline/);
  expect(errorMessage(new TypeError('f is not a function'))).toBe('f is not a function');
  expect(errorMessage({ status: 409, data: { message: 'login is taken' } }, { login: 'Name' })).toBe('login is taken');
});

test('the agent of the last task is preselected, otherwise the default or the first of the project', () => {
  const project = (defaultAgentId: string | null = null) => ({ id: 'p', defaultAgentId });
  const agent = (id: string, projectId: string | null, status: AgentEntry['status'] = 'available') => ({
    id,
    projectId,
    status,
    name: id,
    team: '',
  });
  const agents = [agent('own', null), agent('old', 'p', 'offline'), agent('developer', 'p', 'busy'), agent('qa', 'p')];
  const stored = browserStorage();
  expect(agentToPreselect(project(), agents, stored)).toBe('developer');
  expect(agentToPreselect(project('qa'), agents, stored)).toBe('qa');
  expect(agentToPreselect(project('old'), agents, stored)).toBe('developer');
  stored.setItem('deckhand-last-agent p', 'own');
  expect(agentToPreselect(project(), agents, stored)).toBe('own');
  stored.setItem('deckhand-last-agent p', 'deleted');
  expect(agentToPreselect(project(), agents, stored)).toBe('developer');
  expect(agentToPreselect(project(), [agent('own', null)], stored)).toBe('');
});

test('the costs of groups are rounded so that they add up to the total', () => {
  expect(roundedTogether([0.2149, 0.0547], 0.2696)).toEqual([0.22, 0.05]);
  expect(roundedTogether([1, 2], 3)).toEqual([1, 2]);
  expect(roundedTogether([0.1, 0.2], 0.1 + 0.2)).toEqual([0.1, 0.2]);
  // What is not free is not shown as free, and what does not add up stays as it is.
  expect(roundedTogether([0.5, 0.001], 0.501)).toEqual([0.5, 0.001]);
  expect(roundedTogether([1.234], 9)).toEqual([1.234]);
  // The table of agents shows what the page of spend shows.
  const agents = [0.095175, 0.0272884].map((costUsd, i) => ({ agentId: `a${i}`, costUsd }));
  const spend = { agents, total: { costUsd: 0.1224634 } } as never;
  expect(['a0', 'a1', 'a2'].map((id) => agentCost(spend, id))).toEqual(['$0.09', '$0.03', '$0.00']);
});

test('groups of the spend have names and links as far as there are any', () => {
  const used = { costUsd: 1, inputTokens: 9, cachedInputTokens: 0, outputTokens: 1 };
  const named = (by: Spend['by'], id: string | null, name: string | null) =>
    [groupName(by, { id, name, ...used }), groupPath('p', by, { id, name, ...used })] as const;
  expect(named('person', 'user_1', 'octocat')).toEqual(['octocat', undefined]);
  expect(named('sprint', 'sprint_1', 'S')).toEqual(['S', '/sprints/sprint_1']);
  expect(named('sprint', 'sprint_1', null)).toEqual(['Deleted sprint', undefined]);
  expect(named('person', null, null)).toEqual(['Runs that nobody started', undefined]);
  expect(named('sprint', null, null)).toEqual(['No sprint', undefined]);
  expect(named('agent', 'agent_1', 'Developer')).toEqual(['Developer', '/projects/p/agents/agent_1']);
});

test('the chart of the spend has the most expensive agents, and adds up to the cost of each day', () => {
  const used = (costUsd: number) => ({ costUsd, inputTokens: 9, cachedInputTokens: 0, outputTokens: 1 });
  const agents = [9, 8, 7, 6, 5, 4, 0].map((costUsd, i) => ({
    agentId: i === 2 ? null : `agent_${i}`,
    name: i === 2 ? null : `Agent ${i}`,
    ...used(costUsd),
  }));
  const spend: Spend = {
    days: [
      { day: '2026-01-04', ...used(0), agents: [] },
      { day: '2026-01-05', ...used(39), agents: agents.map(({ agentId, costUsd }) => ({ agentId, costUsd })) },
    ],
    agents,
    by: 'agent',
    groups: [],
    total: used(39),
    budget: { dayCostUsd: 50, setBy: 'service' },
  };
  const chart = chartOf(spend, []);
  const names = ['Agent 0', 'Agent 1', 'Agent 3', 'Agent 4', 'Agent 5', 'Other agents'];
  expect(chart.series.map(({ name }) => name)).toEqual(names);
  expect(chart.days).toEqual([
    { day: '2026-01-04', costs: [0, 0, 0, 0, 0, 0] },
    { day: '2026-01-05', costs: [9, 8, 6, 5, 4, 7] },
  ]);
  expect(hasUnpriced(spend)).toBe(true);
  expect(hasUnpriced({ ...spend, agents: agents.slice(0, 6) })).toBe(false);
  expect(chartOf({ ...spend, agents: agents.slice(0, 2), days: [] }, []).series).toHaveLength(2);
  const all = Array.from({ length: 9 }, (_, i) => `agent_${i}`);
  const colors = (...costs: [agent: number, costUsd: number][]) => {
    const shown = costs.map(([i, costUsd]) => ({ agentId: `agent_${i}`, name: `${i}`, ...used(costUsd) }));
    const { series } = chartOf({ ...spend, days: [], agents: shown }, all);
    return Object.fromEntries(series.map(({ name, color }) => [name, color]));
  };
  // An agent keeps its colour when another one costs more, or nothing, and an older one in the chart has it first.
  expect(colors([0, 9], [1, 8], [4, 1])).toEqual({ 0: 0, 1: 1, 4: 4 });
  expect(colors([4, 10], [1, 9], [0, 8])).toEqual({ 0: 0, 1: 1, 4: 4 });
  expect(colors([4, 10])).toEqual({ 4: 4 });
  expect(colors([6, 10], [1, 9], [2, 8])).toEqual({ 1: 1, 2: 2, 6: 3 });
});

test('the spend of projects is summed up, the most expensive first and unknown ones last', () => {
  const spendOf = (today: number, total: number) =>
    ({ days: [{ costUsd: 50 }, { costUsd: today }], total: { costUsd: total } }) as Spend;
  const project = (name: string, spend: Spend | undefined): ProjectSpend => ({ id: name, name, days: 7, spend });
  const all = [project('c', undefined), project('b', spendOf(0, 0)), project('a', spendOf(0, 0))];
  all.push(project('d', spendOf(1.5, 51.5)), project('e', spendOf(2, 52)));
  expect(sumOfProjects(all)).toEqual({ today: 3.5, total: 103.5 });
  expect([...all].sort(compareProjects).map(({ name }) => name)).toEqual(['e', 'd', 'a', 'b', 'c']);
  expect(sumOfProjects([])).toEqual({ today: 0, total: 0 });
});

test('a form in a dialog is sent once, and without the form that opened the dialog', () => {
  const did: string[] = [];
  const event = {
    preventDefault: () => did.push('kept the page'),
    stopPropagation: () => did.push('stopped'),
    currentTarget: { querySelectorAll: () => [] },
  };
  const send = submitOnce({ mutate: () => did.push('sent') });
  for (let i = 0; i < 2; i++) send(event as never);
  expect(did).toEqual(['kept the page', 'stopped', 'sent', 'kept the page', 'stopped']);
});

test('a form whose field is empty or wrong says so there, and is not sent', () => {
  const did: string[] = [];
  const field = (required: string | null, value: string, dataset: Record<string, string> = {}) => ({
    ...{ value, dataset, getAttribute: () => required, addEventListener: () => {}, closest: () => null },
    setCustomValidity: (text: string) => did.push(text),
    focus: () => did.push('focused'),
    reportValidity: () => did.push('shown'),
  });
  const submit = (...fields: object[]) =>
    submitOnce({ mutate: () => did.push('sent') })({
      ...{ preventDefault: () => {}, stopPropagation: () => {}, currentTarget: { querySelectorAll: () => fields } },
    } as never);
  submit(field('true', 'x'), field('true', ' '), field(null, ''));
  submit(field('true', '', { missing: 'Choose one.' }));
  submit(field(null, '9', { problem: 'Enter at most 5.' }));
  submit(field(null, ''));
  const first = ['focused', 'Fill in this field.', 'shown'];
  expect(did).toEqual([...first, 'focused', 'Choose one.', 'shown', 'focused', 'sent']);
});
