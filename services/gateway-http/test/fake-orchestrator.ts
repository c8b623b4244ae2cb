import {
  encode,
  type Final,
  LiveEvent,
  OutboxMessage,
  outboxSubject,
  replyIdOf,
  SCHEMA_VERSION,
  SESSION_SCHEMA,
  SessionMail,
  decode,
  type SessionKey,
  type UserMessage,
} from "@troupe/contracts";
import { type Bus, livePublisher, publishPort, ringBells, statePort } from "@troupe/jetstream";
import type { Bell } from "@troupe/kernel";
import { type FakeSession, newFields } from "./fake-session.js";

/** What a test lets a turn do: it calls these in any order and returns the answer. */
export interface FakeTurn {
  readonly mail: UserMessage;
  readonly signal: AbortSignal;
  delta(seq: number, text: string, more?: { attempt?: number; epoch?: number; step?: number }): void;
  reset(attempt: number): void;
  /** `count`: the attempt, and how many deltas of it there were. */
  tool(name: string, count?: { readonly attempt: number; readonly seq: number }): void;
  notice(text: string): Promise<void>;
}

export type FakeAnswer = string | Partial<Pick<Final, "kind" | "text" | "introduction" | "error" | "mergedInto">>;
export type FakeScript = (turn: FakeTurn) => FakeAnswer | Promise<FakeAnswer>;

export interface FakeOrchestrator {
  /** How often a turn was begun: what a duplicate must not raise. */
  readonly turns: string[];
  readonly mails: SessionMail[];
  script: FakeScript;
  /** Whether user mail is taken up; while not, its bells just lie there. */
  paused: boolean;
  /** How many mails of a kind lie there. */
  held(kind: SessionMail["kind"]): number;
  stop(): Promise<void>;
}

/** Plays an orchestrator on a real server: reads bells, writes state, publishes to the outbox. One process only. */
export async function startFakeOrchestrator(bus: Bus): Promise<FakeOrchestrator> {
  const state = statePort(bus);
  const outbox = publishPort(bus);
  const live = livePublisher(bus);
  const sessions = new Map<string, FakeSession>();
  const paused: Bell[] = [];

  const sessionOf = (key: string): FakeSession => {
    const known = sessions.get(key);
    if (known !== undefined) return known;
    const made = { fields: newFields(), revision: 0, running: null, lane: Promise.resolve() };
    sessions.set(key, made);
    return made;
  };

  const store = async (key: string, session: FakeSession): Promise<void> => {
    session.fields.updatedAt = Date.now();
    session.fields.messageCount = session.fields.log.from + session.fields.log.tail.length;
    const entry = {
      schema: SESSION_SCHEMA,
      cursors: { user: 0, control: 0, ops: 0, cut: 0 },
      lease: session.running === null ? null : { owner: "fake-1", until: Date.now() + 10_000 },
      epoch: 1,
      outstanding: [],
      fields: session.fields,
    };
    const written = await state.write(key, JSON.stringify(entry), session.revision);
    if (written.kind !== "stored") throw new Error(`the fake's write to ${key} was refused`);
    session.revision = written.revision;
  };

  const publish = async (key: SessionKey, id: string, message: OutboxMessage): Promise<void> => {
    const body = JSON.parse(encode(OutboxMessage, message));
    await outbox.publish({ kind: "publish", id, bell: null, subject: outboxSubject(key), body });
  };

  const say = (key: SessionKey, event: Omit<LiveEvent, "v" | "id">): void => {
    const body = { v: SCHEMA_VERSION, id: `l_${Math.random()}`, ...event };
    live.publish(key, encode(LiveEvent, body as LiveEvent));
  };

  /** Ends a turn in the state that is about to be stored; the result publishes its final, which comes after. */
  const close = (key: SessionKey, turn: string, answer: FakeAnswer): (() => Promise<void>) => {
    const session = sessionOf(key);
    const { fields } = session;
    const given = typeof answer === "string" ? { text: answer } : answer;
    const kind = given.kind ?? (given.error ? "error" : "answer");
    const text = given.text ?? "";
    const logged = kind === "answer";
    if (logged) fields.log.tail.push({ role: "assistant", turn, at: Date.now(), content: text });
    const final = {
      kind,
      introduction: given.introduction ?? null,
      index: Math.max(0, fields.log.from + fields.log.tail.length - 1),
      error: given.error ?? null,
      mergedInto: given.mergedInto ?? null,
    };
    const at = Date.now();
    const recent = fields.recent.find((one) => one.turn === turn);
    if (recent !== undefined) {
      recent.final = { ...final, at, text: logged ? null : text, generation: fields.generation };
    }
    if (fields.turn?.id === turn) {
      fields.turn = null;
      session.running = null;
    }
    const { generation } = fields;
    return () =>
      publish(key, `${key}:${turn}:${session.revision}:final`, {
        v: SCHEMA_VERSION,
        id: replyIdOf(turn),
        kind: "final",
        session: key,
        generation,
        final: { ...final, turn, text, at: new Date(at).toISOString() },
      });
  };

  const finish = async (key: SessionKey, turn: string, answer: FakeAnswer): Promise<void> => {
    const publishFinal = close(key, turn, answer);
    await store(key, sessionOf(key));
    await publishFinal();
  };

  const run = async (key: SessionKey, mail: UserMessage): Promise<void> => {
    const session = sessionOf(key);
    const { fields } = session;
    const at = Date.now();
    const abort = new AbortController();
    session.running = { turn: mail.turn, abort };
    fields.turn = {
      id: mail.turn,
      status: "running",
      since: at,
      deadlineAt: at + 60_000,
      steps: 1,
      tokens: 0,
      attempt: 1,
      resumes: 0,
      emptyAnswers: 0,
      introduce: false,
    };
    fields.log.tail.push({ role: "user", turn: mail.turn, at, content: mail.text });
    await store(key, session);
    fake.turns.push(mail.turn);
    let notices = 0;
    const answering = Promise.resolve(
      fake.script({
        mail,
        signal: abort.signal,
        delta: (seq, text, { attempt = 1, epoch = 1, step = 1 } = {}) =>
          say(key, { kind: "delta", epoch, data: { turn: mail.turn, attempt, step, seq, text } }),
        reset: (attempt) =>
          say(key, { kind: "reset", epoch: 1, data: { turn: mail.turn, attempt, reason: "recovered" } }),
        tool: (name, count) =>
          say(key, {
            kind: "tool",
            epoch: 1,
            data: { turn: mail.turn, callId: "c1", name, status: "started", summary: "", ...count },
          }),
        notice: (text) => {
          const id = `${mail.turn}:n${notices++}`;
          const notice = { turn: mail.turn, level: "info" as const, text };
          return publish(key, id, {
            v: SCHEMA_VERSION,
            id,
            kind: "notice",
            session: key,
            generation: fields.generation,
            notice,
          });
        },
      }),
    );
    void answering.then((answer) =>
      inLane(key, async () => {
        if (abort.signal.aborted) return;
        await finish(key, mail.turn, answer);
        const next = fields.queued.shift();
        const message = next && fake.mails.find((one) => one.kind === "user" && one.turn === next.turn);
        if (message?.kind === "user") await run(key, message);
      }),
    );
  };

  const onMail = async (key: SessionKey, mail: SessionMail, cut: boolean): Promise<void> => {
    fake.mails.push(mail);
    const session = sessionOf(key);
    const { fields } = session;
    if (mail.kind === "user") {
      if (fields.recent.some((one) => one.messageId === mail.messageId)) return;
      const { messageId, digest, turn, text } = mail;
      fields.recent.push({ messageId, digest, turn, final: null });
      if (cut) return finish(key, turn, { kind: "cancelled", text: "cancelled" });
      fields.erased = false;
      if (fields.turn === null) return run(key, mail);
      fields.queued.push({ turn, messageId, digest, text, introduce: false, at: Date.now() });
      return store(key, session);
    }
    const ended = fields.turn?.id ?? null;
    const { generation } = fields;
    session.running?.abort.abort();
    const publishFinal = ended === null ? null : close(key, ended, { kind: "cancelled", text: "cancelled" });
    if (mail.kind !== "cancel") {
      session.fields = { ...newFields(), generation: generation + 1, erased: mail.kind === "erase" };
      session.fields.controls = fields.controls;
    }
    session.fields.controls.push({ id: mail.id, turn: ended, generation: session.fields.generation });
    await store(key, session);
    await publishFinal?.();
  };

  let stopped = false;
  const inLane = (key: string, step: () => Promise<void>): Promise<void> => {
    const session = sessionOf(key);
    const guarded = async (): Promise<void> => {
      try {
        if (!stopped) await step();
      } catch (error) {
        // What was under way when the test ended has no connection any more.
        if (!stopped) throw error;
      }
    };
    session.lane = session.lane.then(guarded, guarded);
    return session.lane;
  };

  const mailOf = (bell: Bell): SessionMail => {
    const decoded = decode(SessionMail, bell.item.text);
    if (decoded.kind !== "ok") throw new Error(`mail that no orchestrator can read: ${bell.item.text}`);
    return decoded.message;
  };

  const take = (bell: Bell, cut = false): void => {
    const key = bell.key as SessionKey;
    void inLane(key, () => onMail(key, mailOf(bell), cut)).then(() => bell.ack());
  };

  /** Control mail first, as an orchestrator reads it: it ends the messages before it. */
  const takeAll = (bells: readonly Bell[]): void => {
    const isUser = (bell: Bell): boolean => mailOf(bell).kind === "user";
    const controls = bells.filter((bell) => !isUser(bell));
    for (const bell of controls) take(bell);
    for (const bell of bells.filter(isUser)) {
      take(
        bell,
        controls.some(({ key, item }) => key === bell.key && item.seq > bell.item.seq),
      );
    }
  };

  let isPaused = false;
  const fake = {
    turns: [] as string[],
    mails: [] as SessionMail[],
    script: (({ mail }) => `you said: ${mail.text}`) as FakeScript,
    get paused() {
      return isPaused;
    },
    set paused(value: boolean) {
      isPaused = value;
      if (!value) takeAll(paused.splice(0));
    },
    held: (kind: SessionMail["kind"]) => paused.filter((bell) => mailOf(bell).kind === kind).length,
  };
  const bells = await ringBells(bus, {
    actor: "session",
    maxInFlight: 256,
    onBell: (bell) => (isPaused ? void paused.push(bell) : take(bell)),
    onTrouble: () => {},
  });
  return Object.assign(fake, {
    stop: () => {
      stopped = true;
      return bells.stop();
    },
  });
}
