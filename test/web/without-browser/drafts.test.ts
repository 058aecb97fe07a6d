import {
  readChanges,
  readDraft,
  removeDraft,
  removeOldDrafts,
  writeDraft,
} from '../../../src/web/forms/stored-drafts.ts';
import { changedFields } from '../../../src/web/forms/submit.ts';
import { forgetPerson, storeText } from '../../../src/web/frame/personal-storage.ts';
import { remember } from '../../../src/web/palette/recent.ts';
import { browserStorage } from '../../support/stand-ins/browser-storage.ts';

const day = 86_400_000;
const start = Date.UTC(2026, 0, 5);
const realNow = Date.now;
let now: number;
beforeEach(() => {
  now = start;
  Date.now = () => now;
});
afterEach(() => {
  Date.now = realNow;
});

test('a draft belongs to a person and a place, and is gone once it is empty, sent or old', () => {
  const stored = browserStorage();
  writeDraft(stored, 'mona', 'chat task_1', 'half a', '');
  expect([
    readDraft(stored, 'mona', 'chat task_1', ''),
    readDraft(stored, 'mona', 'chat task_2', ''),
    readDraft(stored, 'lisa', 'chat task_1', ''),
  ]).toEqual(['half a', '', '']);
  now = start + 13 * day;
  expect(readDraft(stored, 'mona', 'chat task_1', '')).toBe('half a');
  now = start + 15 * day;
  expect(readDraft(stored, 'mona', 'chat task_1', '')).toBe('');
  writeDraft(stored, 'mona', 'chat task_1', 'again', '');
  writeDraft(stored, 'mona', 'chat task_1', '', '');
  expect(stored.length).toBe(0);
  writeDraft(stored, 'mona', 'chat task_1', 'sent', '');
  removeDraft(stored, 'mona', 'chat task_1');
  expect(stored.length).toBe(0);
});

test('drafts are limited in size and number, and a full or damaged storage is no error', () => {
  const stored = browserStorage();
  writeDraft(stored, 'mona', 'long', 'x'.repeat(130_000), '');
  expect(stored.length).toBe(0);
  for (let i = 0; i < 60; i++) {
    now = start + i;
    writeDraft(stored, 'mona', `place ${i}`, 'text', '');
  }
  stored.setItem('deckhand-draft mona broken', '{');
  stored.setItem('deckhand-theme', 'dark');
  removeOldDrafts(stored);
  expect(stored.length).toBe(51);
  expect([readDraft(stored, 'mona', 'place 9', ''), readDraft(stored, 'mona', 'place 10', '')]).toEqual(['', 'text']);
  const full = browserStorage(true);
  writeDraft(full, 'mona', 'place', 'text', '');
  expect(readDraft(full, 'mona', 'place', 'initial')).toBe('initial');
});

test('a draft of another shape is ignored, field by field', () => {
  const stored = browserStorage();
  const initial = { text: '', owner: null as string | null, isUrgent: false, ids: [] as string[] };
  const put = (value: unknown) => stored.setItem('deckhand-draft mona form', JSON.stringify({ at: Date.now(), value }));
  put({ text: 'kept', owner: 'agent_1', isUrgent: 'yes', ids: ['a'], more: 1 });
  expect(readDraft(stored, 'mona', 'form', initial)).toEqual({
    text: 'kept',
    owner: 'agent_1',
    isUrgent: false,
    ids: ['a'],
  });
  for (const value of ['text', null, 7, { text: 7, owner: {}, isUrgent: null, ids: [1] }]) {
    put(value);
    expect(readDraft(stored, 'mona', 'form', initial)).toEqual(initial);
  }
  put({ text: 'object' });
  expect(readDraft(stored, 'mona', 'form', 'a text')).toBe('a text');
});

test('a full storage is no error', () => {
  const full = () => {
    throw new DOMException('The quota has been exceeded.', 'QuotaExceededError');
  };
  expect(() => storeText({ setItem: full }, 'deckhand-theme', 'dark')).not.toThrow();
});

test('of a form that changes something, only the changes are kept, so that those of others are seen', () => {
  const stored = browserStorage();
  const form = (title: string) => ({
    title,
    text: '',
    owner: 'agent_1' as string | null,
    ids: ['a'],
    budget: { cost: '' },
  });
  const before = form('Before');
  const changed = { ...before, text: 'More', owner: null, ids: ['a', 'b'], budget: { cost: '2' } };
  writeDraft(stored, 'mona', 'form', changedFields(before, changed), {});
  const nullable = ['owner'];
  expect({ ...form('Renamed'), ...readChanges(stored, 'mona', 'form', form('Renamed'), nullable) }).toEqual({
    ...changed,
    title: 'Renamed',
  });
  expect(readChanges(stored, 'lisa', 'form', before, nullable)).toEqual({});
  writeDraft(stored, 'mona', 'form', changedFields(before, { ...before, ids: ['a'] }), {});
  expect(stored.length).toBe(0);
});

test('changes of another shape are left out', () => {
  const stored = browserStorage();
  const initial = { title: 'T', owner: null as string | null, ids: ['a'], limit: 4, budget: { cost: '', steps: '' } };
  for (const value of [
    null,
    'text',
    7,
    ['title'],
    { title: null, owner: {}, ids: [1], limit: '4', budget: { cost: '2' }, constructor: 'x', other: 1 },
    { ids: null, budget: null },
  ]) {
    stored.setItem('deckhand-draft mona form', JSON.stringify({ at: Date.now(), value }));
    expect(readChanges(stored, 'mona', 'form', initial, ['owner'])).toEqual({});
  }
});

test('signing out removes what belongs to the person, and keeps the theme', () => {
  const stored = browserStorage();
  writeDraft(stored, 'mona', 'place', 'text', '');
  remember(stored, 'mona', { id: 'task a', kind: 'task', text: 'Secret plan', to: '/tasks/a' });
  stored.setItem('deckhand-theme', 'dark');
  stored.setItem('other', 'kept');
  forgetPerson(stored);
  expect(Array.from({ length: stored.length }, (_, i) => stored.key(i)).sort()).toEqual(['deckhand-theme', 'other']);
});
