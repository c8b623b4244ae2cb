import { randomBytes } from "node:crypto";
import { link, mkdir, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Writes a file that only its owner may read (0600), whole or not at all: a reader sees the old content or the new one.
 */
export async function replacePrivateFile(path: string, content: string): Promise<void> {
  await withDraft(path, content, (draft) => rename(draft, path));
}

/**
 * Like {@link replacePrivateFile}, but only if there is no such file yet.
 *
 * @returns whether this call made it; of several at once, in any processes, exactly one does
 */
export async function createPrivateFile(path: string, content: string): Promise<boolean> {
  let made = true;
  await withDraft(path, content, async (draft) => {
    try {
      // A link appears with its content or not at all, and refuses to replace; opening with "wx" shows an empty file.
      await link(draft, path);
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
      made = false;
    }
  });
  return made;
}

async function withDraft(path: string, content: string, use: (draft: string) => Promise<void>): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${process.pid}.${randomBytes(6).toString("hex")}`;
  try {
    const file = await open(draft, "wx", 0o600);
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    await use(draft);
  } finally {
    await rm(draft, { force: true });
  }
}
