import { Button } from '@primer/react';
import type { EnvironmentTrial } from '../api.ts';
import { Section } from '../display/sections.tsx';
import { notify, notifyError } from '../frame/notices.tsx';
import { draftSettings } from './draft-settings.ts';
import { TextBox } from './text-box.tsx';

/** Shows a .deckhand.yml that does what the trial did, ready to be copied. */
export function DraftedSettings({ trial }: { trial: EnvironmentTrial }) {
  const draft = draftSettings(trial);
  if (draft === undefined) return null;
  const copy = () =>
    navigator.clipboard.writeText(draft).then(() => notify('Draft copied to the clipboard', 'success'), notifyError);
  return (
    <Section title="Draft of .deckhand.yml">
      <div className="stack">
        <p className="muted">
          Contains only what this trial ran. Commands that did not run, variables, secrets and services are missing, so
          add it to an existing file instead of replacing that file.
        </p>
        <TextBox text={draft} label="Draft" />
        <div>
          <Button onClick={() => void copy()}>Copy draft</Button>
        </div>
      </div>
    </Section>
  );
}
