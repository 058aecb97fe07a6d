import { Label } from '@primer/react';
import { useQuery } from '@tanstack/react-query';
import { QueryResult } from '../display/query-result.tsx';
import { Section } from '../display/sections.tsx';
import * as queries from '../live/queries.ts';

export function Skills({ agentId }: { agentId: string }) {
  const query = useQuery(queries.skills(agentId));
  return (
    <Section title="Skills">
      <QueryResult query={query} rows={1}>
        {(skills) =>
          skills.length === 0 ? (
            <p className="muted">No skills yet. They are based on the languages of merged pull requests.</p>
          ) : (
            <ul className="row wrap-row">
              {skills.map(({ id, name, proficiency }) => (
                <li key={id}>
                  <Label>
                    {name}: {proficiency}
                  </Label>
                </li>
              ))}
            </ul>
          )
        }
      </QueryResult>
    </Section>
  );
}
