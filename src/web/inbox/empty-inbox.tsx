import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { EmptyState } from '../display/sections.tsx';
import * as queries from '../live/queries.ts';

/** Says that nothing waits for the person, and what they can do next. */
export function EmptyInbox() {
  const { data: projects = [] } = useQuery(queries.projects());
  const [newest] = projects;
  return (
    <EmptyState title="Nothing needs you">
      <p>
        Plans and changes to approve, questions from agents, paused runs, work to review and failed runs of all your
        projects appear here.
      </p>
      {newest === undefined ? (
        <p>
          <Link to="/projects">Create a project</Link> to begin.
        </p>
      ) : (
        <p>
          In <bdi>{newest.name}</bdi>, you can <Link to={`/projects/${newest.id}?new=one`}>create a task</Link>,{' '}
          <Link to={`/projects/${newest.id}/plan`}>plan a goal</Link> or{' '}
          <Link to={`/projects/${newest.id}/pool`}>see what is running</Link>.
          {projects.length > 1 && (
            <>
              {' '}
              Or <Link to="/projects">choose another project</Link>.
            </>
          )}
        </p>
      )}
    </EmptyState>
  );
}
