import { Link } from 'react-router';
import { EmptyState } from '../display/sections.tsx';
import { usePageTitle } from './page-header.tsx';

/** Stands in for the pages of a project that the person is no member of. */
export function NotAMember({ wasMember }: { wasMember: boolean }) {
  const title = wasMember ? 'You are no longer a member of this project' : 'You are not a member of this project';
  usePageTitle('Not a member');
  return (
    <EmptyState as="h1" title={title}>
      <p>Admins and owners of the project can add you.</p>
      <p>
        <Link to="/projects">Your projects</Link>
      </p>
    </EmptyState>
  );
}

export function NotFoundPage() {
  usePageTitle('Page not found');
  return (
    <EmptyState as="h1" title="Page not found">
      <p>
        Check the address, or <Link to="/projects">view all projects</Link>.
      </p>
    </EmptyState>
  );
}
