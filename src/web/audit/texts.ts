import type { AuditRecord } from '../api.ts';

export const viaNames: Record<AuditRecord['via'], string> = {
  token: 'API token',
  session: 'Dashboard',
  comment: 'Comment',
  label: 'Label',
  review: 'Review',
  system: 'Automatic',
};

/** Shows a value before or after a change. */
export function shownValue(value: string | number | boolean | null | undefined): string {
  return value === null || value === undefined || value === '' ? '(none)' : String(value);
}
