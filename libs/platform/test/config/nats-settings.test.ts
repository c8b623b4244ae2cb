import { expect, it } from "vitest";
import { Config } from "../../src/index.js";
import { Scene } from "./scene.js";

const Picked = Config.pick({ nats: true });

it("takes the local server's file when no address is set", () => {
  const scene = new Scene();
  scene.file("nats.json", { url: "nats://127.0.0.1:5555", user: "u", pass: "p" });
  expect(scene.load(Picked).nats).toEqual({ url: "nats://127.0.0.1:5555", user: "u", pass: "p" });
  expect(scene.set({ NATS_URL: "nats://other" }).load(Picked).nats).toEqual({
    url: "nats://other",
  });
});

it.each([
  ["h", { url: "nats://h" }],
  ["h:4222", { url: "nats://h:4222" }],
  ["tls://h:1, nats://[::1]:2", { url: "tls://h:1,nats://[::1]:2" }],
  ["nats://joe:p%40ss@h:1", { url: "nats://h:1", user: "joe", pass: "p@ss" }],
  ["nats://t0ken@h:1,nats://i:2", { url: "nats://h:1,nats://i:2", token: "t0ken" }],
])("reads NATS_URL=%s and keeps logins out of the address", (url, expected) => {
  expect(new Scene().set({ NATS_URL: url }).load(Picked).nats).toEqual(expected);
});

it.each(["http://h", "nats://", "h h", "nats://a,,b", "nats://%zz:x@h"])("refuses NATS_URL=%s", (url) => {
  expect(new Scene().set({ NATS_URL: url }).problems(Picked)).toEqual([
    "NATS_URL: expected nats://host:port, or several of them separated by commas",
  ]);
});

it("refuses credentials that are doubled, unreadable or without an address", () => {
  const scene = new Scene().set({ NATS_CREDS: "/nowhere" });
  expect(scene.problems(Picked)).toEqual(["NATS_CREDS: is set without NATS_URL; expected both"]);
  scene.set({ NATS_URL: "nats://h" });
  expect(scene.problems(Picked)).toEqual(["NATS_CREDS: cannot read the file /nowhere"]);
  scene.set({ NATS_URL: "nats://u:p@h" });
  expect(scene.problems(Picked)).toEqual(["NATS_CREDS: NATS_URL names a user too; expected only one of them"]);
});

it("says what to do about a local file that is damaged", () => {
  const scene = new Scene();
  const path = scene.file("nats.json", '{"url":');
  const problem = `${path}: expected {"url","user","pass"}; remove it and run npm start`;
  expect(scene.problems(Picked)).toEqual([problem]);
  scene.file("nats.json", { url: 4222 });
  expect(scene.problems(Picked)).toEqual([problem]);
  expect(scene.problems(Config.pick({ http: true }))).toEqual([]);
});
