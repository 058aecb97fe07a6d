import { Link } from 'react-router';
import type { AuditRecord } from '../api.ts';
import { TimeAgo } from '../display/times.tsx';
import { shownValue, viaNames } from './texts.ts';

/** Shows one record of the audit log: who did what, when and through what, and the fields that changed. */
export function AuditItem({ record, projectId }: { record: AuditRecord; projectId: string }) {
  const { at, actor, via, action, object, detail } = record;
  return (
    <li className="list-item">
      <span className="strong">{actor?.login ?? 'System'}</span>
      <code>{action}</code>
      <ObjectLink object={object} projectId={projectId} />
      <span className="grow" />
      <span className="muted">
        {viaNames[via]} · <TimeAgo at={at} />
      </span>
      {Object.entries(detail).map(([field, [before, after]]) => (
        <p key={field} className="wrap small">
          <span className="muted">{field}:</span> <bdi>{shownValue(before)}</bdi> → <bdi>{shownValue(after)}</bdi>
        </p>
      ))}
    </li>
  );
}

function ObjectLink({ object: { type, id }, projectId }: { object: AuditRecord['object']; projectId: string }) {
  const pages: Record<string, string> = {
    task: `/tasks/${id}`,
    sprint: `/sprints/${id}`,
    agent: `/projects/${projectId}/agents/${id}`,
    wizard: `/projects/${projectId}/plan/${id}`,
  };
  const to = pages[type];
  return to === undefined ? <span className="wrap">{id}</span> : <Link to={to}>{id}</Link>;
}
