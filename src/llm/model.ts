/** One call of a tool as the model asked for it; the arguments are its own text, not yet parsed. */
export interface ToolCall {
  id: string;
  name: string;
  arguments: string;
}

export type Message =
  | { role: 'system' | 'user'; content: string }
  | { role: 'assistant'; content: string; toolCalls: ToolCall[] }
  | { role: 'tool'; toolCallId: string; content: string };

export interface ToolSpec {
  name: string;
  description: string;
  /** JSON Schema of the arguments. */
  parameters: Record<string, unknown>;
}

export interface Reply {
  text: string;
  toolCalls: ToolCall[];
  inputTokens: number;
  outputTokens: number;
  /** The answer was cut because it grew too long. */
  isCut: boolean;
}

/** `context`: the conversation is longer than the model takes. */
export type ModelFault = 'auth' | 'rate_limit' | 'model' | 'context';

/** The model could not answer; retrying within the call is over. */
export class ModelFailed extends Error {
  readonly fault: ModelFault;

  constructor(fault: ModelFault, message: string) {
    super(message);
    this.name = 'ModelFailed';
    this.fault = fault;
  }
}

export interface ReplyOptions {
  /** The one function that the model has to call. */
  force?: string;
  /** Hears the text as it comes. */
  onText?: (piece: string) => void;
}

/** A model with a key. */
export interface Model {
  name: string;
  /** @throws ModelFailed, or the reason of the signal */
  reply(messages: Message[], tools: ToolSpec[], signal: AbortSignal, options?: ReplyOptions): Promise<Reply>;
}

export interface ModelSource {
  /** A model reached with the given key. */
  withKey(name: string, key: string): Model;
}
