import type { Severity } from '../../domain/reviewing/choose-comments.ts';
import { storable } from '../../domain/text/sanitize.ts';
import { type Given, words } from '../../llm/calls/declaration.ts';
import { ReviewCall } from '../reviewing/review-call.ts';
import { tool } from './tool.ts';

/** The tool with which a run of the kind `review` ends. */
export const reviewTools = {
  review: tool({
    description:
      'End with your review: a summary of at most five sentences, and comments on lines that the pull request changes. At most ten comments are posted, the most severe first; fewer are better. `critical`: wrong results, lost data, a security hole. `major`: a bug in some cases, a missing test for new behaviour. `minor`: everything else worth saying. `suggestion` is the exact text that replaces the line; give one only if it is complete and the checks would pass with it.',
    arguments: ReviewCall,
    names: words('submit_review create_review post_review finish_review pull_request_review'),
    argumentNames: { summary: words('body text overview'), comments: words('remarks findings issues notes') },
    defaults: { comments: [] },
    translate: translateReview,
    changes: false,
    offer: 'with review',
    about: ({ comments }) => `with ${comments.length} ${comments.length === 1 ? 'comment' : 'comments'}`,
    run: async (_context, args) => {
      const review = storable(args);
      return { kind: 'finish', finish: { summary: review.summary, nextSteps: [] }, review };
    },
  }),
};

const severityOf = new Map<string, Severity>([
  ...words('critical blocker blocking severe high error p0').map((word) => [word, 'critical'] as const),
  ...words('major medium warning important p1').map((word) => [word, 'major'] as const),
  ...words('minor low nit nitpick info suggestion style trivial p2 p3').map((word) => [word, 'minor'] as const),
]);

const sides = new Map(Object.entries({ left: 'LEFT', old: 'LEFT', removed: 'LEFT', right: 'RIGHT', new: 'RIGHT' }));

/** Understands the names that GitHub and other reviewers give to the parts of a comment. */
function translateReview(given: Given): Given {
  const { comments } = given;
  return Array.isArray(comments) ? { ...given, comments: comments.map(translateRemark) } : given;
}

function translateRemark(given: unknown): unknown {
  if (typeof given !== 'object' || given === null) return given;
  const { path, file, filename, line, text, body, message, comment, severity, side, suggestion, suggested_code } =
    given as Given;
  const code = suggestion ?? suggested_code;
  const place = path ?? file ?? filename;
  const said = text ?? body ?? message ?? comment;
  return {
    path: place,
    text: said,
    ...rated(severity),
    ...placed(line, side),
    ...(isGiven(code) ? { suggestion: code } : {}),
  };
}

const isGiven = (value: unknown) => value !== undefined && value !== null;

function rated(severity: unknown): Given {
  if (!isGiven(severity)) return { severity: 'minor' };
  return { severity: typeof severity === 'string' ? (severityOf.get(severity.toLowerCase()) ?? severity) : severity };
}

function placed(line: unknown, side: unknown): Given {
  const number = typeof line === 'string' && /^\d{1,9}$/.test(line) ? Number(line) : line;
  if (!isGiven(side)) return { line: number };
  return { line: number, side: typeof side === 'string' ? (sides.get(side.toLowerCase()) ?? side) : side };
}
