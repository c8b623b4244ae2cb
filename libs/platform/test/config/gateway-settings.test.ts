import { expect, it } from "vitest";
import { Config } from "../../src/index.js";
import { Scene } from "./scene.js";

const urlOf = (scene: Scene): string => scene.load(Config.pick({ gateway: true })).gateway.url;

it("is where a running installation says that it is, unless the environment names a place", () => {
  const scene = new Scene().yaml("http: {port: 7171}");
  expect(urlOf(scene)).toBe("http://127.0.0.1:7171");
  scene.file("gateway.json", { url: "http://127.0.0.1:8080" });
  expect(urlOf(scene)).toBe("http://127.0.0.1:8080");
  expect(urlOf(scene.set({ TROUPE_HTTP_PORT: "9090" }))).toBe("http://127.0.0.1:9090");
  expect(urlOf(scene.set({ TROUPE_HTTP_PORT: "", TROUPE_HTTP_HOST: "h" }))).toBe("http://h:7171");
});

it("with port 0 is where the gateway says", () => {
  const scene = new Scene().set({ TROUPE_HTTP_PORT: "0" });
  scene.file("gateway.json", { url: "http://127.0.0.1:8080" });
  expect(urlOf(scene)).toBe("http://127.0.0.1:8080");
});

it.each([
  ["0.0.0.0", "http://127.0.0.1:7070"],
  ["::", "http://[::1]:7070"],
  ["fe80::1", "http://[fe80::1]:7070"],
])("a gateway that listens on %s is reached at %s", (host, url) => {
  expect(urlOf(new Scene().set({ TROUPE_HTTP_HOST: host }))).toBe(url);
});

it.each(["[]", '{"url":', { url: "file:///etc" }])("a damaged file (%j) counts for nothing", (content) => {
  const scene = new Scene();
  scene.file("gateway.json", content);
  expect(urlOf(scene)).toBe("http://127.0.0.1:7070");
});
