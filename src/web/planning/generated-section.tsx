import { Button, Heading } from '@primer/react';
import { type ReactNode, useState } from 'react';
import { sentenceCase } from '../display/names.ts';
import { TextDialog } from '../forms/text-dialog.tsx';
import type { GeneratedPart, Wizard } from './use-wizard.ts';

const names: Record<GeneratedPart, string> = { prd: 'requirements', plan: 'plan', tasks: 'tasks' };

/** Shows a part of the plan with buttons to generate it, and to regenerate it with feedback. */
export function GeneratedSection(props: { part: GeneratedPart; wizard: Wizard; children: ReactNode }) {
  const { part, wizard, children } = props;
  const [isAsking, setAsking] = useState(false);
  const name = names[part];
  const isGenerated = wizard.isGenerated(part);
  const isGenerating = wizard.isGenerating(part);
  return (
    <section className="box" aria-label={sentenceCase(name)}>
      <div className="row">
        <Heading as="h2" variant="small">
          {sentenceCase(name)}
        </Heading>
        <span className="grow" />
        {isGenerated && !wizard.isFinal && (
          <Button size="small" disabled={wizard.isBusy} loading={isGenerating} onClick={() => setAsking(true)}>
            Regenerate
          </Button>
        )}
      </div>
      {isGenerated ? (
        children
      ) : (
        <Button
          variant="primary"
          disabled={wizard.isBusy}
          loading={isGenerating}
          onClick={() => wizard.generate(part, '')}
        >
          Generate {name}
        </Button>
      )}
      {isGenerating && (
        <p className="muted" role="status">
          Generating. This can take up to a minute.
        </p>
      )}
      {isAsking && (
        <TextDialog
          title={`Regenerate ${name}`}
          label="What should change?"
          submit="Regenerate"
          onSubmit={(feedback) => wizard.generate(part, feedback)}
          onClose={() => setAsking(false)}
        />
      )}
    </section>
  );
}
