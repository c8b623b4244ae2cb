/**
 * A message that cannot be taken in at the moment, with a sentence that may be told to the outside. The same message may
 * be repeated under the same id. A class of its own: a channel that takes every other error for passing takes this one so.
 */
export class IntakePause extends Error {
  override readonly name = "IntakePause";
}
