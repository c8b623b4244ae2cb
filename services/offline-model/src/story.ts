/** Told word by word, so that one can watch an answer arrive. */
export const story = [
  "Once there was a small troupe of actors who travelled from town to town.",
  "One evening, in the middle of the play, a lantern fell and the stage went dark.",
  "Nobody in the audience heard a word of worry: each actor had the script by heart, knew who had spoken last,",
  "and went on from exactly that line. When the light came back, the play had moved ahead by a page,",
  "and not one sentence had been said twice.",
].join(" ");
