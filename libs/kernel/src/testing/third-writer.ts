import type { Entry } from "../entry.js";
import type { SimFields, SimRun } from "./sim-actor.js";
import type { SimProcess } from "./sim-process.js";

/**
 * Another writer of the entry that lists an effect (K9): it holds a message of its own until the
 * effect is published and off the list; killed at any point, it starts over.
 */
export async function thirdWriter(process: SimProcess, key: string): Promise<void> {
  const { state, publish } = process.brokerPorts();
  for (;;) {
    try {
      const stored = await state.read(key, "leader");
      if (stored === null) return;
      const entry = JSON.parse(stored.text) as Entry<SimFields, SimRun>;
      const mine = entry.outstanding.find((x) => x.kind === "publish" && x.body["third"] === process.name);
      const isDone = entry.fields.third.includes(process.name);
      if (isDone && mine === undefined) return;
      if (mine?.kind === "publish") {
        await publish.publish(mine);
        const without = { ...entry, outstanding: entry.outstanding.filter((x) => x !== mine) };
        await state.write(key, JSON.stringify(without), stored.revision);
      } else {
        const id = `${key}:${stored.revision}:0`;
        const effect = { kind: "publish", id, bell: null, subject: "item", body: { third: process.name, id } } as const;
        const fields = {
          ...entry.fields,
          third: [...entry.fields.third, process.name],
        };
        await state.write(
          key,
          JSON.stringify({ ...entry, fields, outstanding: [...entry.outstanding, effect] }),
          stored.revision,
        );
      }
    } catch {
      // The outcome is unknown: look again.
    }
  }
}
