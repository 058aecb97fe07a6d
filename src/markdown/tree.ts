/** The fields of a Markdown (mdast) node that we use. */
export interface MarkdownNode {
  type: string;
  position?:
    | { start: { line: number; offset?: number | undefined }; end: { line: number; offset?: number | undefined } }
    | undefined;
  children?: readonly MarkdownNode[];
  value?: string;
  identifier?: string;
  url?: string;
}

/** Stands for the rest of a text in which GitHub, or a browser, may show less than a parser of Markdown can know. */
export const restLeftOut =
  '\n\n(The rest of this text is left out here, because GitHub may not show it: look at its HTML.)';
