import { describe, expect, it } from "vitest";
import { countEnds, deliveryFaults, excusedPreviews, overtaken } from "./delivery-laws.mjs";
import { Downtime } from "./downtime.mjs";
import { Journal } from "./journal.mjs";
import { Screen } from "./screen.mjs";
import { BAD } from "./verdict.mjs";

type Resend = "harmless" | "unsafe";
type Deed = "shown" | "again" | "refused" | "preview";

const [SENDER, OTHER] = [11, 12];
const idOf = (n: number, generation = 2) => `r_${n}_${generation}`;

/** What is known of a conversation with three replies, one of them refused, when nothing is wrong. */
function seenOf(resend: Resend) {
  const reply = (n: number) => ({ seq: n, turn: `t_${n}`, delivery: idOf(n), shows: `re ${n}` as string | null });
  const deed = (what: Deed, n: number, from = SENDER) => ({
    deed: what,
    id: what === "preview" ? undefined : idOf(n),
    turn: `t_${n}`,
    text: `re ${n}`,
    from,
    isStruck: false,
  });
  return {
    session: { name: "telegram:somebody", resend, bornAt: 2 },
    outbox: [1, 2, 3].map(reply),
    deliveries: new Map<string, { status: string; reason: string | null }>([
      [idOf(1), { status: "confirmed", reason: null }],
      [idOf(2), { status: "rejected", reason: "the person has left" }],
      [idOf(3), { status: "confirmed", reason: null }],
    ]),
    screen: [deed("preview", 1), deed("shown", 1), deed("refused", 2), deed("preview", 3), deed("shown", 3)],
    deed,
  };
}

type Seen = ReturnType<typeof seenOf>;

const figuresOf = (seen: Seen): string[] => deliveryFaults(seen).map(({ figure }: { figure: string }) => figure);
const end = ({ deliveries }: Seen, n: number, status: string) => deliveries.set(idOf(n), { status, reason: null });
const without = (seen: Seen, deed: Deed, n: number): void => {
  seen.screen = seen.screen.filter((one) => one.deed !== deed || one.turn !== `t_${n}`);
};

const FAULTS: [name: string, resend: Resend, figure: string, plant: (seen: Seen) => void][] = [
  ["is shown twice", "unsafe", "delivered twice", ({ screen, deed }) => screen.push(deed("shown", 3))],
  [
    "is shown under two ids",
    "harmless",
    "delivered twice",
    ({ screen, deed }) => screen.push({ ...deed("shown", 3), id: idOf(3, 4) }),
  ],
  ["is not in the ledger", "harmless", "not delivered", ({ deliveries }) => deliveries.delete(idOf(1))],
  ["is being sent for ever", "unsafe", "not delivered", (seen) => end(seen, 3, "sending")],
  ["waits for ever", "harmless", "not delivered", (seen) => end(seen, 3, "waiting")],
  ["is flagged though it could be sent again", "harmless", "not delivered", (seen) => end(seen, 3, "unsettled")],
  ["is confirmed and not shown", "unsafe", "not delivered", (seen) => without(seen, "shown", 3)],
  ["is confirmed and not shown", "harmless", "not delivered", (seen) => without(seen, "shown", 3)],
  ["is given up, and nobody refused it", "unsafe", "not delivered", (seen) => without(seen, "refused", 2)],
  ["is given up and shown", "harmless", "delivered wrongly", ({ screen, deed }) => screen.push(deed("shown", 2))],
  [
    "is shown with another text",
    "unsafe",
    "delivered wrongly",
    ({ screen, deed }) => screen.splice(1, 1, { ...deed("shown", 1), text: "re" }),
  ],
  ["is nobody's", "harmless", "delivered wrongly", ({ screen, deed }) => screen.push(deed("shown", 9))],
  [
    "has nothing to show and is shown",
    "unsafe",
    "delivered wrongly",
    ({ outbox }) => outbox.splice(2, 1, { seq: 3, turn: "t_3", delivery: idOf(3), shows: null }),
  ],
  ["is shown before an earlier one", "unsafe", "out of order", ({ screen }) => screen.reverse()],
  [
    "is followed by its own sender's preview",
    "harmless",
    "previews after the final",
    ({ screen, deed }) => screen.push({ ...deed("preview", 3), isStruck: true }),
  ],
  [
    "is followed by another process's preview, and none was struck",
    "harmless",
    "previews after the final",
    ({ screen, deed }) => screen.push(deed("preview", 3, OTHER)),
  ],
];

describe("the judge of a channel's replies", () => {
  it.each<Resend>(["harmless", "unsafe"])("finds nothing wrong where a second send is %s", (resend) => {
    expect(deliveryFaults(seenOf(resend))).toEqual([]);
  });

  it.each(FAULTS)("sees that a reply %s, where a second send is %s: %s", (_name, resend, figure, plant) => {
    const seen = seenOf(resend);
    plant(seen);
    expect(BAD).toContain(figure);
    expect(figuresOf(seen)).toContain(figure);
  });

  it("takes it that an unsafe reply is flagged, shown or not", () => {
    const seen = seenOf("unsafe");
    end(seen, 3, "unsettled");
    expect(figuresOf(seen)).toEqual([]);
    without(seen, "shown", 3);
    expect(figuresOf(seen)).toEqual([]);
    seen.screen.push(seen.deed("shown", 3), seen.deed("shown", 3));
    expect(figuresOf(seen)).toEqual(["delivered twice"]);
  });

  it("takes a second send that was not shown, and what was under way to an erased conversation", () => {
    const seen = seenOf("harmless");
    seen.screen.push(seen.deed("again", 3, OTHER), { ...seen.deed("shown", 1), id: idOf(1, 1) });
    expect(figuresOf(seen)).toEqual([]);
    expect(overtaken(seen.screen, seen.session.bornAt)).toEqual([idOf(1, 1)]);
  });

  it("counts a preview that comes after the final from another process that was struck", () => {
    const seen = seenOf("harmless");
    expect(excusedPreviews(seen.screen)).toEqual([]);
    seen.screen.push({ ...seen.deed("preview", 3, OTHER), isStruck: true });
    expect(figuresOf(seen)).toEqual([]);
    expect(excusedPreviews(seen.screen)).toEqual(["t_3"]);
  });

  it("counts how replies ended", () => {
    const counts = { "replies confirmed": 1 };
    countEnds(counts, seenOf("unsafe").deliveries);
    expect(counts).toEqual({ "replies confirmed": 3, "replies rejected": 1 });
  });
});

describe("the screen of a conversation", () => {
  const sent = { id: "r_1_0", turn: "t_1", text: "re 1", from: SENDER };

  it("shows what was sent, and not previews or refusals", () => {
    const screen = new Screen(new Journal(), new Downtime({ orchestrators: 2 }));
    for (const deed of ["preview", "refused"]) screen.take("a", deed, sent);
    expect(screen.has("a", "t_1")).toBe(false);
    screen.take("a", "shown", sent);
    expect(screen.has("a", "t_1")).toBe(true);
    expect(screen.of("b")).toEqual([]);
  });

  it("counts those of before an erasure only when it is asked for all", () => {
    const screen = new Screen(new Journal(), new Downtime({ orchestrators: 2 }));
    for (const id of ["r_1_0", "r_2_1"]) screen.take("a", "shown", { ...sent, id });
    expect([screen.countOf("a"), screen.countOf("a", 1), screen.countOf("b", 1)]).toEqual([2, 1, 0]);
  });

  it("knows how many were shown when what they were is forgotten", () => {
    const screen = new Screen(new Journal(), new Downtime({ orchestrators: 2 }));
    screen.take("a", "shown", sent);
    screen.forget("a");
    screen.take("a", "shown", sent);
    screen.take("a", "again", sent);
    expect(screen.countOf("a")).toBe(2);
    expect(screen.of("a")).toHaveLength(2);
  });
});
