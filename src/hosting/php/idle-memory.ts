/** Nothing runs in it, so that it hardly grows; what it shares with others may become more its own. */
const BELIEVED_MS = 10_000

/** Whether the memory of a process has to be read again: reading it costs more than all else that is done for an idle one. */
export class IdleMemory {
  #readAt = Number.NEGATIVE_INFINITY
  #jobs = -1

  /** It has begun no job since it was last read with nothing at work, a while ago at most. @param jobs that it has begun since its start */
  isKnown(jobs: number): boolean {
    return jobs === this.#jobs && performance.now() - this.#readAt < BELIEVED_MS
  }

  /** It was read. @param jobs as they were before @param isBusy as it was before */
  wasRead(jobs: number, isBusy: boolean): void {
    if (isBusy) return
    this.#jobs = jobs
    this.#readAt = performance.now()
  }
}
