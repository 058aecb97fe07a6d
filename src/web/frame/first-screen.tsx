/** Shows what index.html shows until the scripts of the first page have arrived, so that the screen is never empty. */
export function FirstScreen() {
  return (
    <div className="first" aria-hidden="true">
      <div className="first-top">
        <img src="/icon.svg" alt="" width="24" height="24" /> Deckhand
      </div>
      <div />
      <div />
      <div />
      <div />
    </div>
  );
}
