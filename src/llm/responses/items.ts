import { type CharCount, maxCalls, tooManyCalls } from '../bounds.ts';
import type { Tell } from '../wire-format.ts';

type Fields = Record<string, unknown>;

/** An event about one item. The place of the item in the answer may be missing. */
interface ItemEvent {
  type: string;
  delta?: string | null | undefined;
  arguments?: string | null | undefined;
  output_index?: number | null | undefined;
  item?: Fields | null | undefined;
}

interface Item {
  fields: Fields;
  isDone: boolean;
}

/**
 * The items of a streamed response. OpenAI announces an item, sends its pieces, and repeats it when it is complete. Other
 * servers leave out one or two of these.
 */
export class StreamedItems {
  readonly #count: CharCount;
  readonly #tell: Pick<Tell, 'call'>;
  readonly #items = new Map<number, Item>();
  #text = '';

  constructor(count: CharCount, tell: Pick<Tell, 'call'>) {
    this.#count = count;
    this.#tell = tell;
  }

  /** @throws ModelFailed when there are too many items, or they are too long */
  add(event: ItemEvent): void {
    const { type } = event;
    if (type === 'response.output_item.added') this.#put(event, false);
    else if (type === 'response.output_item.done') this.#put(event, true);
    else if (type === 'response.function_call_arguments.delta')
      this.#setArguments(event, (before) => before + this.#count.counted(event.delta));
    else if (type === 'response.function_call_arguments.done')
      this.#setArguments(event, (before) => this.#count.counted(event.arguments) || before);
  }

  /** Adds text of the answer, which counts only if no item repeats it. */
  addText(text: string): void {
    this.#text += text;
  }

  /** Returns the complete items in order. A call is also complete without being repeated; so is the text. */
  all(): Fields[] {
    const inOrder = [...this.#items].sort(([a], [b]) => a - b).map(([, item]) => item);
    const items = inOrder.filter(({ fields, isDone }) => isDone || isCall(fields)).map(({ fields }) => fields);
    if (this.#text === '' || items.some(({ type }) => type === 'message')) return items;
    const content = [{ type: 'output_text', text: this.#text }];
    const firstCall = items.findIndex(isCall);
    const message = { type: 'message', role: 'assistant', content };
    return items.toSpliced(firstCall < 0 ? items.length : firstCall, 0, message);
  }

  #put({ output_index, item }: ItemEvent, isDone: boolean): void {
    if (item == null) return;
    const index = output_index ?? (isDone ? this.#openIndex() : undefined) ?? this.#nextIndex();
    if (index >= maxCalls) throw tooManyCalls();
    this.#count.counted(JSON.stringify(item));
    this.#items.set(index, { fields: { ...item }, isDone });
  }

  #setArguments({ output_index }: ItemEvent, change: (before: string) => string): void {
    const item = this.#items.get(output_index ?? this.#openIndex() ?? -1);
    if (item === undefined || item.isDone || !isCall(item.fields)) return;
    const { arguments: given, name } = item.fields;
    const before = typeof given === 'string' ? given : '';
    const after = change(before);
    item.fields.arguments = after;
    // After the pieces, servers send the complete arguments once more. These are not reported again.
    if (after.length > before.length) this.#tell.call(String(name ?? ''), after.slice(before.length));
  }

  /** Without an index, a piece belongs to the item that was announced last and is not complete. */
  #openIndex(): number | undefined {
    return [...this.#items].findLast(([, { isDone }]) => !isDone)?.[0];
  }

  #nextIndex(): number {
    return this.#items.size === 0 ? 0 : Math.max(...this.#items.keys()) + 1;
  }
}

function isCall({ type }: Fields): boolean {
  return type === 'function_call';
}
