import type { EntityManager } from 'typeorm';
import type { RunRow } from '../../db/tables/task.ts';
import type { RunKind } from '../../domain/run.ts';

/** Where the conversation of a run comes from. */
interface Origin {
  /** The run, and for a rewound run those that it goes back to. */
  runIds: string[];
  /** The kind of the run that is not rewound itself. */
  kind: RunKind;
  /** When the turn ended to which a rewound run goes back; null for any other run. */
  until: Date | null;
}

/** Follows a rewound run back to the run that began its conversation. */
export async function findOrigin(
  em: EntityManager,
  { id, kind, rewoundTurn }: Pick<RunRow, 'id' | 'kind' | 'rewoundTurn'>,
): Promise<Origin> {
  if (rewoundTurn === null) return { runIds: [id], kind, until: null };
  const rows: Origin[] = await em.query(
    `with recursive line as (
       select id, kind, continues_run_id, 0 as depth from runs where id = $1
       union all
       select r.id, r.kind, r.continues_run_id, l.depth + 1
       from line l join runs r on r.id = l.continues_run_id where l.kind = 'rewind')
     select array_agg(id order by depth) as "runIds", (array_agg(kind order by depth desc))[1] as kind,
       (select at from run_turns where run_id = $1 and turn = $2) as until
     from line`,
    [id, rewoundTurn - 1],
  );
  return rows[0] ?? { runIds: [id], kind, until: null };
}
