import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { SelectField } from '../../forms/select-field.tsx';
import { errorMessage, isUnread } from '../../live/errors.ts';
import * as repositoryQueries from '../../live/queries/repositories.ts';
import { filledFrom, type Text } from './new-task-texts.ts';

interface Props {
  /** Its templates are offered; undefined until it is known, or if the project has none. */
  repositoryId: string | undefined;
  /** The repositories of the project could not be fetched. */
  isUnknown: boolean;
  text: Text;
  onFill(text: Text): void;
}

/**
 * Offers the templates of a repository for the title and the description of a new task. The list comes late, from GitHub, so
 * the field is there before, and stays if there are none: what follows it must not move while somebody writes.
 */
export function TemplateField({ repositoryId, isUnknown, text, onFill }: Props) {
  const query = useQuery({
    ...repositoryQueries.taskTemplates(repositoryId ?? ''),
    enabled: repositoryId !== undefined,
  });
  const { data: templates = [] } = query;
  const isMissing = isUnknown || isUnread(query);
  // A member may lack the right to read the repository on GitHub.
  const whyMissing = query.error === null ? 'Could not be loaded' : errorMessage(query.error);
  const isLoading = query.isPending && repositoryId !== undefined;
  const [chosen, setChosen] = useState<number>();
  const options = templates.map(({ name, about }, i) => ({
    id: String(i),
    name: about === '' ? name : `${name}: ${about}`,
  }));
  const choose = (id: string) => {
    const next = id === '' ? undefined : Number(id);
    onFill(
      filledFrom(
        text,
        chosen === undefined ? undefined : templates[chosen],
        next === undefined ? undefined : templates[next],
      ),
    );
    setChosen(next);
  };
  return (
    <SelectField
      label="Template"
      emptyOption={isMissing ? whyMissing : isLoading ? 'Loading templates…' : emptyName(templates.length)}
      isDisabled={templates.length === 0}
      value={chosen === undefined ? '' : String(chosen)}
      options={options}
      onSelect={choose}
    />
  );
}

const emptyName = (count: number) => (count === 0 ? 'The repository has no templates' : 'No template');
