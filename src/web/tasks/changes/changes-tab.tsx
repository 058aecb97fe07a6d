import 'react-diff-view/style/index.css';
import { FileIcon } from '@primer/octicons-react';
import { Button, SegmentedControl } from '@primer/react';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { type ChangeData, Diff, type HunkData, Hunk as HunkLines, tokenize } from 'react-diff-view';
import { useSearchParams } from 'react-router';
import { refractor } from 'refractor';
import type { FileDiff, Hunk } from '../../api.ts';
import { hasHidden, visible } from '../../display/hidden-characters.ts';
import { counted } from '../../display/plural.ts';
import { Empty, Shown } from '../../display/query-result.tsx';
import * as q from '../../live/queries.ts';

/** A file with more changed lines than this is folded until somebody wants to see it; so is what comes after so many. */
const foldedLines = 400;
const openLines = 3000;

/** What a task changed: a list of files, and each with its lines. */
export function TaskDiff({ taskId }: { taskId: string }) {
  const asked = useQuery(q.diff(taskId));
  const [query, setQuery] = useSearchParams();
  const view = query.get('view') === 'split' ? 'split' : 'unified';
  return (
    <Shown of={asked}>
      {({ files, branchName, baseBranch, truncated }) =>
        files.length === 0 ? (
          <Empty title="No changes yet">They show once the agent has pushed something.</Empty>
        ) : (
          <>
            <div className="row wrap-row page-head">
              <span className="muted">
                {counted(files.length, 'file')}, <span className="added">+{sum(files, 'additions')}</span>{' '}
                <span className="removed">−{sum(files, 'deletions')}</span> on <code>{branchName}</code> against{' '}
                <code>{baseBranch}</code>
              </span>
              <span className="grow" />
              <SegmentedControl
                aria-label="View"
                size="small"
                onChange={(i) => setQuery({ tab: 'diff', ...(i === 1 ? { view: 'split' } : {}) }, { replace: true })}
              >
                <SegmentedControl.Button selected={view === 'unified'}>Unified</SegmentedControl.Button>
                <SegmentedControl.Button selected={view === 'split'}>Split</SegmentedControl.Button>
              </SegmentedControl>
            </div>
            {truncated && (
              <p className="muted">Only the first {counted(files.length, 'file')} are shown; GitHub has them all.</p>
            )}
            <div className="diff-page">
              <nav aria-label="Changed files" className="file-list tree">
                <Folder of={treeOf(files)} />
              </nav>
              <div className="files">
                {files.map((file, i) => (
                  <File key={file.path} file={file} view={view} isFolded={isLong(files, i)} />
                ))}
              </div>
            </div>
          </>
        )
      }
    </Shown>
  );
}

/** Folders by their names, and files by theirs; a file stands for its whole path. */
interface Tree {
  folders: Map<string, Tree>;
  files: Map<string, string>;
}

function treeOf(files: FileDiff[]): Tree {
  const root: Tree = { folders: new Map(), files: new Map() };
  for (const { path } of files) {
    const parts = path.split('/');
    const name = parts.pop() ?? path;
    let here = root;
    for (const part of parts) {
      const next = here.folders.get(part) ?? { folders: new Map(), files: new Map() };
      here.folders.set(part, next);
      here = next;
    }
    here.files.set(name, path);
  }
  return root;
}

function Folder({ of }: { of: Tree }) {
  return (
    <ul>
      {[...of.folders].map(([name, folder]) => (
        <li key={name}>
          <details open>
            <summary>
              <bdi>{visible(name)}</bdi>
            </summary>
            <Folder of={folder} />
          </details>
        </li>
      ))}
      {[...of.files].map(([name, path]) => (
        <li key={name}>
          <a href={`#${anchorOf(path)}`} title={path}>
            <FileIcon size={12} /> <bdi>{visible(name)}</bdi>
          </a>
        </li>
      ))}
    </ul>
  );
}

/** Whether a file begins folded: a large one, or one behind many lines. */
function isLong(files: FileDiff[], i: number): boolean {
  const file = files.slice(i, i + 1);
  return linesOf(file) > foldedLines || linesOf(files.slice(0, i + 1)) > openLines;
}
const linesOf = (files: FileDiff[]) => sum(files, 'additions') + sum(files, 'deletions');
const sum = (files: FileDiff[], of: 'additions' | 'deletions') => files.reduce((all, file) => all + file[of], 0);
const anchorOf = (path: string) => `file-${encodeURIComponent(path)}`;

function File({ file, view, isFolded }: { file: FileDiff; view: 'unified' | 'split'; isFolded: boolean }) {
  const [isOpen, setOpen] = useState(!isFolded);
  const type = ({ added: 'add', deleted: 'delete', modified: 'modify', renamed: 'rename' } as const)[file.status];
  const hunks = useMemo(() => (isOpen ? file.hunks.map(shaped) : []), [file, isOpen]);
  const isOdd = useMemo(() => hasHidden(file.path) || file.hunks.some((h) => h.lines.some(hasHidden)), [file]);
  const tokens = useMemo(() => coloured(file.path, hunks), [file.path, hunks]);
  return (
    <section className="file" id={anchorOf(file.path)} aria-label={file.path.slice(0, 200)}>
      <h2 className="file-head">
        <bdi className="wrap">
          {file.previousPath && `${visible(file.previousPath)} → `}
          {visible(file.path)}
        </bdi>
        <span className="muted small">
          {file.status} <span className="added">+{file.additions}</span>{' '}
          <span className="removed">−{file.deletions}</span>
        </span>
      </h2>
      {isOdd && (
        <p className="failure padded">
          It has characters that do not show or turn the order of what is read; they stand as ⟦U+…⟧.
        </p>
      )}
      {file.binary ? (
        <p className="muted padded">A binary file.</p>
      ) : !isOpen ? (
        <p className="padded">
          <Button onClick={() => setOpen(true)}>Show {file.additions + file.deletions} changed lines</Button>
        </p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
        <section className="file-lines" tabIndex={0} aria-label={`Lines of ${file.path.slice(0, 200)}`}>
          <Diff viewType={view} diffType={type} hunks={hunks} tokens={tokens}>
            {(shown) => shown.map((hunk) => <HunkLines key={hunk.content} hunk={hunk} />)}
          </Diff>
        </section>
      )}
      {file.truncated && <p className="muted padded">The rest of this file is not shown; GitHub has it.</p>}
    </section>
  );
}

/** A hunk as the library wants it. */
function shaped({ oldStart, oldLines, newStart, newLines, lines }: Hunk): HunkData {
  let [before, after] = [oldStart, newStart];
  const changes = lines.map((line): ChangeData => {
    const content = visible(line.slice(1));
    if (line.startsWith('+')) return { type: 'insert', content, lineNumber: after++, isInsert: true };
    if (line.startsWith('-')) return { type: 'delete', content, lineNumber: before++, isDelete: true };
    return { type: 'normal', content, oldLineNumber: before++, newLineNumber: after++, isNormal: true };
  });
  return {
    content: `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`,
    oldStart,
    oldLines,
    newStart,
    newLines,
    changes,
  };
}

const languages: Record<string, string> = {
  cjs: 'javascript',
  cs: 'csharp',
  h: 'c',
  htm: 'markup',
  html: 'markup',
  js: 'javascript',
  jsx: 'jsx',
  kt: 'kotlin',
  md: 'markdown',
  mjs: 'javascript',
  py: 'python',
  rb: 'ruby',
  rs: 'rust',
  sh: 'bash',
  svg: 'markup',
  ts: 'typescript',
  vue: 'markup',
  xml: 'markup',
  yml: 'yaml',
};

/** Colours for languages that are known; other files, and what the colouring cannot read, stay plain. */
function coloured(path: string, hunks: HunkData[]) {
  const ending = path.split('.').at(-1)?.toLowerCase() ?? '';
  const language = languages[ending] ?? ending;
  if (hunks.length === 0 || !refractor.registered(language)) return undefined;
  // The library was made for a refractor that answered with the bare nodes.
  const bare = { ...refractor, highlight: (text: string, of: string) => refractor.highlight(text, of).children };
  try {
    return tokenize(hunks, { highlight: true, refractor: bare, language });
  } catch {
    return undefined;
  }
}
