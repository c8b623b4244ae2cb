import { expect, test } from "vitest";
import { parseChatCommand } from "../src/chat-command.js";

test.each([
  ["/help", { kind: "help" }],
  ["/quit ", { kind: "quit" }],
  ["/session telegram:42", { kind: "session", id: "telegram:42" }],
  ["/history", { kind: "history", count: 10 }],
  ["/history 25", { kind: "history", count: 25 }],
])("%s is a command", (line, command) => {
  expect(parseChatCommand(line)).toEqual(command);
});

test.each(["/nope", "/history many", "/session", "/reset now"])("%s gets a hint and is not sent", (line) => {
  expect(parseChatCommand(line).kind).toBe("wrong");
});

test.each([
  ["//help is a command", "/help is a command"],
  ["/etc/hosts is a file", "/etc/hosts is a file"],
  ["/ alone", "/ alone"],
  ["  indented\n  code\n", "  indented\n  code"],
  ["/help\nand more lines", "/help\nand more lines"],
])("%j is a message", (line, text) => {
  expect(parseChatCommand(line)).toEqual({ kind: "message", text });
});
