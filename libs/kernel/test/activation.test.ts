import { expect, test, vi } from "vitest";
import { HOST_DEFAULTS } from "../src/index.js";
import { simActor, type SimFields, type SimOutcome, type SimRun } from "../src/testing/index.js";
import { ActorRun, type Write } from "./actor-run.js";

const actor = simActor();
const atMost =
  (length: number) =>
  (write: Write): Write =>
  async (key, text, revision) =>
    text.length > length ? { kind: "too-large" } : write(key, text, revision);
const fieldsIn = (stored: { readonly text: string } | null) =>
  actor.decodeFields((JSON.parse(stored?.text ?? "") as { fields: unknown }).fields, actor.schema);
const objectIn = (value: unknown): object => {
  if (typeof value !== "object" || value === null) throw new Error("no object");
  return value;
};
const answering = {
  start: ({ mail }: { mail: string }, { epoch }: { epoch: number }) => ({
    outcome: Promise.resolve({ mail, epoch }),
    abort: () => undefined,
  }),
};

test("a plain turn costs one look at state and mailbox, two commits and its publishes; the next not even that", async () => {
  const run = new ActorRun(actor, answering);
  await run.ring(await run.ports.putMail("k", "in", "u1"));
  expect(run.calls).toEqual(["state read", "mail read", "commit", "publish", "commit", "publish"]);
  run.calls.length = 0;
  await run.ring(await run.ports.putMail("k", "in", "u2"));
  expect(run.calls).toEqual(["commit", "publish", "commit", "publish"]);
});

test("a run that is still under way when its turn is over is aborted, one that has ended is not", async () => {
  const started: string[] = [];
  const aborted: string[] = [];
  const hangs = new Promise<never>(() => undefined);
  const run = new ActorRun(actor, {
    start: ({ mail }, { epoch }) => {
      started.push(mail);
      const outcome = mail === "h1" ? hangs : Promise.resolve({ mail, epoch });
      return { outcome, abort: () => aborted.push(mail) };
    },
  });
  run.host.ring(await run.ports.ring(await run.ports.putMail("k", "in", "h1")));
  await run.ports.until(async () => started.includes("h1"));
  await run.ring(await run.ports.putMail("k", "in", "c2"));
  await run.ring(await run.ports.putMail("k", "in", "u3"));
  expect({ started, aborted }).toEqual({ started: ["h1", "u3"], aborted: ["h1"] });
});

test("mail of a newer schema is left to newer services, with all that comes after it, and reported once", async () => {
  const decodeMail: typeof actor.decodeMail = (item) =>
    item.text === "new" ? { kind: "newer", version: 7 } : actor.decodeMail(item);
  const run = new ActorRun({ ...actor, decodeMail }, answering);
  const before = await run.ports.putMail("k", "in", "u1");
  const newer = await run.ports.putMail("k", "in", "new");
  const behind = await run.ports.putMail("k", "in", "u3");
  expect(await run.ring(before)).toEqual(["ack"]);
  expect(await run.ring(behind)).toEqual(["nak 5000"]);
  expect(await run.ports.mail.waiting(newer)).toBe(true);
  expect(run.ports.broker.published.filter((x) => x.subject === "final").map((x) => x.body["mail"])).toEqual(["u1"]);
  expect(run.events.filter((event) => event.kind === "newer")).toEqual([
    { kind: "newer", key: "k", what: "mail", version: 7 },
  ]);
});

test("an answer of a newer schema is left to newer services", async () => {
  const run = new ActorRun({ ...actor, decodeMail: () => ({ kind: "newer", version: 3 }) }, answering);
  expect(await run.ring(await run.ports.putMail("k", "work", "result"))).toEqual(["nak 5000"]);
  expect(run.events).toContainEqual({ kind: "newer", key: "k", what: "mail", version: 3 });
});

test("state of a newer schema is left alone", async () => {
  const run = new ActorRun(actor, answering);
  await run.ring(await run.ports.putMail("k", "in", "u1"));
  const stored = run.ports.broker.read("k");
  if (stored === null) throw new Error("nothing was stored");
  const raised = stored.text.replace('"schema":1', '"schema":2');
  run.ports.broker.write("k", raised, stored.revision);
  // The kept entry is found out to be old by the commit, and the leader's to be newer.
  expect(await run.ring(await run.ports.putMail("k", "in", "u2"))).toEqual(["nak 5000"]);
  expect(run.ports.broker.read("k")?.text).toBe(raised);
  expect(run.events).toContainEqual({ kind: "newer", key: "k", what: "state", version: 2 });
});

test.each([
  ["no JSON", "{"],
  ["JSON of something else", '{"schema":1,"fields":7}'],
])("mail waits while its state is %s, and is handled when that is repaired", async (_what, damaged) => {
  const strict = {
    ...actor,
    decodeFields: (fields: unknown, schema: number) => actor.decodeFields(objectIn(fields), schema),
  };
  const run = new ActorRun(strict, answering);
  await run.ring(await run.ports.putMail("k", "in", "u1"));
  const stored = run.ports.broker.read("k");
  if (stored === null) throw new Error("nothing was stored");
  run.ports.broker.write("k", damaged, stored.revision);
  const waiting = await run.ports.putMail("k", "in", "u2");
  expect(await run.ring(waiting)).toEqual(["nak 5000"]);
  expect(run.events).toContainEqual(expect.objectContaining({ kind: "unreadable", key: "k" }));
  const read = run.ports.broker.read("k");
  expect(read?.text).toBe(damaged);
  run.ports.broker.write("k", stored.text, read?.revision ?? 0);
  expect(await run.ring(waiting)).toEqual(["ack"]);
  expect(run.ports.broker.published.filter((x) => x.subject === "final").map((x) => x.body["mail"])).toEqual([
    "u1",
    "u2",
  ]);
});

test("mail that comes from an origin it is not accepted from becomes one dead letter", async () => {
  const run = new ActorRun(actor, answering);
  expect(await run.ring(await run.ports.putMail("k", "work", "u1"))).toEqual(["ack"]);
  expect(run.ports.broker.published.map((x) => [x.subject, x.body["reason"]])).toEqual([
    ["dead", 'not accepted from "work"'],
  ]);
});

test("a takeover is reported with its epoch and the number of its runs", async () => {
  const hanging = { start: () => ({ outcome: new Promise<never>(() => undefined), abort: () => undefined }) };
  const first = new ActorRun(actor, hanging);
  const seq = await first.ports.putMail("k", "in", "u1");
  first.host.ring(await first.ports.ring(seq));
  await first.ports.until(async () => first.ports.broker.read("k") !== null);
  const entry = JSON.parse(first.ports.broker.read("k")?.text ?? "") as { lease: object };
  const second = new ActorRun(actor, answering);
  second.ports.broker.write("k", JSON.stringify({ ...entry, lease: { owner: "gone-1", until: 0 } }), 0);
  await second.ring(await second.ports.putMail("k", "in", "d2"));
  expect(second.events).toContainEqual({ kind: "takeover", key: "k", epoch: 2, runs: 1 });
});

test("K11: once an attempt is recorded it is made before other mail can end the process", async () => {
  const logAtDeath: string[][] = [];
  const killing = simActor(() => logAtDeath.push([...fieldsIn(run.ports.broker.read("k")).log]));
  const ringsMeanwhile =
    (write: Write): Write =>
    async (...args) => {
      const outcome = await write(...args);
      if (outcome.kind === "stored" && outcome.revision === 1) run.host.ring(await run.ports.ring(killer));
      return outcome;
    };
  const run = new ActorRun<SimFields, string, SimRun, SimOutcome>(killing, answering, ringsMeanwhile);
  const killer = await run.ports.putMail("k", "in", "z1");
  const suspect = await run.ports.ring(await run.ports.putMail("k", "ops", "u2"));
  run.host.ring({ ...suspect, redelivered: true });
  await run.until(() => run.host.size === 0);
  expect(logAtDeath).toEqual([expect.arrayContaining(["mail u2"])]);
});

test("K12: a state kept in memory is not sealed when another process has erased it meanwhile", async () => {
  const run = new ActorRun(actor, answering);
  const { broker } = run.ports;
  for (let n = 1; broker.segments.size === 0; n++) await run.ring(await run.ports.putMail("k", "in", `u${n}`));
  // As long as it can get before the next commit seals it.
  while (actor.seal(fieldsIn(broker.read("k"))) === undefined) {
    await run.ring(await run.ports.putMail("k", "in", `v${run.ports.now()}`));
  }
  const stored = broker.read("k");
  const erased = { ...(JSON.parse(stored?.text ?? "") as object), fields: actor.initial(0) };
  broker.write("k", JSON.stringify(erased), stored?.revision ?? 0);
  broker.segments.clear();
  expect(await run.ring(await run.ports.putMail("k", "in", "after"))).toEqual(["ack"]);
  expect([...broker.segments.keys()]).toEqual([]);
  expect(fieldsIn(broker.read("k")).log.join()).toContain("after");
});

test("K12: an input that makes the state too large ends as poison; what came with it goes on", async () => {
  const large: typeof actor.receive = (fields, input, now) => {
    const decision = actor.receive(fields, input, now);
    if (input.kind !== "mail" || input.mail !== "u2") return decision;
    return { ...decision, fields: { ...decision.fields, log: [...decision.fields.log, "x".repeat(10_000)] } };
  };
  const run = new ActorRun({ ...actor, receive: large }, answering, atMost(5_000));
  const seqs = await Promise.all(["u1", "u2", "u3"].map((text) => run.ports.putMail("k", "in", text)));
  for (const seq of seqs) expect(await run.ring(seq)).toEqual(["ack"]);
  const finals = run.ports.broker.published
    .filter((x) => x.subject === "final")
    .map((x) => [x.body["mail"], x.body["how"]]);
  expect(finals).toEqual([
    ["u1", "answer"],
    ["u2", "error"],
    ["u3", "answer"],
  ]);
});

/** An actor that can say nothing short about `u2` on its own. */
const verbose: typeof actor = {
  ...actor,
  receive: (fields, input, now) => swollen(input, actor.receive(fields, input, now)),
  onPoison: (fields, input, reason, now) => swollen(input, actor.onPoison(fields, input, reason, now)),
};

function swollen(
  input: Parameters<typeof actor.receive>[1],
  decision: ReturnType<typeof actor.receive>,
): ReturnType<typeof actor.receive> {
  if (input.kind !== "mail" || input.mail !== "u2") return decision;
  return { ...decision, publish: [{ subject: "dead", body: { text: "x".repeat(10_000) } }] };
}

const discarded = "discarded in:2: the state would be larger than the server takes";

test("K12: what is too large even as poison is discarded loudly, and the conversation goes on", async () => {
  const run = new ActorRun(verbose, answering, atMost(5_000));
  for (const text of ["u1", "u2", "u3"])
    expect(await run.ring(await run.ports.putMail("k", "in", text))).toEqual(["ack"]);
  expect(finalsOf(run)).toEqual(["u1 answer", "u3 answer"]);
  expect(run.events.filter((x) => x.kind === "trouble").map((x) => x.what)).toEqual([discarded]);
});

test("K12: the actor's last word goes out with what is discarded", async () => {
  const lastWord: typeof actor.lastWord = (fields, input) => ({
    fields,
    publish: input.kind === "mail" ? [{ subject: "final", body: { mail: input.mail, how: "too large" } }] : [],
  });
  const run = new ActorRun({ ...verbose, lastWord }, answering, atMost(5_000));
  for (const text of ["u1", "u2", "u3"])
    expect(await run.ring(await run.ports.putMail("k", "in", text))).toEqual(["ack"]);
  expect(finalsOf(run)).toEqual(["u1 answer", "u2 too large", "u3 answer"]);
  expect(run.events.filter((x) => x.kind === "trouble").map((x) => x.what)).toEqual([discarded]);
});

test("K12: a last word that is too large or throws does not stop the conversation", async () => {
  const words: (typeof actor.lastWord)[] = [
    (fields) => ({ fields, publish: [{ subject: "final", body: { text: "x".repeat(10_000) } }] }),
    () => {
      throw new Error("no words");
    },
  ];
  for (const lastWord of words) {
    const run = new ActorRun({ ...verbose, lastWord }, answering, atMost(5_000));
    for (const text of ["u1", "u2", "u3"])
      expect(await run.ring(await run.ports.putMail("k", "in", text))).toEqual(["ack"]);
    expect(finalsOf(run)).toEqual(["u1 answer", "u3 answer"]);
  }
});

function finalsOf({ ports }: { readonly ports: ActorRun<unknown, unknown, unknown, unknown>["ports"] }): string[] {
  const finals = ports.broker.published.filter((x) => x.subject === "final");
  return finals.map((x) => `${String(x.body["mail"])} ${String(x.body["how"])}`);
}

test.each([
  ["under its lease", "h1", "notice"],
  ["after the commit that ended its lease", "u1", "final"],
])("K5: what a process has left to publish %s is not published once it has stood still", async (_when, mail, last) => {
  const receive: typeof actor.receive = (fields, input, now) => {
    const decision = actor.receive(fields, input, now);
    return { ...decision, publish: (decision.publish ?? []).flatMap((one) => [one, { ...one, subject: "late" }]) };
  };
  const hanging = { start: () => ({ outcome: new Promise<never>(() => undefined), abort: () => undefined }) };
  const run = new ActorRun({ ...actor, receive }, mail === "h1" ? hanging : answering);
  const { broker } = run.ports;
  const publish = broker.publish.bind(broker);
  let isFirst = true;
  vi.spyOn(broker, "publish").mockImplementation((effect) => {
    if (effect.subject !== last || !isFirst) return publish(effect);
    isFirst = false;
    standStill(run, HOST_DEFAULTS.leaseMs);
    return publish(effect);
  });
  expect(await run.ring(await run.ports.putMail("k", "in", mail))).toEqual(["nak 0"]);
  expect(broker.published.at(-1)?.subject).toBe(last);
  expect(run.events.filter(({ kind }) => kind === "trouble")).toEqual([]);
  // Whoever takes the bell next goes on.
  const [bell] = broker.waitingMail();
  if (mail === "u1") expect(await run.ring(bell?.seq ?? 0)).toEqual(["ack"]);
  if (mail === "u1") expect(broker.published.map(({ subject }) => subject).slice(-2)).toEqual([last, "late"]);
});

function standStill({ ports }: { readonly ports: { now(): number } }, ms: number): void {
  const now = ports.now.bind(ports);
  vi.spyOn(ports, "now").mockImplementation(() => now() + ms);
}

test("K12: a large text of a state kept in memory is not stored when another process has erased it meanwhile", async () => {
  const offload: typeof actor.offload = ({ fields, outstanding }) => {
    const text = fields.log.join();
    return { fields, outstanding, blobs: [{ name: `blob of ${text}`, text }] };
  };
  const run = new ActorRun({ ...actor, offload }, answering);
  const { broker } = run.ports;
  await run.ring(await run.ports.putMail("k", "in", "u1"));
  const stored = broker.read("k");
  const erased = { ...(JSON.parse(stored?.text ?? "") as object), fields: actor.initial(0) };
  broker.write("k", JSON.stringify(erased), stored?.revision ?? 0);
  broker.blobs.clear();
  expect(await run.ring(await run.ports.putMail("k", "in", "after"))).toEqual(["ack"]);
  expect([...broker.blobs.values()].filter((text) => text.includes("u1"))).toEqual([]);
  expect([...broker.blobs.values()].join()).toContain("after");
});
