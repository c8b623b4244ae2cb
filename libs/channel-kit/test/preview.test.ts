import { expect, test } from "vitest";
import { Preview } from "../src/events/preview.js";

const turn = "t_1";

function previewOf(...deltas: [attempt: number, seq: number, text: string, step?: number][]): Preview {
  const preview = new Preview();
  for (const [attempt, seq, text, step = 1] of deltas) preview.append({ turn, attempt, step, seq, text });
  return preview;
}

test("a doubled delta is shown once, and a lost one leaves a mark", () => {
  expect(previewOf([1, 0, "a"], [1, 1, "b"], [1, 1, "b"], [1, 0, "a"]).text).toBe("ab");
  expect(previewOf([1, 0, "a"], [1, 2, "c"]).text).toBe("a … c");
});

test("a reset throws the text away, and what still comes of the old attempt is ignored", () => {
  const preview = previewOf([1, 0, "old"]);
  preview.reset({ turn, attempt: 2 });
  preview.append({ turn, attempt: 1, step: 1, seq: 1, text: "late" });
  expect(preview.text).toBe("");
  preview.append({ turn, attempt: 2, step: 1, seq: 0, text: "new" });
  preview.reset({ turn, attempt: 1 });
  expect(preview.text).toBe("new");
});

test("a new attempt starts over even where its reset was lost", () => {
  expect(previewOf([1, 0, "old"], [2, 0, "new"]).text).toBe("new");
});

test("what the model says after a tool is a paragraph of its own", () => {
  expect(previewOf([1, 0, "let me see "], [1, 1, "it is 4", 2]).text).toBe("let me see\n\nit is 4");
});

test("who joins in the middle of an answer is shown no hole", () => {
  expect(previewOf([1, 7, "and so"], [1, 8, " on"]).text).toBe("and so on");
});
