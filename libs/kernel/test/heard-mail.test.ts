import { expect, test } from "vitest";
import { HeardMail } from "../src/heard-mail.js";
import type { MailItem } from "../src/index.js";

const item = (seq: number, origin: MailItem["origin"] = "in"): MailItem => ({ seq, origin, at: 0, text: "" });
const gap = (after: number, upTo: number, inHand: readonly number[] = [upTo]) =>
  ({ key: "k", origin: "in", after, upTo, isInHand: (seq: number) => inHand.includes(seq) }) as const;

function heard(...bells: readonly [key: string, item: MailItem][]): HeardMail {
  const all = new HeardMail();
  // The first question names the log that all further bells belong to.
  all.isAll("log", gap(0, 1));
  for (const [key, mail] of bells) all.note(key, mail);
  return all;
}

test("K2: between a cursor and a bell, mail of others and of other origins needs no read", () => {
  const all = heard(["other", item(5)], ["k", item(6, "ops")], ["k", item(7)]);
  expect(all.isAll("log", gap(4, 7))).toBe(true);
  expect(all.isAll("log", gap(6, 7))).toBe(true);
});

test("K2: mail that rang elsewhere, or was given back, makes a read necessary", () => {
  const all = heard(["other", item(5)], ["k", item(6)], ["k", item(8)]);
  expect(all.isAll("log", gap(4, 6))).toBe(true);
  expect(all.isAll("log", gap(4, 8, [6, 8]))).toBe(false);
  expect(all.isAll("log", gap(3, 6))).toBe(false);
  expect(heard(["k", item(6)], ["k", item(7)]).isAll("log", gap(5, 7, [7]))).toBe(false);
});

test("K1: what was heard of one log says nothing about the one that replaced it", () => {
  const all = heard(["k", item(6)]);
  expect(all.isAll("log", gap(5, 6))).toBe(true);
  expect(all.isAll("another", gap(5, 6))).toBe(false);
  expect(all.isAll("log", gap(5, 6))).toBe(false);
});

test("what is remembered has an end: the oldest places are forgotten", () => {
  const all = heard();
  for (let seq = 1; seq <= 5_000; seq++) all.note("other", item(seq));
  all.note("k", item(5_001));
  expect(all.isAll("log", gap(4_000, 5_001))).toBe(true);
  expect(all.isAll("log", gap(900, 901))).toBe(false);
});
