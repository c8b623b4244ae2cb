import { encode, LiveEvent, OutboxMessage, type SessionKey } from "@troupe/contracts";
import type { OutboxEvent } from "@troupe/jetstream";
import { describe, expect, it } from "vitest";
import { PreviewDesk } from "../src/events/preview-desk.js";
import type { PreviewText } from "../src/index.js";
import { settled, VirtualClock } from "./virtual-clock.js";

const KEY = "webhook.a" as SessionKey;

/** A conversation that can be listened to, and a channel that shows what it is given. */
class Scene {
  readonly clock = new VirtualClock();
  readonly shown: string[] = [];
  /** What answers other processes, by turn; and another process of the channel. */
  readonly served = new Map<string, () => Promise<void>>();
  others: Scene | undefined;
  readonly #outbox = new Set<(event: OutboxEvent) => void>();
  readonly #live = new Set<(body: string) => void>();
  #seq = 0;
  preview: (preview: PreviewText) => Promise<void> = async ({ text }) => void this.shown.push(text);

  readonly desk = new PreviewDesk(
    {
      outbox: {
        listen: (_key, fn) => this.#add(this.#outbox, fn),
        replay: async () => [],
        whole: async (event) => event,
      },
      live: { subscribe: (_key, fn) => this.#add(this.#live, fn) },
      endings: {
        serve: (_key, turn, end) => {
          this.served.set(turn, end);
          return () => this.served.delete(turn);
        },
        ask: async (_key, turn) => this.others?.served.get(turn)?.(),
      },
    },
    { preview: (preview) => this.preview(preview) },
    this.clock,
  );

  /** How many subscriptions the desk holds. */
  get listening(): number {
    return this.#outbox.size + this.#live.size;
  }

  delta(turn: string, seq: number, text: string): void {
    const data = { turn, attempt: 1, step: 1, seq, text };
    const body = encode(LiveEvent, { v: 1, id: `l${seq}`, epoch: 1, kind: "delta", data });
    for (const hear of this.#live) hear(body);
  }

  final(turn: string): void {
    this.#seq += 1;
    const final = {
      turn,
      kind: "answer",
      text: "all of it",
      introduction: null,
      index: 1,
      at: "2026-01-02T03:04:05.678Z",
      error: null,
      mergedInto: null,
    } as const;
    const message = { v: 1, id: turn, kind: "final", session: "webhook:a", generation: 0, final } as const;
    for (const hear of this.#outbox) hear({ seq: this.#seq, key: KEY, text: encode(OutboxMessage, message) });
  }

  #add<T>(all: Set<T>, one: T): () => void {
    all.add(one);
    return () => all.delete(one);
  }
}

describe("previews", () => {
  it("show the answer as it comes, not more often than people read, and not twice the same", async () => {
    const scene = new Scene();
    scene.desk.expect(KEY, "t_1");
    scene.delta("t_1", 0, "one");
    await settled();
    scene.delta("t_1", 1, " two");
    scene.delta("t_1", 2, " three");
    await settled();
    expect(scene.shown).toEqual(["one"]);
    await scene.clock.advance(700);
    await scene.clock.advance(5_000);
    expect(scene.shown).toEqual(["one", "one two three"]);
  });

  it("show nothing of turns whose messages came in elsewhere", async () => {
    const scene = new Scene();
    scene.desk.expect(KEY, "t_1");
    scene.delta("t_2", 0, "somebody else's");
    await settled();
    expect(scene.shown).toEqual([]);
  });

  it("P2 end with the final, and hold nothing for the turn afterwards", async () => {
    const scene = new Scene();
    scene.desk.expect(KEY, "t_1");
    scene.delta("t_1", 0, "one");
    await settled();
    scene.final("t_1");
    scene.delta("t_1", 1, " two");
    await scene.clock.advance(5_000);
    expect(scene.shown).toEqual(["one"]);
    expect(scene.listening).toBe(0);
  });

  it("P2 let the reply wait for the one that is under way, and for no pause", async () => {
    const scene = new Scene();
    let taken = (): void => undefined;
    scene.preview = ({ text }) =>
      new Promise((resolve) => {
        taken = () => {
          scene.shown.push(text);
          resolve();
        };
      });
    scene.desk.expect(KEY, "t_1");
    scene.delta("t_1", 0, "one");
    await settled();
    const ended = scene.desk.end(KEY, "t_1").then(() => scene.shown.push("the reply"));
    await settled();
    expect(scene.shown).toEqual([]);
    taken();
    await ended;
    expect(scene.shown).toEqual(["one", "the reply"]);
  });

  it("P2 let the reply wait for one that is under way although the final has been heard before", async () => {
    const scene = new Scene();
    let taken = (): void => undefined;
    scene.preview = () =>
      new Promise((resolve) => {
        taken = resolve;
      });
    scene.desk.expect(KEY, "t_1");
    scene.delta("t_1", 0, "one");
    await settled();
    scene.final("t_1");
    let mayGo = false;
    void scene.desk.end(KEY, "t_1").then(() => {
      mayGo = true;
    });
    await settled();
    expect(mayGo).toBe(false);
    taken();
    await settled();
    expect(mayGo).toBe(true);
  });

  it("P2 let the reply wait for one that is under way although a later turn has been shown since", async () => {
    const scene = new Scene();
    const took: (() => void)[] = [];
    scene.preview = ({ turn }) => (turn === "t_2" ? Promise.resolve() : new Promise((resolve) => took.push(resolve)));
    scene.desk.expect(KEY, "t_1");
    scene.delta("t_1", 0, "slow");
    await settled();
    scene.final("t_1");
    scene.desk.expect(KEY, "t_2");
    scene.delta("t_2", 0, "quick");
    await settled();
    let isOver = false;
    const ending = scene.desk.endAnywhere(KEY, "t_1").then(() => {
      isOver = true;
    });
    await settled();
    expect(isOver).toBe(false);
    for (const resolve of took) resolve();
    await ending;
  });

  it("go on when the message is only repeated", async () => {
    const scene = new Scene();
    scene.desk.expect(KEY, "t_1");
    scene.desk.expect(KEY, "t_1")();
    scene.delta("t_1", 0, "one");
    await settled();
    expect(scene.shown).toEqual(["one"]);
  });

  it("are given up for a turn whose final is never heard", async () => {
    const scene = new Scene();
    scene.desk.expect(KEY, "t_1");
    await scene.clock.advance(2 * 3_600_000);
    const takeBack = scene.desk.expect("webhook.b" as SessionKey, "t_2");
    takeBack();
    await settled();
    expect(scene.listening).toBe(0);
  });

  it("P1 go on when the channel fails to show one", async () => {
    const scene = new Scene();
    scene.preview = () => Promise.reject(new Error("busy"));
    scene.desk.expect(KEY, "t_1");
    scene.delta("t_1", 0, "one");
    await settled();
    scene.preview = async ({ text }) => void scene.shown.push(text);
    scene.delta("t_1", 1, " two");
    await scene.clock.advance(700);
    expect(scene.shown).toEqual(["one two"]);
    await scene.desk.stop();
    expect(scene.listening).toBe(0);
  });

  it("P3 let a reply that another process sends wait for the one that is under way", async () => {
    const [taker, sender] = [new Scene(), new Scene()];
    sender.others = taker;
    let taken = (): void => undefined;
    taker.preview = () =>
      new Promise((resolve) => {
        taken = resolve;
      });
    taker.desk.expect(KEY, "t_1");
    taker.delta("t_1", 0, "one");
    await settled();
    // The taker has heard the final already, and the preview is under way all the same.
    taker.final("t_1");
    let mayGo = false;
    void sender.desk.endAnywhere(KEY, "t_1").then(() => {
      mayGo = true;
    });
    await settled();
    expect(mayGo).toBe(false);
    taken();
    await settled();
    expect([mayGo, taker.served.size]).toEqual([true, 0]);
  });

  it("P3 begin none any more once another process has asked", async () => {
    const [taker, sender] = [new Scene(), new Scene()];
    sender.others = taker;
    taker.desk.expect(KEY, "t_1");
    await sender.desk.endAnywhere(KEY, "t_1");
    taker.delta("t_1", 0, "one");
    await taker.clock.advance(5_000);
    expect([taker.shown, taker.listening]).toEqual([[], 0]);
  });

  it("P3 are over for a process that stood still for longer than others wait", async () => {
    const scene = new Scene();
    scene.desk.expect(KEY, "t_1");
    scene.clock.freeze(4_500);
    scene.delta("t_1", 0, "one");
    await scene.clock.advance(5_000);
    expect([scene.shown, scene.served.size]).toEqual([[], 0]);
  });
});
