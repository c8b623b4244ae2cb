import { expect, test } from "vitest";
import { type Mutant, plant } from "./mutant.js";
import { runSchedule } from "./schedule.js";

/** Readings of the laws that look right and are not; the simulation has to find each of them. */
const MUTANTS: readonly Mutant[] = [
  {
    name: "K3: ids are recomputed at publish",
    edits: [
      {
        file: "publisher.ts",
        from: "await this.#ports.publish.publish(effect);",
        to: "await this.#ports.publish.publish({ ...effect, id: effect.id.replace(/[0-9]+$/, String(effects.indexOf(effect))) });",
      },
    ],
  },
  {
    name: "K3: listed effects are taken for published at a takeover",
    edits: [{ file: "publisher.ts", from: "if (bell !== null && gone.has(bell)) ", to: "" }],
  },
  {
    name: "K4: receive is called again after a refused write",
    edits: [
      {
        file: "activation.ts",
        from: "return this.#write(entry, failed !== undefined || this.#hasMore(entry));",
        to: "const ended = await this.#write(entry, failed !== undefined || this.#hasMore(entry)); return ended === undefined && this.#entry.fields !== entry.fields ? this.#commit(works) : ended;",
      },
    ],
  },
  {
    name: "K5: the lease is trusted instead of the revision",
    edits: [
      {
        file: "activation.ts",
        from: "JSON.stringify(next), this.#revision)",
        to: "JSON.stringify(next), this.#epoch > 0 ? ((await ports.state.read(key, 'leader'))?.revision ?? 0) : this.#revision)",
      },
    ],
  },
  {
    name: "K6: a takeover starts runs without a commit of its own",
    edits: [
      {
        file: "activation.ts",
        from: 'if (this.#epoch === 0 && runs.length > 0) return [{ kind: "resumed", runs }];',
        to: "",
      },
      {
        file: "activation.ts",
        from: "if (this.#epoch === 0 || this.#handOver) return;",
        to: "if (this.#handOver) return;",
      },
    ],
  },
  {
    name: "K7: a bell is acked while a publish is unconfirmed",
    edits: [
      {
        file: "fold.ts",
        from: "effect.bell !== seq || confirmed.has(effect.id)",
        to: "effect.bell !== seq || confirmed.size >= 0",
      },
    ],
  },
  {
    name: "K7: an answer is judged by an entry that may be old",
    edits: [
      { file: "doorbells.ts", from: "return serial <= this.#judgedTo && !", to: "return !" },
      { file: "doorbells.ts", from: "serial > this.#judgedTo && !", to: "serial < 0 && !" },
    ],
  },
  {
    name: "K2: one cursor for user and control mail",
    edits: [
      {
        file: "fold.ts",
        from: 'if (lane === "user") return { ...cursors, user: Math.max(cursors.user, seq), cut };',
        to: 'if (lane === "user" || lane === "control" || lane === "cut") return { ...cursors, user: Math.max(cursors.user, seq), control: Math.max(cursors.control, seq), cut };',
      },
    ],
  },
  {
    name: "K2: a cancel does not end user mail that is read after it",
    edits: [{ file: "fold.ts", from: "seq < this.entry.cursors.cut", to: "seq < 0" }],
  },
  {
    name: "K11: mail behind a failed one goes on in its lane",
    edits: [
      {
        file: "activation.ts",
        from: "if (waiting.has(nameOf(work))) blocked.add(lane);\n      return !blocked.has(lane);",
        to: "return !waiting.has(nameOf(work)) || blocked.has(lane);",
      },
    ],
  },
];

const MOST_SEEDS = 5_000;

test.each(MUTANTS)("the simulation finds: $name", { timeout: 120_000 }, async (mutant) => {
  const { Host, remove } = await plant(mutant);
  const startedAt = performance.now();
  try {
    for (let seed = 1; seed <= MOST_SEEDS; seed++) {
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
