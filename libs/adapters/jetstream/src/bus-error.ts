/** What a person has to know about the bus, in one line: it is printed as it is. */
export class BusError extends Error {
  override readonly name = "BusError";
}
