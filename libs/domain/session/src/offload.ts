import {
  blobNameOf,
  blobPieceNames,
  blobPieces,
  type LogMessage,
  type NamedPiece,
  type QueuedMessage,
  type SessionFields,
  type SessionKey,
  type TextRest,
  type Turn,
  wholeCharacter,
} from "@troupe/contracts";
import { estimateTextTokens, isLongerInJson, jsonLength, MOST_JSON_BYTES } from "@troupe/history";
import type { Listed, Offloaded, Weight } from "@troupe/kernel";
import type { SessionRun } from "./session-run.js";

/**
 * Large texts (K12): when what a commit is about to write has grown large, its long texts move into blobs, whoever
 * wrote them: people, models or tools. Their beginnings stay, so that whatever counts or shows them goes on as before.
 *
 * O1 Pure: what a blob is called depends on its text alone, so a commit that is tried again names the same ones.
 * O2 A text that the log and a reply hold is one blob.
 * O3 Most commits are far from the limit: they are told by the lengths of their texts, and nothing is looked through.
 */
const LIGHT_BYTES = 128 * 1024;
/** A text that may stay however many there are. */
const SHORT_BYTES = 4 * 1024;
/** In UTF-16 units. */
const BEGINNING_LENGTH = 600;

type SessionWeight = Weight<SessionFields, SessionRun>;

export function offload(key: SessionKey, weight: SessionWeight): Offloaded<SessionFields, SessionRun> | undefined {
  if (!isHeavy(textsOf(weight))) return undefined;
  const { fields, outstanding } = weight;
  const blobs = new Blobs(key, fields.generation);
  const light = {
    fields: {
      ...fields,
      log: { ...fields.log, tail: fields.log.tail.map((message) => lightMessage(message, blobs)) },
      turn: fields.turn === null ? null : lightInstructions(fields.turn, blobs),
      queued: fields.queued.map((message) => lightWaiting(message, blobs)),
      steered: fields.steered.map((message) => lightWaiting(message, blobs)),
    },
    outstanding: outstanding.map((effect) => lightEffect(effect, blobs)),
  };
  return { ...light, blobs: blobs.pieces };
}

function* textsOf({ fields, outstanding }: SessionWeight): Generator<string> {
  for (const { content } of fields.log.tail) if (content !== null) yield content;
  for (const { text, instructions = "" } of [...fields.queued, ...fields.steered]) yield* [text, instructions];
  yield fields.turn?.instructions ?? "";
  for (const effect of outstanding) yield finalText(effect) ?? "";
}

/** O3 */
function isHeavy(texts: Iterable<string>): boolean {
  const all = [...texts];
  const length = all.reduce((sum, text) => sum + text.length, 0);
  if (length * MOST_JSON_BYTES <= LIGHT_BYTES) return false;
  return length > LIGHT_BYTES || all.reduce((sum, text) => sum + jsonLength(text), 0) > LIGHT_BYTES;
}

interface Parted {
  readonly beginning: string;
  readonly rest: TextRest;
}

function partedText(text: string): Parted {
  const beginning = text.slice(0, wholeCharacter(text, BEGINNING_LENGTH));
  const rest = text.slice(beginning.length);
  return { beginning, rest: { blob: blobNameOf(rest), length: rest.length, tokens: estimateTextTokens(rest) } };
}

class Blobs {
  readonly #key: SessionKey;
  readonly #generation: number;
  readonly #known = new Map<string, Parted>();
  readonly #pieces = new Map<string, NamedPiece>();

  constructor(key: SessionKey, generation: number) {
    this.#key = key;
    this.#generation = generation;
  }

  get pieces(): readonly NamedPiece[] {
    return [...this.#pieces.values()];
  }

  /** Undefined: it is short, or parted already. */
  part(text: string, rest: TextRest | undefined, generation = this.#generation): Parted | undefined {
    if (rest !== undefined || !isLongerInJson(text, SHORT_BYTES)) return undefined;
    const parted = this.#known.get(text) ?? partedText(text);
    this.#known.set(text, parted);
    const after = text.slice(parted.beginning.length);
    const names = blobPieceNames(this.#key, generation, parted.rest.blob);
    for (const piece of blobPieces(names, after)) this.#pieces.set(piece.name, piece);
    return parted;
  }
}

function lightMessage(message: LogMessage, blobs: Blobs): LogMessage {
  const parted = message.content === null ? undefined : blobs.part(message.content, message.rest);
  return parted === undefined ? message : { ...message, content: parted.beginning, rest: parted.rest };
}

function lightWaiting(message: QueuedMessage, blobs: Blobs): QueuedMessage {
  const light = lightInstructions(message, blobs);
  const parted = blobs.part(light.text, light.rest);
  return parted === undefined ? light : { ...light, text: parted.beginning, rest: parted.rest };
}

function lightInstructions<T extends QueuedMessage | Turn>(holder: T, blobs: Blobs): T {
  const { instructions, instructionsRest } = holder;
  const parted = instructions === undefined ? undefined : blobs.part(instructions, instructionsRest);
  return parted === undefined ? holder : { ...holder, instructions: parted.beginning, instructionsRest: parted.rest };
}

/** A reply keeps its beginning; the gateway puts the rest to it. */
function lightEffect(effect: Listed<SessionRun>, blobs: Blobs): Listed<SessionRun> {
  const text = finalText(effect);
  if (effect.kind !== "publish" || text === undefined) return effect;
  const final = effect.body["final"];
  const [rest, generation] = [effect.body["rest"], effect.body["generation"]];
  if (rest !== undefined || typeof generation !== "number" || typeof final !== "object") return effect;
  // A reset in the same commit: the reply is of the generation before it.
  const parted = blobs.part(text, undefined, generation);
  if (parted === undefined) return effect;
  return { ...effect, body: { ...effect.body, final: { ...final, text: parted.beginning }, rest: parted.rest } };
}

function finalText(effect: Listed<SessionRun>): string | undefined {
  if (effect.kind !== "publish") return undefined;
  const [kind, final] = [effect.body["kind"], effect.body["final"]];
  if (kind !== "final" || typeof final !== "object" || final === null || !("text" in final)) return undefined;
  return typeof final.text === "string" ? final.text : undefined;
}
