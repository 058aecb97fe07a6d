import { AlertIcon, CheckIcon } from '@primer/octicons-react';
import { withoutEmoji } from './without-emoji.ts';

/** Shows a sentence that the service wrote for GitHub, with an icon instead of the emoji, for which some systems have no font. */
export function WithIcon({ sentence }: { sentence: string }) {
  return (
    <>
      {sentence.startsWith('✅') && <CheckIcon className="added" />}
      {sentence.startsWith('⚠️') && <AlertIcon className="warned" />} <bdi>{withoutEmoji(sentence)}</bdi>
    </>
  );
}
