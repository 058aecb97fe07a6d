import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { SelectField } from '../../forms/select-field.tsx';
import * as queries from '../../live/queries.ts';
import { filledFrom, type Text } from './new-task-texts.ts';

interface Props {
  /** Its templates are offered. */
  repositoryId: string | undefined;
  text: Text;
  onFill(text: Text): void;
}

/** Offers the templates of a repository for the title and the description of a new task; nothing if it has none. */
export function TemplateField({ repositoryId, text, onFill }: Props) {
  const { data: templates = [] } = useQuery({
    ...queries.taskTemplates(repositoryId ?? ''),
    enabled: repositoryId !== undefined,
  });
  const [chosen, setChosen] = useState<number>();
  if (templates.length === 0) return null;
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
      emptyOption="No template"
      value={chosen === undefined ? '' : String(chosen)}
      options={options}
      onSelect={choose}
    />
  );
}
