// What is measured: a model that answers at once, and an installation of real processes that asks it.
import { fork } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { fileURLToPath } from "node:url";
import { startTroupe } from "@troupe/testkit";
import { exchange } from "./load.mjs";

export const BARE = "bare model call";
export const STREAMED = "streamed (`/v1/chat/completions`)";
export const WAITED = "waited (`messages?wait`)";

const TURNS_PER_SESSION = 20;

/** Starts both. `processes` are those whose memory and time count; `ways` ask for one turn each. */
export async function startSubject({ orchestrators, fsync }) {
  const model = fork(fileURLToPath(new URL("instant-model.mjs", import.meta.url)));
  const [{ url: modelUrl }] = await once(model, "message");
  const troupe = await startTroupe({
    orchestrators,
    env: { OPENAI_BASE_URL: modelUrl, OPENAI_API_KEY: "none" },
    nats: { fsync },
  });
  const numbered = (name, all) => all.map((service, n) => [all.length > 1 ? `${name} ${n + 1}` : name, service.pid]);
  return {
    processes: [
      ["NATS", troupe.nats.pid],
      ...numbered("gateway", troupe.gateways),
      ...numbered("orchestrator", troupe.orchestrators),
    ],
    ways: waysOf(troupe, modelUrl),
    natsVersion: await natsVersion(troupe.nats.port),
    stop: async () => {
      await troupe.stop();
      model.disconnect();
    },
  };
}

function waysOf({ url, token }, modelUrl) {
  const authorization = `Bearer ${token}`;
  const run = Math.random().toString(36).slice(2, 8);
  let loads = 0;
  /** Sessions of its own for each load, so that all of them begin at the same length. */
  const sessionOf = ({ number, turn }, load) =>
    `http:b-${run}-${load}-${number}-${Math.floor(turn / TURNS_PER_SESSION)}`;
  const newLoad = (ask) => () => {
    const load = ++loads;
    return (at) => ask(at, sessionOf(at, load));
  };
  return {
    [BARE]: newLoad(({ agent }) =>
      exchange(agent, `${modelUrl}/chat/completions`, {
        body: { model: "m", stream: true, messages: [{ role: "user", content: "How are you?" }] },
      }),
    ),
    [STREAMED]: newLoad(({ agent, turn }, session) =>
      exchange(agent, `${url}/v1/chat/completions`, {
        headers: { authorization, "x-troupe-session": session },
        body: { model: "troupe", stream: true, messages: [{ role: "user", content: `How are you, ${turn}?` }] },
      }),
    ),
    [WAITED]: newLoad(({ agent, turn }, session) =>
      exchange(agent, `${url}/v1/sessions/${encodeURIComponent(session)}/messages?wait=30`, {
        headers: { authorization },
        body: { text: `How are you, ${turn}?` },
      }),
    ),
  };
}

/** From the greeting of the server. */
async function natsVersion(port) {
  const socket = connect(port, "127.0.0.1");
  const [greeting] = await once(socket, "data");
  socket.destroy();
  return /"version":"([^"]+)"/.exec(String(greeting))?.[1] ?? "of unknown version";
}
