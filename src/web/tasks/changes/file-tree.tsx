import { FileIcon } from '@primer/octicons-react';
import type { FileDiff } from '../../api.ts';
import { revealHidden } from '../../display/hidden-characters.ts';

/** Maps names of subfolders to folders, and names of files to their paths. */
interface Folder {
  folders: Map<string, Folder>;
  files: Map<string, string>;
}

/** Returns the id of a file's section on the page. */
export const anchorOf = (path: string) => `file-${encodeURIComponent(path)}`;

export function FileTree({ files }: { files: FileDiff[] }) {
  return <FolderItems folder={toTree(files)} />;
}

function toTree(files: FileDiff[]): Folder {
  const root: Folder = { folders: new Map(), files: new Map() };
  for (const { path } of files) {
    const folderNames = path.split('/');
    const fileName = folderNames.pop() ?? path;
    let folder = root;
    for (const name of folderNames) {
      const next = folder.folders.get(name) ?? { folders: new Map(), files: new Map() };
      folder.folders.set(name, next);
      folder = next;
    }
    folder.files.set(fileName, path);
  }
  return root;
}

function FolderItems({ folder }: { folder: Folder }) {
  return (
    <ul>
      {[...folder.folders].map(([name, subfolder]) => (
        <li key={name}>
          <details open>
            <summary>
              <bdi>{revealHidden(name)}</bdi>
            </summary>
            <FolderItems folder={subfolder} />
          </details>
        </li>
      ))}
      {[...folder.files].map(([name, path]) => (
        <li key={name}>
          <a href={`#${anchorOf(path)}`} title={path}>
            <FileIcon size={12} /> <bdi>{revealHidden(name)}</bdi>
          </a>
        </li>
      ))}
    </ul>
  );
}
