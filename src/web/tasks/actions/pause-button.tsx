import { Button } from '@primer/react';

/** Pauses a run, or says that it is about to pause. The button keeps the focus, which a disabled one would lose. */
export function PauseButton(props: { isPausing: boolean; isBusy: boolean; size?: 'small'; onPause(): void }) {
  const { isPausing, isBusy, size = 'medium', onPause } = props;
  const isInactive = isBusy || isPausing;
  return (
    <Button
      size={size}
      inactive={isInactive}
      aria-disabled={isInactive}
      // In other places, a key that is pressed once more would pause a run that has just begun.
      data-next-focus="Resume run"
      onClick={() => {
        if (!isInactive) onPause();
      }}
    >
      {isPausing ? 'Pausing after this turn' : 'Pause run'}
    </Button>
  );
}
