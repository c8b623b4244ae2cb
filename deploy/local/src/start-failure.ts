/** What ends a command with exit code 1; the message is what the user sees on stderr, one line as a rule. */
export class StartFailure extends Error {
  override readonly name = "StartFailure";
}

/** The one line for any error; for one of the file system it names what to do instead of an errno. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // Written to be read as it is; a wrong configuration has a line for each problem.
  if (error instanceof StartFailure) return error.message;
  const { code, path } = error as NodeJS.ErrnoException;
  const where = path === undefined ? "" : ` (${path})`;
  switch (code) {
    case "ENOSPC":
      return `the disk is full${where}`;
    case "EDQUOT":
      return `the disk quota is used up${where}`;
    case "EROFS":
      return `the file system is read-only${where}`;
    case "EACCES":
    case "EPERM":
      return `no permission to write${where}`;
    // What Node makes of a read-only file system when it is to make a folder and those above it.
    case "ENOENT":
      return `it is not there and cannot be made${where}`;
    case "ENOTDIR":
    case "EEXIST":
      return `a file is in the way of a folder${where}`;
    default:
      return error.message.split("\n", 1)[0] ?? error.name;
  }
}
