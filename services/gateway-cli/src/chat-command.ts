/** What a typed line asks for. */
export type ChatCommand =
  | { readonly kind: "message"; readonly text: string }
  | { readonly kind: "help" | "reset" | "cancel" | "sessions" | "quit" }
  | { readonly kind: "session"; readonly id: string }
  | { readonly kind: "history"; readonly count: number }
  | { readonly kind: "wrong"; readonly hint: string };

export const DEFAULT_HISTORY = 10;

export const HELP = `/help            this list
/reset           forget this conversation and begin anew
/cancel          stop the turn that is running (like Ctrl-C)
/sessions        list conversations
/session <id>    go to another conversation
/history [n]     show the last n messages (${DEFAULT_HISTORY})
/quit            leave (like Ctrl-D)
A line that ends in \\ goes on in the next one; Ctrl-J breaks a line too. "//" at the start sends a single "/".`;

/** Reads a line: a command when it begins with one slash and a letter, else a message. */
export function parseChatCommand(line: string): ChatCommand {
  const text = line.trim();
  if (text.startsWith("//")) return { kind: "message", text: text.slice(1) };
  const found = /^\/([a-z]\S*)(?:[ \t]+(.*))?$/i.exec(text);
  // Indentation at the start belongs to what was pasted.
  if (found === null) return { kind: "message", text: line.trimEnd() };
  const name = (found[1] ?? "").toLowerCase();
  const argument = (found[2] ?? "").trim();
  switch (name) {
    case "help":
    case "reset":
    case "cancel":
    case "sessions":
    case "quit":
      return argument === "" ? { kind: name } : { kind: "wrong", hint: `/${name} takes nothing more` };
    case "exit":
      return { kind: "quit" };
    case "session":
      return argument === "" ? { kind: "wrong", hint: "which one? /session <id>" } : { kind: "session", id: argument };
    case "history": {
      if (argument === "") return { kind: "history", count: DEFAULT_HISTORY };
      if (!/^[1-9]\d{0,2}$/.test(argument)) return { kind: "wrong", hint: "/history takes a number from 1 to 999" };
      return { kind: "history", count: Number(argument) };
    }
    default:
      // A path such as /etc/hosts is what a person talks about, not a command.
      if (name.includes("/")) return { kind: "message", text };
      return { kind: "wrong", hint: `there is no /${name}: /help lists the commands, //${name} … sends it as text` };
  }
}
