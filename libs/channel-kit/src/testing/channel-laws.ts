import type { Channel, Intake, Reply, SendOutcome } from "../channel.js";

/**
 * What every channel must do, as laws that a channel's own tests run against the real outside, played at the wire.
 * A law throws a plain error when it is broken, so any test runner will do.
 */
export interface ChannelLaw {
  readonly title: string;
  /** Laws of channels whose `resend` is `harmless` only. */
  readonly forHarmless?: boolean;
  /** The world is fresh: nothing was said or shown in it. */
  run(world: ChannelWorld): Promise<void>;
}

/** What the outside does with what is sent to it, until told otherwise. */
export type OutsideMood =
  /** It works. */
  | "well"
  /** It cannot be reached at all. */
  | "away"
  /** It answers that it takes nothing now. */
  | "busy"
  /** It answers that it will never take this. */
  | "refusing"
  /** It shows what it is sent, and the connection breaks before it has said so. */
  | "mute";

/** One channel and its outside. */
export interface ChannelWorld {
  readonly channel: Channel;
  /** A name for a conversation as the outside gives them. */
  readonly conversation: string;
  mood(mood: OutsideMood): Promise<void>;
  /** The texts that people see in the conversation, oldest first. */
  shown(): Promise<readonly string[]>;
  /** Somebody says something. Resolves to whether the outside was told that it is taken; if not, it may say it again. */
  say(messageId: string, text: string): Promise<boolean>;
}

export const CHANNEL_LAWS: readonly ChannelLaw[] = [
  {
    title: "C1 what is delivered is shown, whole and once",
    run: async (world) => {
      const text = 'a line\nand *another* <b>one</b> & "more" 漢字 🎭';
      expectKind(await send(world, { text }), "delivered");
      expectShown(await world.shown(), [text]);
    },
  },
  {
    title: "C2 replies are shown in the order in which they were delivered",
    run: async (world) => {
      for (const text of ["one", "two", "three"]) expectKind(await send(world, { id: `r_${text}`, text }), "delivered");
      expectShown(await world.shown(), ["one", "two", "three"]);
    },
  },
  {
    title: "C3 an outside that cannot be reached was surely not sent to, and later it can be",
    run: async (world) => notSentThenDelivered(world, "away"),
  },
  {
    title: "C4 an outside that takes nothing now was surely not sent to, and later it can be",
    run: async (world) => notSentThenDelivered(world, "busy"),
  },
  {
    title: "C5 what the outside will never take is rejected, with a reason, and not shown",
    run: async (world) => {
      await world.mood("refusing");
      const outcome = await send(world, {});
      expectKind(outcome, "rejected");
      if (outcome.kind === "rejected" && outcome.reason === "") throw new Error("a rejection needs a reason");
      expectShown(await world.shown(), []);
    },
  },
  {
    title: "C6 a send whose answer is lost is never taken for one that was not sent",
    run: async (world) => {
      await world.mood("mute");
      const kind = await send(world, {}).then(
        (outcome) => outcome.kind,
        () => "unknown",
      );
      if (kind !== "unknown" && kind !== "delivered") throw new Error(`it was shown, and the outcome says ${kind}`);
      expectShown(await world.shown(), ["the answer"]);
    },
  },
  {
    title: "C7 a reply that is sent again under its id is shown once",
    forHarmless: true,
    run: async (world) => {
      await world.mood("mute");
      await send(world, {}).catch(() => undefined);
      await world.mood("well");
      expectKind(await send(world, { attempt: 2 }), "delivered");
      expectShown(await world.shown(), ["the answer"]);
    },
  },
  {
    title: "C8 a preview leaves nothing behind once the reply is shown",
    run: async (world) => {
      const { channel, conversation } = world;
      const where = { session: `${channel.name}:${conversation}`, conversation, turn: "t_1" };
      await channel.preview({ ...where, text: "the ans" }, new AbortController().signal);
      expectKind(await send(world, {}), "delivered");
      expectShown(await world.shown(), ["the answer"]);
    },
  },
  {
    title: "C9 what people say is handed on with the outside's id, and taken only when the intake has it",
    run: async (world) => {
      const heard: string[] = [];
      let full = true;
      const intake: Intake = {
        accept: async ({ conversation, messageId, text }) => {
          if (full) throw new Error("no room at the moment");
          heard.push(`${conversation}|${messageId}|${text}`);
          return { turn: "t_1", duplicate: false };
        },
        control: async () => undefined,
      };
      const stopping = new AbortController();
      const listening = world.channel.listen(intake, stopping.signal);
      try {
        if (await world.say("m1", "hello")) throw new Error("it was called taken before the intake had it");
        full = false;
        if (!(await world.say("m1", "hello"))) throw new Error("it was not called taken though the intake has it");
      } finally {
        stopping.abort();
        await listening;
      }
      expectShown(heard, [`${world.conversation}|m1|hello`]);
    },
  },
  {
    title: "C10 a preview that was given up before it began shows nothing: the reply may be there already",
    run: async (world) => {
      const { channel, conversation } = world;
      expectKind(await send(world, {}), "delivered");
      const where = { session: `${channel.name}:${conversation}`, conversation, turn: "t_1" };
      await channel.preview({ ...where, text: "the ans" }, AbortSignal.abort()).catch(() => undefined);
      expectShown(await world.shown(), ["the answer"]);
    },
  },
];

/** The laws that hold for a channel. */
export function lawsFor(channel: Pick<Channel, "resend">): readonly ChannelLaw[] {
  return CHANNEL_LAWS.filter((law) => law.forHarmless !== true || channel.resend === "harmless");
}

async function notSentThenDelivered(world: ChannelWorld, mood: OutsideMood): Promise<void> {
  await world.mood(mood);
  expectKind(await send(world, {}), "not-sent");
  expectShown(await world.shown(), []);
  await world.mood("well");
  expectKind(await send(world, { attempt: 2 }), "delivered");
  expectShown(await world.shown(), ["the answer"]);
}

function send({ channel, conversation }: ChannelWorld, change: Partial<Reply>): Promise<SendOutcome> {
  const reply: Reply = {
    id: "r_1",
    session: `${channel.name}:${conversation}`,
    conversation,
    turn: "t_1",
    kind: "answer",
    text: "the answer",
    attempt: 1,
    ...change,
  };
  return channel.send(reply, new AbortController().signal);
}

function expectKind({ kind }: SendOutcome, wanted: SendOutcome["kind"]): void {
  if (kind !== wanted) throw new Error(`the outcome is ${kind}; it should be ${wanted}`);
}

function expectShown(shown: readonly string[], wanted: readonly string[]): void {
  const [is, should] = [JSON.stringify(shown), JSON.stringify(wanted)];
  if (is !== should) throw new Error(`there is ${is}; there should be ${should}`);
}
