import { expect, test } from "vitest";
import { type Mutant, plant } from "./mutant.js";
import { HIDDEN_EVERY, LONG_EVERY, runSchedule } from "./schedule.js";

/** Readings of the laws that look right and are not; the simulation has to find each of them. */
const MUTANTS: readonly Mutant[] = [
  {
    name: "K1: the cursors of a log that is gone are kept",
    edits: [
      { file: "entry.ts", from: "mailStream, cursors: NO_CURSORS, attempts: []", to: "mailStream, attempts: []" },
    ],
  },
  {
    name: "K1: bells are judged by the cursors of another log",
    edits: [
      { file: "activation.ts", from: "if ((await this.#base.ports.mail.identity()) !== log)", to: "if (log === '')" },
    ],
  },
  {
    name: "K2: one cursor for user and control mail",
    edits: [
      {
        file: "fold.ts",
        from: "return { ...cursors, [lane]: Math.max(cursors[lane], item.seq), cut };",
        to: "const both = Math.max(cursors[lane], item.seq); return lane === 'ops' ? { ...cursors, ops: both, cut } : { ...cursors, user: both, control: both, cut };",
      },
    ],
  },
  {
    name: "K2: a cancel does not end user mail that is read after it",
    edits: [{ file: "fold.ts", from: "seq < cursors.cut", to: "seq < 0" }],
  },
  {
    name: "K2: control mail behind a full queue is not seen",
    every: LONG_EVERY,
    edits: [{ file: "mailbox.ts", from: "if (!past || items.length < BATCH", to: "if (past || items.length < BATCH" }],
  },
  {
    name: "K2: mail whose bell was given back is passed over",
    edits: [{ file: "heard-mail.ts", from: "(name === own && !isInHand(seq))", to: "(seq < 0 && !isInHand(seq))" }],
  },
  {
    name: "K2: mail that rang elsewhere is passed over",
    edits: [{ file: "heard-mail.ts", from: "name === undefined || ", to: "" }],
  },
  {
    name: "K3: ids are recomputed at publish",
    edits: [
      {
        file: "effects.ts",
        from: "await ports.publish.publish(effect);",
        to: "await ports.publish.publish({ ...effect, id: effect.id.replace(/[0-9]+$/, String(this.#tenure.entry.outstanding.indexOf(effect))) });",
      },
    ],
  },
  {
    name: "K3: listed effects are taken for published at a takeover",
    edits: [
      {
        file: "effects.ts",
        from: "if (bell === null || (await mail.waiting(bell))) return;",
        to: "await mail.waiting(0);",
      },
    ],
  },
  {
    name: "K4: receive is called again after a refused write",
    edits: [
      {
        file: "activation.ts",
        from: "const tooLarge = await this.#write(this.#handled(works));",
        to: "const fold = this.#handled(works); const tooLarge = await this.#write(fold); if (works.length > 0 && this.#tenure.entry.fields !== fold.entry.fields) await this.#commit(works);",
      },
    ],
  },
  {
    name: "K5: the lease is trusted instead of the revision",
    edits: [
      {
        file: "tenure.ts",
        from: "JSON.stringify(next), this.revision)",
        to: "JSON.stringify(next), this.isHeld ? ((await ports.state.read(key, 'leader'))?.revision ?? 0) : this.revision)",
      },
    ],
  },
  {
    name: "K6: a takeover starts runs without a commit of its own",
    edits: [
      { file: "activation.ts", from: "if (!isHeld && runs.length > 0) return [resumedWork(runs)];", to: "" },
      {
        file: "effects.ts",
        from: "isHeld ? runsOf(entry)",
        to: "isHeld || true ? runsOf(entry)",
      },
    ],
  },
  {
    name: "K6: a takeover that failed keeps the lease",
    edits: [{ file: "activation.ts", from: "return !isInheriting && (", to: "return isInheriting || (" }],
  },
  {
    name: "K7: a bell is acked while a publish is unconfirmed",
    edits: [
      {
        file: "mailbox.ts",
        from: "open.some(({ bell }) => ",
        to: 'open.filter(({ kind }) => kind === "run").some(({ bell }) => ',
      },
    ],
  },
  {
    name: "K7: an answer is judged by an entry that may be old",
    edits: [
      { file: "mailbox.ts", from: "(work.answers === undefined || serial <= this.#judgedTo) && ", to: "" },
      { file: "mailbox.ts", from: "serial > this.#judgedTo && !", to: "serial < 0 && !" },
    ],
  },
  {
    name: "K8: mail that a stale read missed waits for the end of the run",
    every: HIDDEN_EVERY,
    edits: [{ file: "mailbox.ts", from: "this.#seenTo = 0;\n    return true;", to: "return false;" }],
  },
  {
    name: "K12: a commit names a segment that is not stored yet",
    edits: [
      {
        file: "tenure.ts",
        from: "await ports.segments.create(name, text);",
        to: "void ports.segments.create(name, text).catch(() => 0);",
      },
    ],
  },
  {
    name: "K12: a commit names what is too large for it and is not stored yet",
    edits: [
      {
        file: "tenure.ts",
        from: "const outcomes = await Promise.all(blobs.map(({ name, text }) => ports.blobs.create(name, text)));",
        to: "const outcomes: { kind: string }[] = []; void Promise.allSettled(blobs.map(({ name, text }) => ports.blobs.create(name, text)));",
      },
    ],
  },
  {
    name: "K11: mail behind a failed one goes on in its lane",
    edits: [
      {
        file: "activation.ts",
        from: "blocked.add(lane);\n      return !blocked.has(lane);",
        to: "return false;\n      return !blocked.has(lane);",
      },
    ],
  },
  {
    name: "K11: poison that kills is retried for ever",
    edits: [{ file: "fold.ts", from: "n: (attemptAt(this.entry, name)?.n ?? 0) + 1,", to: "n: 1," }],
  },
  {
    name: "K11: poison that kills takes what is handled with it along",
    edits: [{ file: "activation.ts", from: "Math.max(1, suspect)", to: "8" }],
  },
];

const MOST_SEEDS = 20_000;

test.each(MUTANTS)("the simulation finds: $name", { timeout: 120_000 }, async (mutant) => {
  const { Host, remove } = await plant(mutant);
  const startedAt = performance.now();
  try {
    const { every = 1 } = mutant;
    for (let seed = every; seed <= MOST_SEEDS; seed += every) {
      const { breach } = await runSchedule(seed, Host);
      if (breach === undefined) continue;
      console.log(
        `${mutant.name}: found at seed ${seed} after ${Math.round(performance.now() - startedAt)} ms (${breach})`,
      );
      return;
    }
    expect.fail(`not found in ${MOST_SEEDS} schedules`);
  } finally {
    await remove();
  }
});
