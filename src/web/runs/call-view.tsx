import { CheckIcon, ChevronDownIcon, ChevronRightIcon, DotFillIcon, XIcon } from '@primer/octicons-react';
import { useState } from 'react';
import { plural } from '../display/formats.ts';
import { revealHidden, terminalText } from '../display/hidden-characters.ts';
import { verbOf } from '../display/tool-verbs.ts';
import { type Call, isFailed, type Meaning, meaningOf, outcomeOf, smallDiff } from './calls.ts';

/** Characters of a call's subject that its folded row shows. */
const maxAbout = 200;

/** Shows a call of a tool as one line, which unfolds to its input and output. Small edits are shown unfolded. */
export function CallView(props: { call: Call; rowKey: string; open: Set<string>; isLive: boolean }) {
  const { call, rowKey, open, isLive } = props;
  const [isOpen, setOpen] = useState(open.has(rowKey));
  const meaning = meaningOf(call);
  const hasDetails = call.arguments !== undefined;
  const toggle = () => {
    if (isOpen) open.delete(rowKey);
    else open.add(rowKey);
    setOpen(!isOpen);
  };
  return (
    <div className={`run-call${isFailed(call) ? ' problem' : ''}`}>
      <button type="button" className="call-head" aria-expanded={isOpen} disabled={!hasDetails} onClick={toggle}>
        {isOpen ? <ChevronDownIcon /> : <ChevronRightIcon />}
        <State call={call} isLive={isLive} />
        <span className="strong">{verbOf(call.name)}</span>
        <span className="mono about">{revealHidden(firstLine(meaning.about))}</span>
        <span className="grow" />
        <span className="muted small">{figuresOf(call).join(' · ')}</span>
      </button>
      {meaning.kind === 'edit' && call.ok !== false && <Diff meaning={meaning} isWhole={isOpen} />}
      {isOpen && <Details call={call} meaning={meaning} />}
    </div>
  );
}

function firstLine(text: string): string {
  const [line = ''] = text.trim().split('\n', 1);
  return line.length < text.trim().length || line.length > maxAbout ? `${line.slice(0, maxAbout)} …` : line;
}

function State({ call, isLive }: { call: Call; isLive: boolean }) {
  if (call.ok === undefined) return isLive ? <DotFillIcon aria-label="Not finished" className="state-doing" /> : null;
  return isFailed(call) ? (
    <XIcon aria-label="Failed" className="state-failed" />
  ) : (
    <CheckIcon aria-label="Succeeded" className="state-ok" />
  );
}

/** Returns how a call ended and how long it took. */
function figuresOf(call: Call): string[] {
  const outcome = call.result === undefined ? undefined : outcomeOf(call.result);
  const how = outcome?.how ?? (call.exitCode === undefined ? '' : `exit code ${call.exitCode}`);
  const seconds = outcome?.seconds ?? (call.ms === undefined ? undefined : call.ms / 1000);
  // Reading a file takes no time worth showing.
  return [
    how,
    seconds === undefined || seconds < 0.1 ? '' : `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`,
  ].filter(Boolean);
}

/** Lines of a diff that are shown while its call is folded, and unfolded. */
const maxLines = { folded: 12, unfolded: 500 };

function Diff({ meaning, isWhole }: { meaning: Meaning; isWhole: boolean }) {
  const lines = smallDiff(meaning.edits);
  const shown = lines.slice(0, isWhole ? maxLines.unfolded : maxLines.folded);
  if (lines.length === 0) return null;
  return (
    <div className="small-diff mono">
      {shown.map(({ sign, text }, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines of a call do not change
        <div key={i} className={signClasses[sign]}>
          <span className="sign">{sign === '@' ? '' : sign}</span>
          {revealHidden(text)}
        </div>
      ))}
      {lines.length > shown.length && (
        <div className="diff-place">{plural(lines.length - shown.length, 'more line')}</div>
      )}
    </div>
  );
}

const signClasses = { '+': 'diff-added', '-': 'diff-removed', ' ': '', '@': 'diff-place' };

/** Characters of the input and of the output of a call that are shown. The download has all that the service sends. */
const maxShown = 20_000;

function Details({ call, meaning }: { call: Call; meaning: Meaning }) {
  const output = outcomeOf(call.result ?? '').output;
  return (
    <>
      {meaning.kind !== 'edit' && (
        <Text label="Input" text={meaning.kind === 'command' ? meaning.about : indented(call.arguments ?? '')} />
      )}
      {output !== '' && <Text label="Output" text={output} />}
    </>
  );
}

/** Indents arguments that are JSON. */
function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function Text({ label, text }: { label: string; text: string }) {
  return (
    <>
      <p className="muted small">{label}</p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable with the keyboard */}
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for form fields */}
      <div role="group" aria-label={label} tabIndex={0} className="run-text mono wrap">
        {terminalText(text.slice(0, maxShown))}
        {text.length > maxShown && '\n…'}
      </div>
    </>
  );
}
