import { postStream } from '../live/post-stream.ts';

/** Sends a message to a chat and returns the whole answer. `onText` receives the answer piece by piece. */
export async function sendMessage(address: string, message: string, onText: (piece: string) => void): Promise<string> {
  const onEvent = (name: string | undefined, { text }: { text?: string }) => {
    if (name === 'text') onText(text ?? '');
  };
  const { response } = await postStream<{ response?: string }>(address, { message }, onEvent);
  return response ?? '';
}
