import { useQuery } from '@tanstack/react-query';
import { proofSentence } from '../../domain/proof/proof.ts';
import { Section } from '../display/section.tsx';
import * as queries from '../live/queries.ts';

/** Shows what the tests of the latest change prove. Before the first proof, it shows nothing. */
export function Proof({ taskId }: { taskId: string }) {
  const { data: proof } = useQuery(queries.proof(taskId));
  if (!proof) return null;
  return (
    <Section title="Proof">
      <p className="wrap">
        <bdi>{proofSentence(proof)}</bdi>
      </p>
      <Files title="Changed tests" paths={proof.testsChanged} />
      <Files title="Removed tests" paths={proof.testsRemoved} />
    </Section>
  );
}

function Files({ title, paths }: { title: string; paths: string[] }) {
  if (paths.length === 0) return null;
  return (
    <details>
      <summary>
        {title} ({paths.length})
      </summary>
      <ul className="bullets">
        {paths.map((path) => (
          <li key={path} className="wrap">
            <bdi>{path}</bdi>
          </li>
        ))}
      </ul>
    </details>
  );
}
