import { Button, Flash, Heading } from '@primer/react';
import { type ReactNode, useDeferredValue, useState } from 'react';
import { Markdown } from '../display/markdown.tsx';
import { sentenceCase } from '../display/names.ts';
import { TextDialog } from '../forms/text-dialog.tsx';
import { useCost } from './model-cost.tsx';
import { partialJson, withTitle } from './part-text.ts';
import { type Arriving, type GeneratedPart, partNames, type Wizard } from './use-wizard.ts';

/**
 * Shows a part of the plan with buttons to generate it, to regenerate it with feedback, to edit it by hand, and to see
 * what its last change was.
 */
export function GeneratedSection(props: SectionProps) {
  const { part, wizard, changes, editor, isFinished = false, children } = props;
  const [isUnfolded, setUnfolded] = useState<boolean>();
  const [isAsking, setAsking] = useState(false);
  const [view, show] = useState<View>('content');
  const setView = (next: View) => {
    show(next);
    wizard.setEdited(next === 'editor' ? part : undefined);
  };
  const name = partNames[part];
  const cost = useCost(wizard.projectId, isAsking);
  const isGenerated = wizard.isGenerated(part);
  const arriving = wizard.arrivingOf(part);
  const isOpen = isUnfolded ?? !isFinished;
  return (
    <section className="box stack tight" aria-label={sentenceCase(name)}>
      <div className="row wrap-row">
        <Heading as="h2" variant="small">
          {sentenceCase(name)}
        </Heading>
        <span className="grow" />
        {isFinished && view === 'content' && <FoldButton name={name} isOpen={isOpen} onToggle={setUnfolded} />}
        <PartButtons {...props} view={view} onView={setView} onAsk={() => setAsking(true)} />
      </div>
      <Others logins={wizard.othersAt(part)} />
      <Outdated part={part} wizard={wizard} />
      {arriving !== undefined && <ArrivingPart arriving={arriving} />}
      {arriving === undefined && (
        <>
          {view === 'editor' && editor?.(() => setView('content'))}
          {view === 'changes' && changes}
          {view === 'content' && isGenerated && isOpen && children}
          {view !== 'editor' && !isGenerated && !wizard.isReadOnly && <GenerateButton part={part} wizard={wizard} />}
        </>
      )}
      {isAsking && (
        <TextDialog
          title={`Regenerate ${name}`}
          label="What should change?"
          submit="Regenerate"
          hint={cost}
          about={wizard.sessionId}
          onSubmit={(feedback) => {
            setView('content');
            // The dialog closes at once, because writing takes a while. If it fails, the feedback is still there.
            setAsking(false);
            return wizard.regenerate(part, feedback);
          }}
          onClose={() => setAsking(false)}
        />
      )}
    </section>
  );
}

type View = 'content' | 'editor' | 'changes';

interface SectionProps {
  part: GeneratedPart;
  wizard: Wizard;
  /** The lines that the last change added and removed; undefined before the first change. */
  changes: ReactNode | undefined;
  /** Undefined for a part that is always edited in place. */
  editor?: ((close: () => void) => ReactNode) | undefined;
  /** The next part exists, so this one is folded until somebody unfolds it. */
  isFinished?: boolean;
  children: ReactNode;
}

function FoldButton(props: { name: string; isOpen: boolean; onToggle(isOpen: boolean): void }) {
  const { name, isOpen, onToggle } = props;
  const does = isOpen ? 'Hide' : 'Show';
  return (
    <Button size="small" aria-expanded={isOpen} aria-label={`${does} ${name}`} onClick={() => onToggle(!isOpen)}>
      {does}
    </Button>
  );
}

function GenerateButton({ part, wizard }: { part: GeneratedPart; wizard: Wizard }) {
  return (
    <div className="row wrap-row">
      <Button
        variant="primary"
        data-next-focus
        disabled={wizard.isBusy || wizard.edited !== undefined}
        onClick={() => void wizard.generate(part).catch(() => {})}
      >
        Generate {partNames[part]}
      </Button>
      {wizard.edited && (
        <span className="muted">Save or cancel your changes to the {partNames[wizard.edited]} first.</span>
      )}
    </div>
  );
}

/** The buttons that show the last change of a part, edit it by hand, and generate it again. */
function PartButtons(props: SectionProps & { view: View; onView(view: View): void; onAsk(): void }) {
  const { part, wizard, changes, editor, view, onView, onAsk } = props;
  const name = partNames[part];
  const isGenerated = wizard.isGenerated(part);
  const isArriving = wizard.arrivingOf(part) !== undefined;
  if (view === 'editor') return null;
  return (
    <>
      {isGenerated && changes !== undefined && (
        <Button
          size="small"
          aria-label={`${view === 'changes' ? 'Hide changes' : 'Show changes'} of the ${name}`}
          onClick={() => onView(view === 'changes' ? 'content' : 'changes')}
        >
          {view === 'changes' ? 'Hide changes' : 'Show changes'}
        </Button>
      )}
      {editor !== undefined && !wizard.isReadOnly && !isArriving && (
        <Button
          size="small"
          disabled={wizard.isBusy}
          aria-label={isGenerated ? `Edit ${name}` : `Write ${name} by hand`}
          onClick={() => onView('editor')}
        >
          {isGenerated ? 'Edit' : 'Write by hand'}
        </Button>
      )}
      {isGenerated && !wizard.isReadOnly && (
        <Button
          size="small"
          disabled={wizard.isBusy || wizard.edited !== undefined}
          loading={isArriving}
          onClick={onAsk}
        >
          Regenerate
        </Button>
      )}
    </>
  );
}

/** Says who else works on a part at the moment. */
function Others({ logins }: { logins: string[] }) {
  return (
    <p className="muted" role="status">
      {logins.length > 0 && `${logins.join(', ')} ${logins.length === 1 ? 'is' : 'are'} editing this now.`}
    </p>
  );
}

const outdatedTexts: Record<GeneratedPart, string> = {
  prd: '',
  plan: 'The requirements have changed since this plan was written. Edit or regenerate it if it no longer fits.',
  tasks:
    'What these tasks follow from has changed since they were written. Edit or regenerate them if they no longer fit.',
};

/** Says that a part follows from an earlier text of a part before it. */
function Outdated({ part, wizard }: { part: GeneratedPart; wizard: Wizard }) {
  return <div role="status">{wizard.isOutdated(part) && <Flash variant="warning">{outdatedTexts[part]}</Flash>}</div>;
}

/** Shows a part of the plan while the model writes it. */
function ArrivingPart({ arriving }: { arriving: Arriving }) {
  const { part, reading } = arriving;
  // Rendering may be slower than the model.
  const content = asObject(partialJson(useDeferredValue(arriving.json)));
  return (
    <>
      <p className="muted wrap" role="status">
        {arriving.json !== '' ? 'Writing…' : reading === '' ? 'Thinking…' : `Reading: ${reading}`}
      </p>
      {part === 'prd' && (
        <Markdown text={withTitle({ title: text(content.title), markdown: text(content.markdown) })} />
      )}
      {part !== 'prd' && (
        <ol aria-label="So far">
          {list(part === 'plan' ? content.phases : content.tasks).map((each, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the list only grows
            <li key={i}>
              <p className="strong wrap">{text(part === 'plan' ? each.name : each.title)}</p>
              <p className="muted wrap">{text(part === 'plan' ? each.goal : each.description)}</p>
            </li>
          ))}
        </ol>
      )}
    </>
  );
}

// The model may write anything.
const asObject = (value: unknown) =>
  (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>;
const text = (value: unknown) => (typeof value === 'string' ? value : '');
const list = (value: unknown) => (Array.isArray(value) ? value.map(asObject) : []);
