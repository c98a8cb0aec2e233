import { Sequence } from "./sequence";

const MAX_REQUESTS = 2;

/** What asks, and what takes the outcome. An outcome that a later one overtook is given to nobody. */
export interface Exchange<Answer> {
  ask(query: string): Promise<Answer>;
  show(answer: Answer, query: string): void;
  fail(error: unknown): void;
}

/** Asks a query while it is typed. Two requests run at most; while they do, only the newest query waits. */
export class LiveQuery<Answer> {
  private readonly sequence = new Sequence();
  private running = 0;
  private waiting: string | null = null;
  private isAnswered = true;

  constructor(private readonly exchange: Exchange<Answer>) {}

  /** Whether the answer to the newest query is still to come. */
  get isBusy(): boolean {
    return !this.isAnswered;
  }

  ask(query: string): void {
    this.isAnswered = false;
    if (this.running < MAX_REQUESTS) void this.run(query);
    else this.waiting = query;
  }

  /** Forget the query and all answers still to come. */
  drop(): void {
    this.sequence.dropAll();
    this.waiting = null;
    this.isAnswered = true;
  }

  private async run(query: string): Promise<void> {
    const number = this.sequence.next();
    this.running += 1;
    try {
      const answer = await this.exchange.ask(query);
      if (this.accept(number)) this.exchange.show(answer, query);
    } catch (error) {
      if (this.accept(number)) this.exchange.fail(error);
    } finally {
      this.running -= 1;
    }
    const next = this.waiting;
    this.waiting = null;
    if (next !== null) void this.run(next);
  }

  private accept(number: number): boolean {
    if (!this.sequence.accept(number)) return false;
    if (this.sequence.isLatest(number) && this.waiting === null) this.isAnswered = true;
    return true;
  }
}
