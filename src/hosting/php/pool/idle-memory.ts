/** Nothing runs in it, so that it hardly grows; what it shares with others may become more its own. */
const BELIEVED_MS = 10_000

/** When the memory of a process was last read: to read it costs more than all else that is done for an idle one. */
export class IdleMemory {
  #readAt = Number.NEGATIVE_INFINITY
  #jobs = -1

  /**
   * Reads it, unless it was read a short while ago with nothing at work, and no job has begun since.
   * @param process as it is before it is read; `jobs`: that it has begun since its start
   */
  async readAgain({ jobs, isBusy }: { readonly jobs: number; readonly isBusy: boolean }, read: () => Promise<void>) {
    if (jobs === this.#jobs && performance.now() - this.#readAt < BELIEVED_MS) return
    await read()
    if (isBusy) return
    this.#jobs = jobs
    this.#readAt = performance.now()
  }
}
