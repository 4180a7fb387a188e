import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { PhpBusy, PhpDisplaced, type PhpProcess } from '../runtime.ts'
import { MemoryAdmission } from './memory-admission.ts'
import { RecentUse } from './recent-use.ts'
import type { SiteQueue } from './site-queue.ts'

const MB = 1 << 20
const SITE_BYTES = 300 * MB

/** A site as the room sees it; it works until it is told otherwise. */
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

  /** Gets a process as a real lane does after the room was given. */
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

describe('room for PHP', () => {
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
  /** @returns what came of asking: '' as long as the site waits */
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

  it('is what a process of its kind takes, less what others take and those that start will take', async () => {
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

  it('is reckoned by what runs where that takes more than is usual', async () => {
    site().run().begin()
    expect(room.take(1)).toBeDefined()
    expect(room.take(1)).toBeUndefined()
  })

  it('goes to who has had least lately, not to who asked first', async () => {
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

  it('is not taken from a modest site that is visited, but from one that has had much, and from who stays idle', async () => {
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
    // a greedy one loses it at once
    other.begin()
    busy.end()
    const again = ask(modest)
    await pass(0)
    expect(again.outcome).toBe('room')
    expect(busy.process).toBeUndefined()
  })

  it('is asked for by who has not had more than this site', async () => {
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

  it('comes of a long request of who has had most, when a modest site has waited for a while', async () => {
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

  it('never comes of what must be done to its end, nor of short requests, nor for who has had as much', async () => {
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
    // the short one became a long one, and went; the task has its end
    expect(task.killedBy).toBeUndefined()
    expect(modest.outcome).toBe('room')
  })

  it('is refused when there was none for as long as a request may take', async () => {
    site({ mayBreakOff: false }).run().begin()
    site({ mayBreakOff: false }).run().begin()
    const refused = room.reserve(site().asQueue, SITE_BYTES).catch((error) => error)
    await pass(60_500)
    expect(await refused).toBeInstanceOf(PhpBusy)
  })
})
