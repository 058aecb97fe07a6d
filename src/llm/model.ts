/** A tool call as the model wrote it. The arguments are a string that has not been parsed yet. */
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
  /** The answer reached the token limit and is incomplete. */
  isCut: boolean;
}

/** Why a model did not answer. `context` means that the conversation is longer than the model accepts. */
export type ModelFault = 'auth' | 'rate_limit' | 'model' | 'context';

/** The model did not answer, even after retries. */
export class ModelFailed extends Error {
  readonly fault: ModelFault;

  constructor(fault: ModelFault, message: string) {
    super(message);
    this.name = 'ModelFailed';
    this.fault = fault;
  }
}

export interface ReplyOptions {
  /** The function that the model must call. */
  force?: string;
  /** Receives the text as it arrives. */
  onText?: (piece: string) => void;
}

/** A model together with an API key. */
export interface Model {
  name: string;
  /** Requests the model's next message. @throws ModelFailed, or the reason of the signal */
  reply(messages: Message[], tools: ToolSpec[], signal: AbortSignal, options?: ReplyOptions): Promise<Reply>;
}

export interface ModelSource {
  /** Returns a model that is called with the given key. */
  withKey(name: string, key: string): Model;
}
