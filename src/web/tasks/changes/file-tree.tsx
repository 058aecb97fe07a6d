import { CheckIcon, FileIcon } from '@primer/octicons-react';
import type { FileDiff } from '../../api.ts';
import { revealHidden } from '../../display/hidden-characters.ts';

/** Maps names of subfolders to folders, and names of files to the files. */
interface Folder {
  folders: Map<string, Folder>;
  files: Map<string, FileDiff>;
}

/** Returns the id of a file's section on the page. */
export const anchorOf = (path: string) => `file-${encodeURIComponent(path)}`;

export function FileTree({ files, isViewed }: { files: FileDiff[]; isViewed(file: FileDiff): boolean }) {
  return <FolderItems folder={toTree(files)} isViewed={isViewed} />;
}

function toTree(files: FileDiff[]): Folder {
  const root: Folder = { folders: new Map(), files: new Map() };
  for (const file of files) {
    const folderNames = file.path.split('/');
    const fileName = folderNames.pop() ?? file.path;
    let folder = root;
    for (const name of folderNames) {
      const next = folder.folders.get(name) ?? { folders: new Map(), files: new Map() };
      folder.folders.set(name, next);
      folder = next;
    }
    folder.files.set(fileName, file);
  }
  return root;
}

function FolderItems({ folder, isViewed }: { folder: Folder; isViewed(file: FileDiff): boolean }) {
  return (
    <ul>
      {[...folder.folders].map(([name, subfolder]) => (
        <li key={name}>
          <details open>
            <summary>
              <bdi>{revealHidden(name)}</bdi>
            </summary>
            <FolderItems folder={subfolder} isViewed={isViewed} />
          </details>
        </li>
      ))}
      {[...folder.files].map(([name, file]) => (
        <li key={name}>
          <a href={`#${anchorOf(file.path)}`} title={file.path}>
            {isViewed(file) ? <CheckIcon size={12} aria-label="Viewed" /> : <FileIcon size={12} />}{' '}
            <bdi>{revealHidden(name)}</bdi>
          </a>
        </li>
      ))}
    </ul>
  );
}
