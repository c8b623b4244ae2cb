import { createInterface } from "node:readline";
import type { ReadStream, WriteStream } from "node:tty";
import { ChatSession } from "./chat-session.js";
import type { GatewayClient } from "./gateway-client.js";
import { deferred } from "./deferred.js";
import { PlainView } from "./plain-view.js";
import { watchSignals } from "./signal-watch.js";
import { TerminalView } from "./terminal-view.js";

const LEAVE_WITHIN_MS = 3_000;
const SIGNAL_CODES: Readonly<Partial<Record<NodeJS.Signals, number>>> = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 };

export interface ChatOptions {
  readonly client: GatewayClient;
  readonly session: string;
  readonly historyCount: number;
}

export interface Stdio {
  readonly stdin: ReadStream;
  readonly stdout: WriteStream;
  readonly stderr: WriteStream;
}

/** The chat until the person leaves it; resolves to the exit code. */
export async function chat(options: ChatOptions, stdio: Stdio): Promise<number> {
  return stdio.stdin.isTTY && stdio.stdout.isTTY ? terminalChat(options, stdio) : plainChat(options, stdio);
}

async function terminalChat({ client, session, historyCount }: ChatOptions, stdio: Stdio): Promise<number> {
  const { promise: left, resolve: leave } = deferred<number>();
  let armedAt = Number.NEGATIVE_INFINITY;

  const interrupt = (): void => {
    const { busy, cancelAsked } = chatSession.conversation;
    if (busy && !cancelAsked) return chatSession.cancel();
    if (view.typed) return view.clearLine();
    if (performance.now() - armedAt < LEAVE_WITHIN_MS) return leave(0);
    armedAt = performance.now();
    view.note("Ctrl-C again, or Ctrl-D, leaves", "quiet");
  };
  const view: TerminalView = new TerminalView(
    { input: stdio.stdin, output: stdio.stdout },
    {
      submit: (line) => {
        armedAt = Number.NEGATIVE_INFINITY;
        chatSession.submit(line);
      },
      interrupt,
      leave: () => leave(0),
    },
  );
  // Keys are read only after this: see view.open() below.
  const chatSession: ChatSession = await ChatSession.open(session, {
    client,
    view,
    historyCount,
    leave: () => leave(0),
  });
  view.note(`conversation ${session} · /help lists the commands, Ctrl-D leaves`, "quiet");
  const unwatch = watchSignals(["SIGINT", "SIGTERM", "SIGHUP"], (signal) => leave(SIGNAL_CODES[signal] ?? 1));
  view.open();
  const code = await left;
  if (chatSession.conversation.busy) view.note("the turn goes on; its answer will be in the history", "quiet");
  chatSession.close();
  view.close();
  unwatch();
  return code;
}

/** Without a terminal every line is a message, and the end of the input waits for the answers. */
async function plainChat({ client, session }: ChatOptions, stdio: Stdio): Promise<number> {
  const { promise: left, resolve: leave } = deferred<number>();
  const view = new PlainView(stdio.stdout, stdio.stderr);
  const chatSession = await ChatSession.open(session, { client, view, historyCount: 0, leave: () => leave(0) });
  const unwatch = watchSignals(["SIGINT"], () => {
    if (chatSession.conversation.busy && !chatSession.conversation.cancelAsked) chatSession.cancel();
    else leave(130);
  });
  const lines = createInterface({ input: stdio.stdin, terminal: false });
  lines.on("line", (line) => {
    if (line.trim() !== "") chatSession.submit(line);
  });
  lines.once("close", () => void chatSession.idle().then(() => leave(chatSession.conversation.failed ? 1 : 0)));
  const code = await left;
  lines.close();
  stdio.stdin.destroy();
  chatSession.close();
  unwatch();
  return code;
}
