/** Thrown inside a run that waits from now on, so that its worker leaves it. Everything that the run needs is stored. */
export class Parked extends Error {
  constructor() {
    super('the run waits');
    this.name = 'Parked';
  }
}
