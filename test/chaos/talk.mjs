// One session's part of the schedule, carried out.
import { setTimeout as delay } from "node:timers/promises";

/**
 * @param begun told of each step's kind
 * @param over told of each message that needs no more looking after
 * @param erased told when all that the session has said is to be gone
 * @param failed told of what could not be done within the client's patience
 */
export async function talk({ client, session, begun, over, erased, failed, isTimeUp }) {
  const { name } = session;
  const settled = async (messages, how) => {
    await Promise.all(messages.map(how));
    for (const _ of messages) over();
  };
  const toFinal = (message) => client.send(name, message, { final: true });
  const taken = (message) => client.send(name, message, { final: false });
  const ways = {
    ask: ({ of }) => settled(of, toFinal),
    chat: ({ of }) => settled(of, (message) => client.chat(name, message)),
    burst: async ({ of, atOnce }) => {
      if (!atOnce) for (const message of of) await taken(message);
      await settled(of, toFinal);
    },
    twins: ({ of, copies }) =>
      settled(of, (message) => Promise.all(Array.from({ length: copies }, () => toFinal(message)))),
    again: async ({ of }) => {
      for (const message of of) await client.again(name, message);
    },
    cancel: (step) => broken("cancel", step),
    reset: (step) => broken("reset", step),
    erase: async ({ of, afterMs }) => {
      for (const message of of) await taken(message);
      await delay(afterMs);
      if (!(await client.erase(name))) failed(session, "could not be erased");
      session.life += 1;
      await erased(session);
      for (const _ of of) over();
    },
    forget: ({ of }) => settled(of, taken),
  };
  const broken = async (kind, { of, afterMs }) => {
    for (const message of of) await taken(message);
    await delay(afterMs);
    if (!(await client.control(name, kind))) failed(session, `never got an answer to its ${kind}`);
    await settled(of, toFinal);
  };
  for (const step of session.steps) {
    if (isTimeUp()) return;
    begun(step.kind);
    await ways[step.kind](step);
  }
}
