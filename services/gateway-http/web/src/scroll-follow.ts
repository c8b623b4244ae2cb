/** So near to the end counts as being there. */
const NEAR_PX = 48;

/** Keeps the end of what is being written in sight, as long as the person has not scrolled away from it. */
export class ScrollFollow {
  readonly #area: HTMLElement;
  readonly #toEnd: HTMLElement;
  #following = true;

  constructor(area: HTMLElement, toEnd: HTMLElement) {
    this.#area = area;
    this.#toEnd = toEnd;
    area.addEventListener("scroll", () => this.#look(), { passive: true });
    toEnd.addEventListener("click", () => {
      this.follow();
      area.focus({ preventScroll: true });
    });
    // A window that gets smaller (a keyboard that opens) must not hide the end either.
    new ResizeObserver(() => this.settle()).observe(area);
  }

  /** Goes to the end and stays there. */
  follow(): void {
    this.#following = true;
    this.settle();
  }

  /** To be called when what is shown has changed. */
  settle(): void {
    if (this.#following) this.#area.scrollTop = this.#area.scrollHeight;
    this.#toEnd.hidden = this.#following;
  }

  /** Changes what stands above, and keeps what the person looks at where it is. */
  hold(change: () => void): void {
    const { scrollHeight, scrollTop } = this.#area;
    change();
    this.#area.scrollTop = scrollTop + this.#area.scrollHeight - scrollHeight;
  }

  #look(): void {
    const { scrollHeight, scrollTop, clientHeight } = this.#area;
    this.#following = scrollHeight - scrollTop - clientHeight < NEAR_PX;
    this.#toEnd.hidden = this.#following;
  }
}
