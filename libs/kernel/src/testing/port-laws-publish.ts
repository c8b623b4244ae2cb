import type { ListedPublish } from "../entry.js";
import { check, same } from "./port-laws-check.js";
import type { PortLaw } from "./port-laws-world.js";

function effect(id: string, subject: string): ListedPublish {
  return { kind: "publish", id, bell: null, subject, body: { id, text: `北京 ${id}` } };
}

export const PUBLISH_LAWS: readonly PortLaw[] = [
  {
    title: "K3 effects arrive in the order they were published, with their bodies",
    run: async (world) => {
      const key = world.keyOf("publish-order");
      const effects = [0, 1, 2].map((n) => effect(`${key}:1:${n}`, world.subjects.outbox(key)));
      for (const one of effects) same(await world.publish.publish(one), "published", one.id);
      same(
        await world.published(world.subjects.outbox(key)),
        effects.map((one) => one.body),
        "bodies",
      );
    },
  },
  {
    title: "K3 one id is stored once, however often and at whatever time it is published",
    run: async (world) => {
      const key = world.keyOf("publish-twice");
      const one = effect(`${key}:1:0`, world.subjects.outbox(key));
      same(await world.publish.publish(one), "published", "the first time");
      same(await world.publish.publish(one), "duplicate", "the second time");
      const other = effect(`${key}:1:1`, world.subjects.outbox(key));
      const outcomes = await Promise.all([1, 2, 3, 4].map(() => world.publish.publish(other)));
      const first = outcomes.filter((outcome) => outcome === "published").length;
      check(first === 1, `of four at the same time one must be the first, found ${outcomes.join(", ")}`);
      same(await world.published(world.subjects.outbox(key)), [one.body, other.body], "bodies");
    },
  },
  {
    title: "K3 the same body under another id is another message",
    run: async (world) => {
      const key = world.keyOf("publish-other");
      const subject = world.subjects.outbox(key);
      const body = { text: "same" };
      for (const n of [0, 1]) {
        const one: ListedPublish = { kind: "publish", id: `${key}:1:${n}`, bell: null, subject, body };
        same(await world.publish.publish(one), "published", one.id);
      }
      same(await world.published(subject), [body, body], "bodies");
    },
  },
  {
    title: "K3 a job is refused as waiting while one of its subject waits, and of no other",
    run: async (world) => {
      const key = world.keyOf("publish-job");
      const other = world.keyOf("publish-job-2");
      const first = effect(`${key}:1:0`, world.subjects.job(key));
      same(await world.publish.publish(first), "published", "the first job");
      same(await world.publish.publish(effect(`${key}:2:0`, world.subjects.job(key))), "waiting", "the second job");
      same(await world.publish.publish(first), "duplicate", "the first job, again");
      same(
        await world.publish.publish(effect(`${other}:1:0`, world.subjects.job(other))),
        "published",
        "another key's",
      );
      same(await world.published(world.subjects.job(key)), [first.body], "jobs waiting");
    },
  },
];
