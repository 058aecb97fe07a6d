import type { ChangeData, HunkData } from 'react-diff-view';
import type { Hunk } from '../../api.ts';
import { revealHidden } from '../../display/hidden-characters.ts';

/** Converts a hunk of the API to the form that react-diff-view needs. */
export function toHunkData({ oldStart, oldLines, newStart, newLines, lines }: Hunk): HunkData {
  let [oldLine, newLine] = [oldStart, newStart];
  const changes = lines.map((line): ChangeData => {
    const content = revealHidden(line.slice(1));
    if (line.startsWith('+')) return { type: 'insert', content, lineNumber: newLine++, isInsert: true };
    if (line.startsWith('-')) return { type: 'delete', content, lineNumber: oldLine++, isDelete: true };
    return { type: 'normal', content, oldLineNumber: oldLine++, newLineNumber: newLine++, isNormal: true };
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
