import { decode, Job, type JobDelivery, type JobKind, type JobSource, type SessionKey } from "@troupe/contracts";
import type { PublishPort } from "@troupe/kernel";
import { listedJob } from "./listed-job.js";

/** What doing jobs relies on, as one suite for every implementation. Each law uses keys or kinds of its own. */
export interface JobWorld {
  readonly publish: PublishPort;
  /** The source of a process of its own. */
  source(): Promise<JobSource>;
  keyOf(name: string): SessionKey;
  /** Milliseconds that have passed since some moment. */
  elapsed(): number;
  /** Lets time pass until the condition holds; throws when it does not within half a minute. */
  until(condition: () => boolean): Promise<void>;
}

export interface JobLaw {
  readonly title: string;
  run(world: JobWorld): Promise<void>;
}

function check(holds: boolean, law: string): void {
  if (!holds) throw new Error(law);
}

/** A process that takes what comes and leaves the answers to the law. */
async function process(world: JobWorld, kind: JobKind, capacity = 64) {
  const all: JobDelivery[] = [];
  const source = await world.source();
  const { stop } = await source.pull({ kind, capacity, onJob: (job) => all.push(job), onTrouble: () => undefined });
  const next = async (count: number): Promise<JobDelivery> => {
    await world.until(() => all.length >= count);
    const job = all[count - 1];
    if (job === undefined) throw new Error(`no delivery ${count}`);
    return job;
  };
  return { all, next, stop };
}

let serial = 0;
const put = (world: JobWorld, kind: JobKind, name: string) =>
  world.publish.publish(listedJob(`law-${++serial}`, { kind, key: world.keyOf(name), generation: 0 }));

export const JOB_LAWS: readonly JobLaw[] = [
  {
    title: "J1 while one waits or is in hand a second is refused; from the moment the ack resolves it is taken",
    run: async (world) => {
      check((await put(world, "review", "one")) === "published", "the first is taken");
      check((await put(world, "review", "one")) === "waiting", "a second one is refused while the first waits");
      const { all, next, stop } = await process(world, "review");
      const first = await next(1);
      check((await put(world, "review", "one")) === "waiting", "a second one is refused while the first is in hand");
      await first.ack();
      check((await put(world, "review", "one")) === "published", "after the ack the subject is free at once");
      const second = await next(2);
      check(second.seq !== first.seq, "it is another message");
      await second.ack();
      await second.ack();
      check(all.length === 2, "each was delivered once");
      await stop();
    },
  },
  {
    title: "J1 a job says what it is, of each kind to its own consumer",
    run: async (world) => {
      const [reviews, embeddings] = [await process(world, "review"), await process(world, "embedding")];
      for (const kind of ["review", "embedding"] as const) await put(world, kind, "kinds: 北京");
      const [review, embedding] = [await reviews.next(1), await embeddings.next(1)];
      check(review.subject === `job.review.${world.keyOf("kinds: 北京")}`, "the subject names kind and key");
      check(decode(Job, review.text).kind === "ok", "the body is a whole job");
      check(embedding.text.includes('"embedding"'), "the body is that of the kind");
      await Promise.all([review.ack(), embedding.ack()]);
      check(reviews.all.length + embeddings.all.length === 2, "each went to one consumer");
      await Promise.all([reviews.stop(), embeddings.stop()]);
    },
  },
  {
    title: "J4 one given back with a delay comes again after it, not before, and is the same message",
    run: async (world) => {
      const { next, stop } = await process(world, "review");
      await put(world, "review", "delayed");
      const first = await next(1);
      const since = world.elapsed();
      first.nak(700);
      const again = await next(2);
      check(world.elapsed() - since >= 650, "it came before its time");
      check(again.seq === first.seq && again.at === first.at, "sequence and time name the message");
      await again.ack();
      await stop();
    },
  },
  {
    title:
      "J5 one that nobody keeps is delivered again; `working` keeps it; a late ack of an earlier delivery settles it",
    run: async (world) => {
      const dying = await process(world, "review");
      for (const name of ["kept", "left"]) await put(world, "review", name);
      const deliveries = [await dying.next(1), await dying.next(2)];
      const [kept, left] = ["kept", "left"].map((name) =>
        deliveries.find((x) => x.subject.endsWith(world.keyOf(name))),
      );
      if (kept === undefined || left === undefined) throw new Error("one of the two did not come");
      await dying.stop();
      const other = await process(world, "review");
      const since = world.elapsed();
      let said = since;
      await world.until(() => {
        if (world.elapsed() - said >= 2_000) {
          said = world.elapsed();
          void kept.working();
        }
        return other.all.length > 0;
      });
      check(other.all[0]?.seq === left.seq, "what was kept went elsewhere");
      check(world.elapsed() - since > 5_000, "it was delivered again before its time");
      await left.ack();
      check((await put(world, "review", "left")) === "published", "the late ack did not settle it");
      await Promise.all([kept.ack(), (await other.next(2)).ack()]);
      await other.stop();
    },
  },
  {
    title: "J6 never more are in hand than the capacity; each answer, or letting go, makes room",
    run: async (world) => {
      const { all, next, stop } = await process(world, "embedding", 2);
      for (let n = 0; n < 6; n++) await put(world, "embedding", `many ${n}`);
      for (let n = 0; n < 6; n++) {
        const job = await next(n + 1);
        check(all.length <= n + 2, `${all.length} delivered with ${n} answered`);
        await job.ack();
      }
      await stop();
    },
  },
  {
    title: "J8 after stop nothing is delivered there, and what comes goes to others",
    run: async (world) => {
      const [first, second] = [await process(world, "review"), await process(world, "review")];
      await first.stop();
      const before = first.all.length;
      for (let n = 0; n < 5; n++) await put(world, "review", `after ${n}`);
      for (let n = 0; n < 5; n++) await (await second.next(n + 1)).ack();
      check(first.all.length === before, "the stopped one got some");
      await second.stop();
    },
  },
];
