import { useState } from 'react';
import type { TaskCard } from '../api.ts';
import { storeText } from '../frame/personal-storage.ts';
import { columns } from './arrange-tasks.ts';

type Status = TaskCard['status'];

/** The columns that a person has folded or unfolded. */
type FoldChoices = Partial<Record<Status, 'folded' | 'open'>>;

/** Returns whether a column is shown as a narrow strip. Empty columns are, unless the person decided otherwise. */
export function isFolded(choices: FoldChoices, status: Status, count: number): boolean {
  const choice = choices[status];
  return choice === undefined ? count === 0 : choice === 'folded';
}

/** Returns the choices after the person has folded or unfolded a column. A choice that equals the default is not stored. */
export function toggled(choices: FoldChoices, status: Status, count: number): FoldChoices {
  const { [status]: _former, ...others } = choices;
  const next = isFolded(choices, status, count) ? 'open' : 'folded';
  return isFolded(others, status, count) === (next === 'folded') ? others : { ...others, [status]: next };
}

/** Reads stored choices and ignores invalid ones. */
export function parseChoices(text: string | null): FoldChoices {
  try {
    const stored = JSON.parse(text ?? '{}') as Record<string, unknown>;
    const isChoice = (status: string) => stored[status] === 'folded' || stored[status] === 'open';
    return Object.fromEntries(columns.filter(isChoice).map((status) => [status, stored[status]]));
  } catch {
    return {};
  }
}

const storageKey = (projectId: string) => `deckhand-folded-${projectId}`;

/**
 * Keeps the folded columns of a project's board. They are stored in the browser, because they depend on the width of the
 * screen.
 */
export function useFolding(projectId: string) {
  const [choices, setChoices] = useState(() => parseChoices(localStorage.getItem(storageKey(projectId))));
  const toggle = (status: Status, count: number) => {
    const next = toggled(choices, status, count);
    setChoices(next);
    storeText(localStorage, storageKey(projectId), JSON.stringify(next));
  };
  return { choices, toggle };
}
