import { PhpBusy, PhpCrashed, type PhpProcess } from './runtime.ts'

/** The most simultaneous processes of commands, per site and in total. Each takes as much memory as a site. */
const MOST_OF_SITE = 3
const MOST = 8

interface Running {
  readonly siteId: number
  readonly gone: PromiseWithResolvers<void>
  process: PhpProcess | undefined
  /** Set when the command was ended before it had a process. */
  endedBy: Error | undefined
}

/** The processes of a host that run one command each, in addition to those that serve sites. */
export class Commands {
  readonly #running = new Set<Running>()
  /** Sites whose database is being replaced, with the number of replacements in progress. */
  readonly #barred = new Map<number, number>()

  processes(): PhpProcess[] {
    return [...this.#running].flatMap(({ process }) => process ?? [])
  }

  /** @throws PhpBusy when the most allowed are running; errors of `start` */
  async start(siteId: number, start: () => Promise<PhpProcess>): Promise<PhpProcess> {
    const ofSite = [...this.#running].filter((each) => each.siteId === siteId)
    if (ofSite.length >= MOST_OF_SITE) throw new PhpBusy(`${MOST_OF_SITE} commands of this site are already running`)
    if (this.#running.size >= MOST) throw new PhpBusy(`${MOST} commands are already running on this host`)
    if (this.#barred.has(siteId)) throw new PhpBusy('the database of the site is being replaced')
    const running: Running = { siteId, gone: Promise.withResolvers(), process: undefined, endedBy: undefined }
    this.#running.add(running)
    const forget = () => {
      this.#running.delete(running)
      running.gone.resolve()
    }
    try {
      const process = await start()
      running.process = process
      void process.exited.then(forget)
      if (running.endedBy) {
        process.kill(running.endedBy)
        throw running.endedBy
      }
      return process
    } catch (error) {
      if (!running.process) forget()
      throw error
    }
  }

  /** Ends the commands of a site. Resolves when they are gone. */
  async endOfSite(siteId: number, why: string): Promise<void> {
    const ended = [...this.#running].filter((each) => each.siteId === siteId)
    for (const each of ended) {
      each.endedBy = new PhpCrashed(why)
      each.process?.kill(each.endedBy)
    }
    await Promise.all(ended.map(({ gone }) => gone.promise))
  }

  /**
   * Ends the commands of a site, and lets none start until `work` is done. A command that has the database open would
   * continue with the old one.
   */
  async without<Result>(siteId: number, work: () => Promise<Result>): Promise<Result> {
    this.#barred.set(siteId, (this.#barred.get(siteId) ?? 0) + 1)
    try {
      await this.endOfSite(siteId, 'the database of the site was replaced')
      return await work()
    } finally {
      const left = (this.#barred.get(siteId) ?? 1) - 1
      if (left > 0) this.#barred.set(siteId, left)
      else this.#barred.delete(siteId)
    }
  }

  async stop(): Promise<void> {
    for (const { siteId } of [...this.#running]) await this.endOfSite(siteId, 'this host stops')
  }
}
