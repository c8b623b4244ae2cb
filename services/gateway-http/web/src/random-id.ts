const HEX = 16;

/** Random hexadecimal digits. `crypto.randomUUID` is not there on plain HTTP, which a gateway in a home network speaks. */
export function randomId(bytes: number): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(bytes)), (byte) => byte.toString(HEX).padStart(2, "0")).join(
    "",
  );
}
