import { Link } from 'react-router';
import { EmptyState } from '../display/sections.tsx';
import { usePageTitle } from './page-header.tsx';

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
