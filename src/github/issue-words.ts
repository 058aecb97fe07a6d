import { harmless, harmlessLine, oneLine, plain } from '../domain/text/sanitize.ts';

const maxBody = 50_000;

/** Returns the title and the text of an issue as a task gets them. */
export function wordsOfIssue({ number, title, body }: { number: number; title: string; body: string | null }) {
  return {
    title: oneLine(plain(title), 200) || `Issue ${number}`,
    description: plain(body ?? '').slice(0, maxBody),
  };
}

/** Returns the title and the text of a task as an issue gets them. */
export function wordsForIssue(task: { title: string; description: string }, commandPrefix: string) {
  return {
    title: harmlessLine(task.title, 200, commandPrefix),
    body: harmless(task.description, commandPrefix).slice(0, 60_000),
  };
}

/**
 * Returns the title and the text of an issue. Where they say the same as the task, returns the task's own characters:
 * GitHub changes line endings, and text that we write into an issue is made harmless first.
 */
export function comparedWords(
  issue: ReturnType<typeof wordsOfIssue>,
  task: { title: string; description: string },
  commandPrefix: string,
) {
  const written = wordsForIssue(task, commandPrefix);
  const isSame = (a: string, b: string) => normal(a) === normal(b);
  return {
    title: isSame(issue.title, written.title) || isSame(issue.title, task.title) ? task.title : issue.title,
    description:
      isSame(issue.description, written.body) || isSame(issue.description, task.description)
        ? task.description
        : issue.description,
  };
}

const normal = (text: string) => plain(text).replace(/\s+/g, ' ').trim();
