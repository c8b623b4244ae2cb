import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { type Rig, startRig } from "./model-fixture.js";

const casesSchema = z.array(
  z.object({
    name: z.string(),
    deltas: z.array(z.array(z.unknown())),
    calls: z.array(z.tuple([z.string(), z.record(z.string(), z.unknown())])).optional(),
    toolError: z.boolean().optional(),
  }),
);
const cases = casesSchema.parse(
  JSON.parse(readFileSync(new URL("./fixtures/tool-deltas.json", import.meta.url), "utf8")),
);

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig.server.close());

/** Each call as `id name arguments`. */
async function assemble(deltas: readonly (readonly unknown[])[]): Promise<readonly string[]> {
  rig.server.enqueue((_request, respond) => respond.deltas(deltas));
  const { outcome } = await rig.call();
  if (outcome.kind !== "answer") throw new Error(JSON.stringify(outcome));
  expect(outcome.finish).toBe("tool_calls");
  return outcome.calls.map((call) => `${call.id || "-"} ${call.name} ${call.arguments}`);
}

const call = (id: string | undefined, index: number | undefined, name?: string, args?: unknown) => ({
  ...(index === undefined ? {} : { index }),
  ...(id === undefined ? {} : { id }),
  function: {
    ...(name === undefined ? {} : { name }),
    ...(args === undefined ? {} : { arguments: args }),
  },
});

describe("tool calls over the wire", () => {
  test.each(cases)("$name", async ({ deltas, calls, toolError }) => {
    const assembled = await assemble(deltas);
    if (toolError === true) {
      // Whether the arguments or the tool are any good is decided later; here they stay as they came.
      const [first] = deltas.flat();
      const { function: sent } = z.object({ function: z.record(z.string(), z.string()) }).parse(first);
      expect(assembled).toEqual([`c1 ${sent["name"]} ${sent["arguments"]}`]);
      return;
    }
    const read = assembled.map((text) => {
      const [, name, ...rest] = text.split(" ");
      return [name, rest.join("") === "" ? {} : JSON.parse(rest.join(" "))];
    });
    expect(read).toEqual(calls);
  });

  test("A1: parallel calls whose deltas interleave", async () => {
    const assembled = await assemble([
      [call("a", 0, "echo", '{"text":'), call("b", 1, "now", "")],
      [call(undefined, 1, undefined, "{}")],
      [call(undefined, 0, undefined, '"x"}')],
    ]);
    expect(assembled).toEqual(['a echo {"text":"x"}', "b now {}"]);
  });

  test("A1: the id and the name repeated in each chunk", async () => {
    const assembled = await assemble([
      [call("a", 0, "echo", '{"te')],
      [call("a", 0, "echo", 'xt":')],
      [call("a", 0, "echo", '"x"}')],
      [call("a", 0, "echo", "")],
    ]);
    expect(assembled).toEqual(['a echo {"text":"x"}']);
  });

  test("A1: one id used at two indexes means two calls", async () => {
    const assembled = await assemble([[call("a", 0, "now", "{}")], [call("a", 1, "echo", "{}")]]);
    expect(assembled).toEqual(["a now {}", "a echo {}"]);
  });

  test("A2: the same index with a new id, each in parts", async () => {
    const assembled = await assemble([
      [call("a", 0, "echo", '{"text"')],
      [call(undefined, 0, undefined, ':"1"}')],
      [call("b", 0, "echo", '{"text"')],
      [call(undefined, 0, undefined, ':"2"}')],
    ]);
    expect(assembled).toEqual(['a echo {"text":"1"}', 'b echo {"text":"2"}']);
  });

  test("A2: an id that comes after the name", async () => {
    expect(await assemble([[call(undefined, 0, "echo")], [call("a", 0, undefined, "{}")]])).toEqual(["a echo {}"]);
  });

  test("A3: neither index nor id in the parts that follow", async () => {
    const assembled = await assemble([
      [call("a", undefined, "echo", '{"text"')],
      [call(undefined, undefined, undefined, ':"x"}')],
    ]);
    expect(assembled).toEqual(['a echo {"text":"x"}']);
  });

  test("A4: several whole calls, all at index 0 and without ids", async () => {
    const assembled = await assemble([
      [call("", 0, "echo", '{"text":"1"}')],
      [call("", 0, "echo", '{"text":"2"}')],
      [call("", 0, "now", "")],
    ]);
    expect(assembled).toEqual(['- echo {"text":"1"}', '- echo {"text":"2"}', "- now "]);
  });

  test("A4: a call that is sent again whole at the end", async () => {
    const whole = '{"text":"x"}';
    const assembled = await assemble([
      [call("a", 0, "echo", '{"text"')],
      [call("a", 0, undefined, ':"x"}')],
      [call("a", 0, "echo", whole)],
    ]);
    expect(assembled).toEqual([`a echo ${whole}`]);
  });

  test("A5: two calls in one delta, without index and id", async () => {
    const assembled = await assemble([[call(undefined, undefined, "now", ""), call(undefined, undefined, "now", "")]]);
    expect(assembled).toEqual(["- now ", "- now "]);
  });

  test.each([
    ["split", ["ec", "ho"]],
    ["repeated before the arguments", ["echo", "echo"]],
    ["growing", ["ec", "echo"]],
  ])("a name that comes %s", async (_how, names) => {
    const assembled = await assemble([...names.map((name) => [call("a", 0, name)]), [call("a", 0, undefined, "{}")]]);
    expect(assembled).toEqual(["a echo {}"]);
  });

  test("arguments sent as an object", async () => {
    expect(await assemble([[call("a", 0, "echo", { text: "x" })]])).toEqual(['a echo {"text":"x"}']);
  });

  test("nulls in the places of what is not there", async () => {
    const nulls = { index: 0, id: null, type: null, function: { name: null, arguments: '"x"}' } };
    expect(await assemble([[call("a", 0, "echo", '{"text":')], [nulls]])).toEqual(['a echo {"text":"x"}']);
  });
});
