import { budgetText } from '../../domain/budget.ts';
import type { AuditRecord } from '../api.ts';
import { exactTime, sentenceCase } from '../display/names.ts';
import type { AuditFilter } from '../live/queries.ts';

export const viaNames: Record<AuditRecord['via'], string> = {
  token: 'API token',
  session: 'Dashboard',
  mcp: 'Assistant (MCP)',
  comment: 'Comment',
  label: 'Label',
  review: 'Review',
  issue: 'Issue',
  system: 'Automatic',
};

/** A time as the API writes it, such as the end of a snooze. */
const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

/** Shows a value of a field before or after a change. */
export function shownValue(field: string, value: string | number | boolean | null | undefined): string {
  if (field === 'budget' || field === 'budgets') return budgetOf(value);
  if (value === null || value === undefined || value === '') return '(none)';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'string' && instant.test(value)) return exactTime(value);
  return wordFields.has(field) ? sentenceCase(String(value)) : String(value);
}

/** Shows the budget of a task, or the budgets of a project, which the log keeps as JSON. One that was cut stays as it is. */
function budgetOf(value: string | number | boolean | null | undefined): string {
  if (typeof value !== 'string' || value === '{}') return 'none';
  let budget: Record<string, number | null>;
  try {
    budget = JSON.parse(value);
  } catch {
    return value;
  }
  const { dayCostUsd, ...others } = budget;
  const ofRun = Object.entries(others).flatMap(([key, amount]) => (amount === null ? [] : [[runKeyOf(key), amount]]));
  const parts = [
    ...(ofRun.length === 0 ? [] : [`${budgetText(Object.fromEntries(ofRun))} a run`]),
    ...(typeof dayCostUsd === 'number' ? [`${budgetText({ costUsd: dayCostUsd })} a day`] : []),
  ];
  return parts.length === 0 ? 'none' : parts.join(', ');
}

/** Projects call the minutes of a run `runMinutes`, tasks `minutes`. */
const runKeyOf = (key: string) => key.replace(/^run([A-Z])/, (_, first: string) => first.toLowerCase());

/** Fields whose values are words of the API. */
const wordFields = new Set([
  'attention',
  'failure',
  'merging',
  'priority',
  'reasoningEffort',
  'role',
  'scopes',
  'status',
]);

const day = /^\d{4}-\d\d-\d\d$/;

/** Returns the beginning of a day in the zone of the browser, or of a later one; undefined for what is no day. */
function startOf(text: string, daysLater = 0): string | undefined {
  const at = new Date(`${text}T00:00:00`);
  if (!day.test(text) || Number.isNaN(at.getTime())) return undefined;
  at.setDate(at.getDate() + daysLater);
  return at.toISOString();
}

/** Returns the filters of the page as the API takes them. Both days belong to the time. */
export function auditFilterOf(given: Record<'person' | 'action' | 'object' | 'from' | 'to', string>): AuditFilter {
  const [actor, action, object] = [given.person, given.action, given.object].map((each) => each || undefined);
  const [since, until] = [startOf(given.from), startOf(given.to, 1)];
  return Object.fromEntries(
    Object.entries({ actor, action, object, since, until }).filter(([, value]) => value !== undefined),
  );
}

/** Returns the fields of a record whose values differ. What was created with an empty field has it in its record, too. */
export function changesIn(detail: AuditRecord['detail']): [string, AuditRecord['detail'][string]][] {
  return Object.entries(detail).filter(
    ([field, [before, after]]) => shownValue(field, before) !== shownValue(field, after),
  );
}

/** What an id in the audit log stands for, and the page about it. */
export interface Named {
  name: string;
  to: string;
}

const idPattern = /\b((?:agent|auto|hook|proj|repo|sprint|task|user|wiz)_[0-9a-z]{26})\b/;

/** Returns the ids of the objects of records and those in their details, each once. */
export function idsIn(records: Pick<AuditRecord, 'object' | 'detail'>[]): string[] {
  const texts = records.flatMap(({ object, detail }) => [object.id, ...Object.values(detail).flat()]);
  return [...new Set(texts.flatMap((text) => (typeof text === 'string' ? partsOf(text).filter(isId) : [])))];
}

const isId = (_part: string, at: number) => at % 2 === 1;

/** Splits a text at the ids in it: every second part is an id. */
export const partsOf = (text: string): string[] => text.split(idPattern);

/**
 * Names the earlier versions of the agents that have a name. The list of agents has only the newest ones; the records, newest
 * first, tell which version replaced which.
 */
export function namedVersions(records: AuditRecord[], named: Map<string, Named>): [string, Named][] {
  const newest = new Map<string, string>();
  return records.flatMap(({ action, detail: { id, version } }): [string, Named][] => {
    const [before, after] = id ?? [];
    if (action !== 'agent.evolve' || typeof before !== 'string' || typeof after !== 'string') return [];
    const last = newest.get(after) ?? after;
    newest.set(before, last);
    const found = named.get(last);
    if (found === undefined) return [];
    return [[before, { name: `${found.name} (version ${version?.[0]})`, to: found.to.replace(last, before) }]];
  });
}
