import { AlertIcon, ArrowSwitchIcon, CheckIcon, DashIcon } from '@primer/octicons-react';
import { useQuery } from '@tanstack/react-query';
import { proofSentence } from '../../../domain/proof/proof.ts';
import type { Proof as TaskProof } from '../../api.ts';
import { QueryResult } from '../../display/query-result.tsx';
import { Section } from '../../display/sections.tsx';
import * as queries from '../../live/queries.ts';

/** Shows what the tests of the latest change prove, as a section. Before the first proof, it shows nothing. */
export function Proof({ taskId }: { taskId: string }) {
  const query = useQuery(queries.proof(taskId));
  if (!query.data && !query.error) return null;
  return (
    <Section title="Proof">
      <QueryResult query={query} rows={1}>
        {(proof) => proof && <Statement proof={proof} />}
      </QueryResult>
    </Section>
  );
}

/** Shows the proof beside the list of problems, which already includes every proof that is not good. */
export function ProofBesideProblems({ taskId }: { taskId: string }) {
  const { data: proof } = useQuery(queries.proof(taskId));
  return proof ? <Statement proof={proof} hasSentence={proof.status === 'proved'} /> : null;
}

function Statement({ proof, hasSentence = true }: { proof: TaskProof; hasSentence?: boolean }) {
  return (
    <div>
      {hasSentence && (
        <p className="wrap">
          <ProofSentence proof={proof} />
        </p>
      )}
      <Files title="Changed tests" paths={proof.testsChanged} />
      <Files title="Removed tests" paths={proof.testsRemoved} />
    </div>
  );
}

/** Says what the tests of a change prove. */
export function ProofSentence({ proof }: { proof: TaskProof }) {
  return (
    <>
      <ProofIcon status={proof.status} /> <bdi>{proofSentence(proof)}</bdi>
    </>
  );
}

function ProofIcon({ status }: Pick<TaskProof, 'status'>) {
  if (status === 'proved') return <CheckIcon className="added" />;
  if (status === 'changed') return <ArrowSwitchIcon className="warned" />;
  if (status === 'weakened') return <AlertIcon className="warned" />;
  return <DashIcon className="muted" />;
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
