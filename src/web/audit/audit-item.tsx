import { Link } from 'react-router';
import type { AuditRecord } from '../api.ts';
import { TimeAgo } from '../display/times.tsx';
import { type Named, partsOf } from './named-ids.ts';
import { changesIn, shownValue, viaNames } from './texts.ts';

interface Given {
  record: AuditRecord;
  named: Map<string, Named>;
}

/** Shows one record of the audit log: who did what, when and through what, and the fields that changed. */
export function AuditItem({ record, named }: Given) {
  const { at, actor, via, action, object, detail } = record;
  return (
    <li className="list-item">
      <span className="strong">{actor?.login ?? 'System'}</span>
      <code>{action}</code>
      <WithNames text={object.id} named={named} />
      <span className="grow" />
      <span className="muted">
        {viaNames[via]} · <TimeAgo at={at} />
      </span>
      {changesIn(detail).map(([field, [before, after]]) => (
        <p key={field} className="wrap small">
          <span className="muted">{field}:</span> <WithNames text={shownValue(field, before)} named={named} /> →{' '}
          <WithNames text={shownValue(field, after)} named={named} />
        </p>
      ))}
    </li>
  );
}

/** Shows a text with links instead of the ids in it. Ids of what was deleted stay. */
function WithNames({ text, named }: { text: string; named: Map<string, Named> }) {
  return (
    <span className="wrap">
      {partsOf(text).map((part, i) => {
        const found = i % 2 === 1 ? named.get(part) : undefined;
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text keep their order
        if (found === undefined) return <bdi key={i}>{part}</bdi>;
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text keep their order
          <Link key={i} to={found.to} title={part}>
            <bdi>{found.name}</bdi>
          </Link>
        );
      })}
    </span>
  );
}
