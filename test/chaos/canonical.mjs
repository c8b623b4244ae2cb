// One text for all JSON values that mean the same: fields may come in any order.

export function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const fields = Object.entries(value).filter(([, of]) => of !== undefined);
  return `{${fields
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, of]) => `${JSON.stringify(name)}:${canonical(of)}`)
    .join()}}`;
}
