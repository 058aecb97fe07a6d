import type { CommandResult } from '../checking/isolated.ts';
import type { ChatMessage } from '../oracle/conversation.ts';
import type { ChatModel, ModelAnswer } from './chat-model.ts';

/** How a run of the mini loop ended, and what it used. */
export interface MiniEnding {
  /** `submitted`, or why the run ended without that. */
  how: 'submitted' | 'step limit' | 'three invalid answers' | 'model failed';
  detail: string;
  steps: number;
  inputTokens: number;
  cachedInputTokens: number;
  outputTokens: number;
}

/** The loop ends a run after this many invalid answers in a row, as mini-swe-agent does. */
const maxInvalid = 3;
const shownOutput = 10_000;
const lastLine = 'COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT';

const tools = [
  {
    type: 'function',
    function: {
      name: 'bash',
      description: 'Run a shell command',
      parameters: { type: 'object', properties: { command: { type: 'string' } }, required: ['command'] },
    },
  },
];

const system = 'You solve a task in a repository by running shell commands. Each answer calls the tool bash.';

const howToEnd = `To end the task, run exactly: echo ${lastLine}`;

/**
 * The plain loop to compare with, after the idea of mini-swe-agent: the model runs shell commands, whatever they print
 * is the next observation, and an invalid answer is answered with what was expected. Nothing else ends a run but its
 * limit of steps.
 */
export async function miniLoop(
  model: ChatModel,
  { title, issue }: { title: string; issue: string },
  run: (command: string) => Promise<CommandResult>,
  maxSteps: number,
): Promise<MiniEnding> {
  const messages: ChatMessage[] = [
    { role: 'system', content: system },
    { role: 'user', content: `# Task: ${title}\n\n${issue}\n\n${howToEnd}` },
  ];
  const used = { steps: 0, inputTokens: 0, cachedInputTokens: 0, outputTokens: 0 };
  let invalid = 0;
  while (used.steps < maxSteps) {
    const answer = await model(messages, tools).catch((error: Error) => error);
    if (answer instanceof Error) return { how: 'model failed', detail: answer.message, ...used };
    used.steps++;
    used.inputTokens += answer.inputTokens;
    used.cachedInputTokens += answer.cachedInputTokens;
    used.outputTokens += answer.outputTokens;
    const commands = commandsOf(answer);
    if (typeof commands === 'string') {
      // The answer itself is not kept.
      messages.push({ role: 'user', content: `${commands} ${howToEnd}` });
      if (++invalid === maxInvalid) return { how: 'three invalid answers', detail: commands, ...used };
      continue;
    }
    invalid = 0;
    messages.push(answer.message);
    for (const { id, command } of commands) {
      const result = await run(command);
      if (result.code === 0 && result.output.trimStart().split('\n')[0]?.trim() === lastLine)
        return { how: 'submitted', detail: '', ...used };
      messages.push({ role: 'tool', tool_call_id: id, content: observation(result) });
    }
  }
  return { how: 'step limit', detail: `${maxSteps} steps`, ...used };
}

/** Returns the commands of an answer, or what is wrong with it. */
function commandsOf({ message }: ModelAnswer): { id: string; command: string }[] | string {
  const calls = message.tool_calls ?? [];
  if (calls.length === 0) return 'The answer has no call; each answer must call the tool bash.';
  const commands: { id: string; command: string }[] = [];
  for (const { id, function: call } of calls) {
    if (call.name !== 'bash') return `There is no tool ${call.name}; the tool is bash.`;
    const command = commandIn(call.arguments);
    if (command === undefined) return 'The arguments must be a JSON object with the string "command".';
    commands.push({ id, command });
  }
  return commands;
}

function commandIn(text: string): string | undefined {
  try {
    const { command } = JSON.parse(text) as { command?: unknown };
    return typeof command === 'string' ? command : undefined;
  } catch {
    return undefined;
  }
}

function observation({ code, output }: CommandResult): string {
  const half = shownOutput / 2;
  const shown =
    output.length <= shownOutput
      ? output
      : `${output.slice(0, half)}\n[… ${output.length - shownOutput} characters left out …]\n${output.slice(-half)}`;
  return `<returncode>${code ?? -1}</returncode>\n<output>\n${shown}</output>`;
}
