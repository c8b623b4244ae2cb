/** What came over the wire is not of the form that was agreed on. */
export class UnexpectedJson extends Error {}

/** The fields of a JSON object, each read with the form that it must have. */
export class JsonFields {
  readonly #object: Readonly<Record<string, unknown>>;

  /** @throws UnexpectedJson for what is no object */
  constructor(value: unknown) {
    if (!isObject(value)) throw new UnexpectedJson("expected an object");
    this.#object = value;
  }

  text(name: string): string {
    return this.textOrNull(name) ?? unexpected(name, "a string");
  }

  /** Null for what is null or left out. */
  textOrNull(name: string): string | null {
    const value = this.#object[name] ?? null;
    return value === null || typeof value === "string" ? value : unexpected(name, "a string");
  }

  number(name: string, fallback?: number): number {
    const value = this.#object[name] ?? fallback;
    return typeof value === "number" ? value : unexpected(name, "a number");
  }

  /** False when it is left out. */
  flag(name: string): boolean {
    return this.#object[name] === true;
  }

  /** Empty when it is left out. */
  list<T>(name: string, read: (item: unknown) => T): T[] {
    const value = this.#object[name] ?? [];
    return Array.isArray(value) ? value.map(read) : unexpected(name, "a list");
  }

  /** Null for what is null or left out. */
  objectOrNull(name: string): JsonFields | null {
    const value = this.#object[name] ?? null;
    return value === null ? null : new JsonFields(value);
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function unexpected(name: string, form: string): never {
  throw new UnexpectedJson(`${name}: expected ${form}`);
}
