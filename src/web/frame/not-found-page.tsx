import { Link } from 'react-router';
import { Empty } from '../display/query-result.tsx';

export function NotFoundPage() {
  return (
    <Empty as="h1" title="There is nothing at this address">
      <Link to="/">All projects</Link>
    </Empty>
  );
}
