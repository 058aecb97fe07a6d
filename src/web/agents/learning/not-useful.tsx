import { Button } from '@primer/react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import * as api from '../../api.ts';
import { revealHidden } from '../../display/hidden-characters.ts';
import { QueryResult } from '../../display/query-result.tsx';
import { Section } from '../../display/sections.tsx';
import { TimeAgo } from '../../display/times.tsx';
import { useMay } from '../../forms/may.tsx';
import { notifyError } from '../../frame/notices.tsx';
import * as repositoryQueries from '../../live/queries/repositories.ts';

/** Shows by repository which review comments people found not useful. Reviews are told of them. */
export function NotUseful({ projectId }: { projectId: string }) {
  const query = useQuery(repositoryQueries.repositories(projectId));
  const mayForget = useMay('admin');
  return (
    <Section title="Review comments that were not useful here">
      <QueryResult query={query} rows={1}>
        {(repositories) =>
          repositories.map((repository) => (
            <Examples key={repository.id} repository={repository} mayForget={mayForget} />
          ))
        }
      </QueryResult>
    </Section>
  );
}

function Examples({ repository: { id, name }, mayForget }: { repository: api.RepositoryEntry; mayForget: boolean }) {
  const query = useQuery(repositoryQueries.reviewExamples(id));
  const client = useQueryClient();
  const forget = useMutation({
    mutationFn: (noteId: string) => api.forgetReviewExample(id, noteId),
    onSuccess: () => client.invalidateQueries({ queryKey: ['review-examples', id] }),
    onError: notifyError,
  });
  return (
    <QueryResult query={query} rows={1}>
      {(examples) =>
        examples.length === 0 ? (
          <p className="muted">None in {name}.</p>
        ) : (
          <>
            <p className="strong">{name}</p>
            <ul className="list">
              {examples.map(({ id: noteId, number, path, text, why, at }) => (
                <li key={noteId} className="list-item">
                  <bdi className="wrap grow">{revealHidden(text)}</bdi>
                  <span className="muted small">
                    #{number} <bdi>{revealHidden(path)}</bdi> · {why === 'resolved' ? 'resolved unchanged' : '👎'} ·{' '}
                    <TimeAgo at={at} />
                  </span>
                  {mayForget && (
                    <Button
                      size="small"
                      aria-label={`Forget the comment on ${path} in pull request ${number}`}
                      loading={forget.isPending && forget.variables === noteId}
                      onClick={() => forget.mutate(noteId)}
                    >
                      Forget
                    </Button>
                  )}
                </li>
              ))}
            </ul>
          </>
        )
      }
    </QueryResult>
  );
}
