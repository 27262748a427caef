/** Work that all who ask for its result at the same time wait for together. */
export class SharedWork<Result> {
  readonly #underWay = new Map<string, Promise<Result>>();

  isUnderWay(what: string): boolean {
    return this.#underWay.has(what);
  }

  /** Returns the work under way that makes `what`, or begins it. */
  share(what: string, make: () => Promise<Result>): Promise<Result> {
    const underWay = this.#underWay.get(what);
    if (underWay) return underWay;
    const making = make().finally(() => this.#underWay.delete(what));
    this.#underWay.set(what, making);
    return making;
  }
}
