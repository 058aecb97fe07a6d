import { Heading } from '@primer/react';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from 'react-router';
import { QueryResult } from '../display/query-result.tsx';
import { usePageTitle } from '../frame/page-header.tsx';
import * as queries from '../live/queries.ts';
import { AddMember } from './add-member.tsx';
import { MemberItem } from './member-item.tsx';

export function MembersPage() {
  usePageTitle('Members');
  const { projectId = '' } = useParams();
  const project = useQuery(queries.project(projectId));
  const query = useQuery(queries.members(projectId));
  const ownRole = project.data?.role ?? 'member';
  return (
    <div className="narrow stack">
      <Heading as="h1" variant="medium">
        Members
      </Heading>
      <p className="muted">
        Members work on tasks. Admins also manage members and settings. Owners can also delete the project.
        {ownRole === 'member' && ' As a member, you can view this list and leave the project.'}
      </p>
      <QueryResult query={query}>
        {(members) => (
          <ul className="list">
            {members.map((member) => (
              <MemberItem key={member.userId} member={member} projectId={projectId} ownRole={ownRole} />
            ))}
          </ul>
        )}
      </QueryResult>
      {ownRole !== 'member' && (
        <>
          <AddMember projectId={projectId} ownRole={ownRole} />
          <p>
            <Link to={`/projects/${projectId}/settings/audit`}>See who changed what</Link>
          </p>
        </>
      )}
    </div>
  );
}
