/**
 * Numbers requests, so that an answer that a later one has overtaken is dropped: `requestUrl` cannot abort a request.
 */
export class Sequence {
  private asked = 0;
  private shown = 0;

  /** The number of a new request. */
  next(): number {
    return ++this.asked;
  }

  /** Whether the answer to this request is newer than all that were accepted; it counts as accepted then. */
  accept(number: number): boolean {
    if (number <= this.shown) return false;
    this.shown = number;
    return true;
  }

  /** Whether a request is the last one made. */
  isLatest(number: number): boolean {
    return number === this.asked;
  }

  /** Drop all answers still to come. */
  dropAll(): void {
    this.shown = this.asked;
  }
}
