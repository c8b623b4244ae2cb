import fc from "fast-check";
import { expect, test } from "vitest";
import { type Entry, newEntry, publishesOf } from "../src/entry.js";
import { Fold } from "../src/fold.js";
import { type SimFields, type SimRun, simActor } from "../src/testing/index.js";
import { type MailWork, mailWork } from "../src/work.js";

const actor = simActor();
type SimEntry = Entry<SimFields, SimRun>;

const begun = (): SimEntry => newEntry(actor.schema, "mail-1", actor.initial(0));

function worksOf(texts: readonly string[]): MailWork<string>[] {
  return texts.map((text, i) => {
    const item = { seq: i + 1, origin: "in", at: 0, text } as const;
    return mailWork(item, actor.decodeMail(item));
  });
}

/** Commits these works, each list in one commit. */
function committed(batches: readonly (readonly MailWork<string>[])[]): SimEntry {
  return batches.reduce((entry, works, revision) => {
    const fold = new Fold({ key: "k", actor, entry, revision, confirmed: new Set<string>(), now: 0 });
    fold.handle(works);
    return fold.entry;
  }, begun());
}

/** What an effect says, without the ids that name its commit. */
function effectsOf({ outstanding, timers }: SimEntry): string[] {
  const listed = outstanding.map((x) => {
    const { id: _, ...body } = x.body as Record<string, unknown>;
    return `${x.kind} ${x.bell} ${JSON.stringify(body)}`;
  });
  return [...listed, ...timers.map((timer) => `timer ${timer.ref} ${timer.at}`)].sort();
}

const texts = fc
  .array(fc.constantFrom("u", "v", "s", "t", "c", "r", "d", "y"), { maxLength: 8 })
  .map((kinds) => kinds.map((kind, i) => `${kind}${i + 1}`));

test("K8: inputs folded into one commit and committed one by one come to the same", () => {
  fc.assert(
    fc.property(texts, (all) => {
      const works = worksOf(all);
      const together = committed([works]);
      const apart = committed(works.map((work) => [work]));
      expect(together.fields).toEqual(apart.fields);
      expect(together.cursors).toEqual(apart.cursors);
      expect(effectsOf(together)).toEqual(effectsOf(apart));
    }),
  );
});

test("K3: however inputs are spread over commits, no two effects share an id, and each id names its commit", () => {
  fc.assert(
    fc.property(texts, fc.array(fc.integer({ min: 1, max: 4 })), (all, sizes) => {
      const works = worksOf(all);
      const batches: MailWork<string>[][] = [];
      for (const size of sizes) batches.push(works.splice(0, size));
      const { outstanding } = committed([...batches, works]);
      expect(new Set(outstanding.map((x) => x.id)).size).toBe(outstanding.length);
      for (const effect of publishesOf({ outstanding })) expect(effect.body["id"]).toBe(effect.id);
      const order = outstanding.map((x) => x.id.split(":").slice(1).map(Number));
      expect(order).toEqual([...order].sort(([a = 0, b = 0], [c = 0, d = 0]) => a - c || b - d));
    }),
  );
});

test("K4: a result of a run that the same commit aborted is not handled", () => {
  const running = committed([worksOf(["v1"])]);
  const [run] = running.outstanding.filter((x) => x.kind === "run");
  if (run === undefined) throw new Error("no run was listed");
  const fold = new Fold({ key: "k", actor, entry: running, revision: 5, confirmed: new Set<string>(), now: 0 });
  const input = { kind: "result", run: { ref: run.ref, body: run.body }, outcome: { mail: "v1", epoch: 1 } } as const;
  const result = { kind: "runs", name: run.id, bell: 1, runs: [run], input } as const;
  const [, cancel] = worksOf(["v1", "c2"]);
  if (cancel === undefined) throw new Error("no cancel");
  fold.handle([cancel, result]);
  expect(fold.entry.fields.log.filter((line) => line.startsWith("result"))).toEqual([]);
});
