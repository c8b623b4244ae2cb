import type { ListedPublish } from "../entry.js";
import { check, same } from "./port-laws-check.js";
import type { PortLaw, PortWorld } from "./port-laws-world.js";

interface Alarm {
  readonly key: string;
  readonly name: string;
  readonly at: number;
}

function schedule(world: PortWorld, { key, name, at }: Alarm): ListedPublish {
  return {
    kind: "publish",
    id: `${key}:1:${name}`,
    bell: null,
    subject: world.subjects.timer(key, name),
    body: { timer: name, text: "醒醒 😀" },
    schedule: { at, target: world.subjects.self(key) },
  };
}

export const SCHEDULE_LAWS: readonly PortLaw[] = [
  {
    title: "K10 timers of the past and of the near future fire once each, into their target, with their body",
    run: async (world) => {
      const key = world.keyOf("schedule-once");
      const target = world.subjects.self(key);
      const now = world.now();
      const past = schedule(world, { key, name: "past", at: now - 60_000 });
      const soon = schedule(world, { key, name: "soon", at: now + 1_200 });
      // The last one shows that the others had the time to fire twice.
      const last = schedule(world, { key, name: "last", at: now + 3_000 });
      for (const one of [last, soon, past]) same(await world.publish.publish(one), "published", one.id);
      same(await world.publish.publish(soon), "duplicate", "a schedule under an id that is known");
      await world.until(async () => (await world.published(target)).some((body) => isBody(body, last)));
      same(await world.published(target), [past.body, soon.body, last.body], "what fired");
      check(world.now() >= now + 2_000, "a timer fired more than a second too early");
    },
  },
  {
    title: "K10 a timer fires into its own key only, as a bell of `self` mail with the body as its text",
    run: async (world) => {
      const key = world.keyOf("schedule-bell");
      const other = world.keyOf("schedule-bell-2");
      const one = schedule(world, { key, name: "t", at: world.now() - 1_000 });
      await world.publish.publish(one);
      await world.until(async () => (await world.published(world.subjects.self(key))).length === 1);
      same(await world.published(world.subjects.self(other)), [], "the other key's mail");
    },
  },
];

function isBody(found: unknown, effect: ListedPublish): boolean {
  return JSON.stringify(found) === JSON.stringify(effect.body);
}
