import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { PhpBusy, PhpDisplaced, type PhpProcess } from '../runtime.ts'
import { MemoryAdmission } from './memory-admission.ts'
import { RecentUse } from './recent-use.ts'
import type { SiteQueue } from './site-queue.ts'

const MB = 1 << 20
const SITE_BYTES = 300 * MB

/** A site as memory admission sees it. It is busy until the test says otherwise. */
class FakeQueue {
  process: PhpProcess | undefined
  lastUsed = performance.now()
  readonly use = new RecentUse()
  killedBy: Error | undefined
  #workingSince: number | undefined
  readonly #mayBreakOff: boolean

  constructor({ mayBreakOff = true } = {}) {
    this.#mayBreakOff = mayBreakOff
  }

  get idle() {
    return this.#workingSince === undefined
  }

  get interruptibleMs() {
    return this.#mayBreakOff && this.#workingSince !== undefined ? performance.now() - this.#workingSince : -1
  }

  begin() {
    this.#workingSince = performance.now()
    this.use.begin()
    return this
  }

  end() {
    this.#workingSince = undefined
    this.lastUsed = performance.now()
    this.use.end()
    return this
  }

  /** Gets a process, as a real queue does after admission. */
  run() {
    const exit = Promise.withResolvers<never>()
    this.process = {
      lastResidentBytes: SITE_BYTES,
      exited: exit.promise,
      kill: (error: Error) => {
        this.killedBy = error
        this.process = undefined
        this.end()
        exit.resolve(undefined as never)
      },
    } as unknown as PhpProcess
    return this
  }

  async stopProcess() {
    this.process = undefined
  }

  get asQueue() {
    return this as unknown as SiteQueue
  }
}

describe('memory for PHP', () => {
  let queues: FakeQueue[]
  let room: MemoryAdmission

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['performance', 'setInterval', 'clearInterval'] })
    queues = []
    room = new MemoryAdmission({
      queues: () => queues.map((queue) => queue.asQueue),
      spares: () => [],
      memoryBytes: 2 * SITE_BYTES,
      waitMs: 60_000,
      inUseMs: 60_000,
      log: { warn() {} },
    })
  })
  afterEach(() => {
    room.stop()
    vi.useRealTimers()
  })

  const site = (options?: { mayBreakOff?: boolean }) => {
    const queue = new FakeQueue(options)
    queues.push(queue)
    return queue
  }
  const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)
  /** @returns the outcome of the request: '' while the site waits */
  const ask = (queue: FakeQueue, bytes = SITE_BYTES) => {
    const asked = { outcome: '' }
    room.reserve(queue.asQueue, bytes).then(
      (started) => {
        asked.outcome = 'room'
        queue.run()
        started()
      },
      (error) => {
        asked.outcome = error.name
      },
    )
    return asked
  }

  it('fits a process of its kind, minus what others take and what starting ones will take', async () => {
    room = new MemoryAdmission({
      queues: () => [],
      spares: () => [],
      memoryBytes: 7 * MB,
      waitMs: 1,
      inUseMs: 1,
      log: { warn() {} },
    })
    const large = room.take(3 * MB)
    const small = [room.take(MB), room.take(MB), room.take(MB), room.take(MB)]
    expect([large, ...small].map(Boolean)).toEqual([true, true, true, true, true])
    expect(room.take(MB)).toBeUndefined()
    small[0]?.()
    expect(room.take(2 * MB)).toBeUndefined()
    expect(room.take(MB)).toBeDefined()
  })

  it('is estimated from running processes when they take more than usual', async () => {
    site().run().begin()
    expect(room.take(1)).toBeDefined()
    expect(room.take(1)).toBeUndefined()
  })

  it('goes to the site with the least recent use, not to the first in line', async () => {
    const [a, b, greedy, modest] = [site().run().begin(), site().run().begin(), site().begin(), site()]
    await pass(4000)
    greedy.end()
    const [first, second] = [ask(greedy), ask(modest)]
    await pass(0)
    expect([first.outcome, second.outcome]).toEqual(['', ''])
    a.end().process = undefined
    room.freed()
    await pass(0)
    expect([first.outcome, second.outcome]).toEqual(['', 'room'])
    b.end().process = undefined
    room.freed()
    await pass(0)
    expect(first.outcome).toBe('room')
  })

  it('is taken from sites with much use or idle sites, but not from a modest site with visitors', async () => {
    const [busy, modest] = [site({ mayBreakOff: false }).run().begin(), site().run()]
    await pass(20_000)
    const visit = async () => {
      modest.begin()
      await pass(100)
      modest.end()
    }
    await visit()
    const other = site()
    const asked = ask(other)
    for (let n = 0; n < 4; n++) {
      await pass(1900)
      await visit()
    }
    expect(asked.outcome).toBe('')
    await pass(3500)
    expect(asked.outcome).toBe('room')
    expect(modest.process).toBeUndefined()
    // A greedy site loses it immediately.
    other.begin()
    busy.end()
    const again = ask(modest)
    await pass(0)
    expect(again.outcome).toBe('room')
    expect(busy.process).toBeUndefined()
  })

  it('is wanted from a site by others that have not had more than it', async () => {
    const [a, b] = [site().run().begin(), site().run().begin()]
    await pass(60_000)
    const greedy = site().begin()
    await pass(5000)
    greedy.end()
    a.end().begin()
    const modest = site().run()
    ask(greedy)
    expect(room.isWantedFrom(a.asQueue)).toBe(true)
    expect(room.isWantedFrom(b.asQueue)).toBe(true)
    expect(room.isWantedFrom(modest.asQueue)).toBe(false)
  })

  it('is taken from a long request of the heaviest site after a modest site has waited for a while', async () => {
    const [long, longer] = [site().run(), site().run().begin()]
    await pass(3000)
    long.begin()
    await pass(14_000)
    const modest = ask(site())
    await pass(1500)
    expect(modest.outcome).toBe('')
    await pass(1000)
    expect(modest.outcome).toBe('room')
    expect(longer.killedBy).toBeInstanceOf(PhpDisplaced)
    expect(long.killedBy).toBeUndefined()
  })

  it('is never taken from uninterruptible or short requests, or for a site with as much use', async () => {
    const task = site({ mayBreakOff: false }).run().begin()
    const short = site().run()
    const greedy = site().begin()
    await pass(20_000)
    greedy.end()
    short.begin()
    const modest = ask(site())
    const other = ask(greedy)
    await pass(8000)
    expect([modest.outcome, other.outcome]).toEqual(['', ''])
    short.end().begin()
    await pass(4000)
    expect(task.killedBy).toBeUndefined()
    expect(short.killedBy).toBeUndefined()
    await pass(60_000)
    // The short request became a long one and was ended. The task runs to its end.
    expect(task.killedBy).toBeUndefined()
    expect(modest.outcome).toBe('room')
  })

  it('is refused after the time limit of a request', async () => {
    site({ mayBreakOff: false }).run().begin()
    site({ mayBreakOff: false }).run().begin()
    const refused = room.reserve(site().asQueue, SITE_BYTES).catch((error) => error)
    await pass(60_500)
    expect(await refused).toBeInstanceOf(PhpBusy)
  })
})
