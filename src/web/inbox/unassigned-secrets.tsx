import { Flash } from '@primer/react';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import * as queries from '../live/queries.ts';

/** At most this many secrets of a project are named. Its settings have all. */
const maxNamed = 5;

/** Asks admins to assign the secrets that no set-up can use, such as those from before an upgrade. */
export function UnassignedSecrets() {
  const { data: unassigned = [] } = useQuery(queries.unassignedSecrets());
  const { data: projects = [] } = useQuery({ ...queries.projects(), enabled: unassigned.length > 0 });
  if (unassigned.length === 0) return null;
  return (
    <Flash variant="warning">
      <strong>Some environment secrets belong to no repository, so set-up cannot use them:</strong>
      <ul>
        {unassigned.map(({ projectId, names }) => (
          <li key={projectId} className="wrap">
            {names.slice(0, maxNamed).join(', ')}
            {names.length > maxNamed && ` and ${names.length - maxNamed} more`} in{' '}
            <Link to={`/projects/${projectId}/settings`}>
              the settings of <bdi>{projects.find(({ id }) => id === projectId)?.name ?? 'a project'}</bdi>
            </Link>
          </li>
        ))}
      </ul>
    </Flash>
  );
}
