/** An idle process hardly grows, but memory that it shares with others may become its own. */
const BELIEVED_MS = 10_000

/** Tracks when the memory of a process was last measured, which costs more than everything else for an idle process. */
export class IdleMemory {
  #readAt = Number.NEGATIVE_INFINITY
  #jobs = -1

  /**
   * Measures, unless the process was measured recently while idle and has started no job since.
   * @param process its state before the measurement; `jobs` counts the jobs since its start
   */
  async readAgain({ jobs, isBusy }: { readonly jobs: number; readonly isBusy: boolean }, read: () => Promise<void>) {
    if (jobs === this.#jobs && performance.now() - this.#readAt < BELIEVED_MS) return
    await read()
    if (isBusy) return
    this.#jobs = jobs
    this.#readAt = performance.now()
  }
}
