/** What a tag does to the text around it. */
export interface Tag {
  /** `void`: markup that means nothing, such as the header tokens of a channel. */
  readonly kind: "open" | "end" | "self-closing" | "void";
  readonly family: string;
  /** False for families whose openings repeat without ends in between. */
  readonly nests: boolean;
}

/** A tag together with the text that it was written as. */
export interface FoundTag {
  readonly tag: Tag;
  readonly text: string;
}
