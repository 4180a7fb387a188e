import { afterEach, describe, expect, it, vi } from 'vitest'
import type { PhpProcess } from '../runtime.ts'
import { MemoryWatch, type WatchedProcess } from './memory-watch.ts'

const MB = 1 << 20
let watch: MemoryWatch | undefined
afterEach(() => watch?.stop())

const now = performance.now()
/** Busy unless `idleFor` is set. */
function process(name: string, mb: number, how: { idleFor?: number; isSpare?: boolean; isModest?: boolean } = {}) {
  const { idleFor, isSpare = false, isModest = false } = how
  const ended: string[] = []
  const watched = {
    name,
    ended,
    process: {
      pid: 1,
      lastResidentBytes: mb * MB,
      residentBytes: async () => mb * MB,
      kill: (error: Error) => ended.push(error.message),
    } as unknown as PhpProcess,
    isSpare,
    isModest: () => isModest,
    idleSince: idleFor === undefined ? undefined : now - idleFor,
    stop: async () => void ended.push('stopped'),
  }
  return watched satisfies WatchedProcess
}

function gone(memoryMb: number, processes: ReturnType<typeof process>[]): string[] {
  watch = new MemoryWatch({
    processes: () => processes,
    memoryBytes: memoryMb * MB,
    processMemoryBytes: 500 * MB,
    inUseMs: 60_000,
    log: { warn() {} },
  })
  watch.grown()
  watch.grown()
  return processes.flatMap(({ name, ended }) => ended.map((how) => `${name}: ${how}`))
}

describe('processes over their total memory', () => {
  it('lose none while they fit, or when only one is left', () => {
    expect(gone(1000, [process('a', 500), process('b', 500)])).toEqual([])
    expect(gone(100, [process('a', 500)])).toEqual([])
  })

  it('lose long-idle ones first, the longest idle first, then spares, then the largest', () => {
    const all = () => [
      process('greedy', 700),
      process('busy', 300),
      process('visited', 250, { idleFor: 1000 }),
      process('idle', 250, { idleFor: 100_000 }),
      process('older', 250, { idleFor: 200_000 }),
      process('spare', 250, { isSpare: true, idleFor: now }),
    ]
    expect(gone(1900, all())).toEqual(['older: stopped'])
    expect(gone(1500, all())).toEqual(['idle: stopped', 'older: stopped'])
    expect(gone(1300, all())).toEqual(['idle: stopped', 'older: stopped', 'spare: stopped'])
    expect(gone(1200, all())).toEqual([
      'greedy: PHP used 700 MB of memory when all sites together used more than 1200 MB',
      'idle: stopped',
      'older: stopped',
      'spare: stopped',
    ])
  })

  it('lose an idle one over its share before a busy one, but none within its share', () => {
    const all = (idleMb: number) => [
      process('busy', 450),
      process('idle', idleMb, { idleFor: 1000 }),
      process('other', 300),
    ]
    expect(gone(1100, all(400))).toEqual(['idle: stopped'])
    // Unless a busy one has much more.
    expect(gone(1040, [process('busy', 600), process('idle', 400, { idleFor: 1000 }), process('other', 300)])).toEqual([
      expect.stringMatching(/^busy: PHP used 600 MB/),
    ])
    expect(gone(1000, all(300))).toEqual([expect.stringMatching(/^busy: PHP used 450 MB/)])
  })

  it('lose an idle one of a modest site only if it is the largest, because it would have to restart for the sake of greedier ones', () => {
    const all = (modestMb: number) => [
      process('busy', 450),
      process('modest', modestMb, { idleFor: 1000, isModest: true }),
      process('other', 300),
    ]
    expect(gone(1100, all(400))).toEqual([expect.stringMatching(/^busy: PHP used 450 MB/)])
    expect(gone(1100, all(500))).toEqual(['modest: stopped'])
  })

  it('are measured every second, whatever they use memory for, and one far over its limit ends immediately', async () => {
    vi.useFakeTimers()
    try {
      const swollen = process('swollen', 1001)
      gone(10_000, [swollen])
      await vi.advanceTimersByTimeAsync(1001)
      expect(swollen.ended).toEqual(['PHP used more than 1000 MB of memory'])
    } finally {
      vi.useRealTimers()
    }
  })
})
