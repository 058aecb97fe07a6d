import type { AuditRecord } from '../api.ts';
import { sentenceCase } from '../display/names.ts';

export const viaNames: Record<AuditRecord['via'], string> = {
  token: 'API token',
  session: 'Dashboard',
  comment: 'Comment',
  label: 'Label',
  review: 'Review',
  system: 'Automatic',
};

/** Shows a value of a field before or after a change. */
export function shownValue(field: string, value: string | number | boolean | null | undefined): string {
  if (value === null || value === undefined || value === '') return '(none)';
  return field === 'status' ? sentenceCase(String(value)) : String(value);
}

/** Returns the fields of a record whose values differ. What was created with an empty field has it in its record, too. */
export function changesIn(detail: AuditRecord['detail']): [string, AuditRecord['detail'][string]][] {
  return Object.entries(detail).filter(
    ([field, [before, after]]) => shownValue(field, before) !== shownValue(field, after),
  );
}
