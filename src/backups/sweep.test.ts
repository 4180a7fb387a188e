import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { type TestBackups, testBackups } from './backup-store.fixture.ts'
import { type BackupRepository, StorageFailure } from './backup-store.ts'
import type { Storage } from './storage/storage.ts'
import { contentsOf, type Files, guillotine, hashes, Killed, noise, pieces, source } from './trees.fixture.ts'

const HOUR = 3_600_000
const OWNER = 'site-1'

const opened: TestBackups[] = []
afterEach(async () => {
  for (const each of opened.splice(0)) await each.close()
})

interface Stand {
  clock: number
  readonly folder: string
  readonly storage: Storage
  /** Opens the repository as another process would. */
  open(around?: (storage: Storage) => Storage): Promise<BackupRepository>
}

async function stand(): Promise<Stand> {
  const made = await testBackups()
  opened.push(made)
  const own: Stand = {
    clock: 1_700_000_000_000,
    folder: made.folder,
    storage: made.storage,
    open: async (around = (it) => it) =>
      (await testBackups({ folder: made.folder, around, now: () => own.clock })).backups.repository(OWNER),
  }
  return own
}

const packsIn = async ({ storage }: Stand) => (await storage.list(`${OWNER}/packs/`)).length

/** Sweeps several times, a day apart, after which everything unneeded is gone. */
async function sweepAll(own: Stand): Promise<number> {
  const repository = await own.open()
  let freed = 0
  for (let sweep = 0; sweep < 3; sweep++) {
    freed += (await repository.sweep()).freedBytes
    own.clock += 25 * HOUR
  }
  return freed
}

describe('a sweep', () => {
  it('removes only unneeded data, a day after it was first found', async () => {
    const own = await stand()
    const repository = await own.open()
    const shared = { shared: noise(300_000, 1) }
    await repository.writeTree(source({ ...shared, old: noise(900_000, 2) }), { name: 'b1' })
    await repository.writeTree(source({ ...shared, new: noise(900_000, 3) }), { name: 'b2' })
    const full = await repository.storedBytes()
    await repository.remove('b1')
    expect((await repository.sweep()).freedBytes).toBe(0)
    expect(await sweepAll(own)).toBeGreaterThan(900_000)
    expect(await repository.storedBytes()).toBeLessThan(full - 890_000)
    expect(await contentsOf(repository, 'b2')).toEqual(hashes({ ...shared, new: noise(900_000, 3) }))
    await repository.verify('b2')
  })

  it('waits a full day between marking and removing: one second less, and nothing is removed', async () => {
    const own = await stand()
    const repository = await own.open()
    await repository.writeTree(source({ x: noise(100_000) }), { name: 'b1' })
    await repository.remove('b1')
    await repository.sweep()
    own.clock += 24 * HOUR - 1000
    expect((await repository.sweep()).freedBytes).toBe(0)
    expect(await packsIn(own)).toBe(1)
    own.clock += 1000
    expect((await repository.sweep()).freedBytes).toBeGreaterThan(100_000)
    expect(await packsIn(own)).toBe(0)
  })

  it('removes nothing from a writer that began before the mark and takes half a day', async () => {
    const own = await stand()
    const files = { x: noise(600_000), y: noise(1000, 5) }
    await (await own.open()).writeTree(source({ x: files.x }), { name: 'b1' })
    const sweeper = await own.open()
    let freedBytes = 0
    const writer = await own.open((storage) => ({
      ...storage,
      async putOnce(name, bytes) {
        if (name.includes('/backups/b2')) {
          await sweeper.remove('b1')
          await sweeper.sweep()
          // A writer may reuse marked packs this long, and the sweeps never stop.
          for (let hour = 0; hour < 12; hour++) {
            own.clock += HOUR
            freedBytes += (await sweeper.sweep()).freedBytes
          }
        }
        return storage.putOnce(name, bytes)
      },
    }))
    await writer.writeTree(source(files), { name: 'b2' })
    expect(freedBytes).toBe(0)
    // Its chunks still exist after later sweeps.
    own.clock += 13 * HOUR
    await sweeper.sweep()
    expect(await contentsOf(await own.open(), 'b2')).toEqual(hashes(files))
    // Nothing prevents their reuse any longer.
    expect(await own.storage.list(`${OWNER}/marks/`)).toEqual([])
  })

  it('removes nothing after it was held up for more than an hour', async () => {
    const own = await stand()
    const repository = await own.open()
    await repository.writeTree(source({ x: noise(100_000) }), { name: 'b1' })
    await repository.remove('b1')
    await repository.sweep()
    own.clock += 25 * HOUR
    const slow = await own.open((storage) => ({
      ...storage,
      async list(folder, signal) {
        if (folder.includes('/marks/')) own.clock += 2 * HOUR
        return storage.list(folder, signal)
      },
    }))
    expect((await slow.sweep()).freedBytes).toBe(0)
    expect(await packsIn(own)).toBe(1)
    expect((await repository.sweep()).freedBytes).toBeGreaterThan(100_000)
  })

  it('keeps a pack with unreadable content, marked as damaged, so that new backups do not reuse it', async () => {
    const own = await stand()
    const repository = await own.open()
    for (let n = 1; n <= 20; n++) await repository.writeStream(pieces(noise(5000, n)), { name: `b${n}` })
    const [pack] = (await own.storage.list(`${OWNER}/packs/`)).map(({ name }) => name) as [string]
    const bytes = (await own.storage.get(pack)) as Buffer
    bytes.writeUInt8(bytes.readUInt8(40) ^ 1, 40)
    await own.storage.put(pack, bytes)
    await sweepAll(own)
    const marks = (await own.storage.list(`${OWNER}/marks/`)).map(({ name }) => name)
    expect(marks).toEqual([expect.stringMatching(new RegExp(`${pack.split('/').at(-1)}-\\d+-damaged$`))])
    expect(await packsIn(own)).toBe(2)
  })

  it('leaves nothing of an owner without backups', async () => {
    const own = await stand()
    const repository = await own.open()
    await repository.writeTree(source({ x: noise(100_000) }), { name: 'b1' })
    await repository.remove('b1')
    await sweepAll(own)
    expect(await packsIn(own)).toBe(0)
  })

  it('merges many small packs, and their indexes', async () => {
    const own = await stand()
    const repository = await own.open()
    for (let n = 1; n <= 20; n++) await repository.writeStream(pieces(noise(5000, n)), { name: `b${n}` })
    await sweepAll(own)
    expect(await packsIn(own)).toBe(1)
    expect((await own.storage.list(`${OWNER}/indexes/`)).length).toBeLessThan(8)
    for (let n = 1; n <= 20; n++) await repository.verify(`b${n}`)
  })

  it('moves packs while a reader uses them that began before it', async () => {
    const own = await stand()
    const repository = await own.open()
    const files = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`f${n}`, noise(3_000, n)]))
    for (const [path, content] of Object.entries(files))
      await repository.writeTree(source({ [path]: content }), { name: path })
    const reader = await own.open()
    expect(await contentsOf(reader, 'f0')).toEqual(hashes({ f0: files.f0 as Buffer }))
    await sweepAll(own)
    expect(await contentsOf(reader, 'f7')).toEqual(hashes({ f7: files.f7 as Buffer }))
  })

  it('removes nothing if a listing cannot be read', async () => {
    const own = await stand()
    const repository = await own.open()
    await repository.writeTree(source({ x: noise(100_000) }), { name: 'b1' })
    await repository.writeTree(source({ y: noise(100_000, 9) }), { name: 'b2' })
    for (const { name, sizeBytes } of (await own.storage.list(`${OWNER}/packs/`)).slice(0, 1))
      await own.storage.put(name, noise(sizeBytes))
    own.clock += 100 * HOUR
    await expect(repository.sweep()).rejects.toThrow(/removes nothing/)
    expect(await packsIn(own)).toBe(2)
  })
})

describe('a writer that was held up', () => {
  /** Writes b2, which reuses content of b1. `meanwhile` runs before its head is stored. */
  async function heldUp(own: Stand, meanwhile: () => Promise<void>, onLook: () => void = () => {}): Promise<unknown> {
    const first = await own.open()
    await first.writeTree(source({ x: noise(600_000) }), { name: 'b1' })
    const writer = await own.open((storage) => ({
      ...storage,
      async putOnce(name, bytes) {
        if (name.includes('/backups/b2')) await meanwhile()
        return storage.putOnce(name, bytes)
      },
      async list(folder) {
        onLook()
        return storage.list(folder)
      },
    }))
    return writer.writeTree(source({ x: noise(600_000), y: noise(1000, 5) }), { name: 'b2' }).then(
      () => 'written',
      (error) => error,
    )
  }

  it('for less than half a day keeps packs that a sweep has marked in the meantime', async () => {
    const own = await stand()
    const outcome = await heldUp(own, async () => {
      const other = await own.open()
      await other.remove('b1')
      await other.sweep()
      own.clock += HOUR
      await other.sweep()
    })
    expect(outcome).toBe('written')
    await sweepAll(own)
    const repository = await own.open()
    await repository.verify('b2')
    expect(await contentsOf(repository, 'b2')).toEqual(hashes({ x: noise(600_000), y: noise(1000, 5) }))
  })

  it.each([13, 26, 60])('for %i hours fails if reused packs were marked, and leaves no backup', async (hours) => {
    const own = await stand()
    const outcome = await heldUp(own, async () => {
      const other = await own.open()
      await other.remove('b1')
      await other.sweep()
      own.clock += hours * HOUR
      await other.sweep()
    })
    expect(outcome).toBeInstanceOf(StorageFailure)
    const repository = await own.open()
    expect(await repository.list()).toEqual([])
    await repository.writeTree(source({ x: noise(600_000), y: noise(1000, 5) }), { name: 'b2' })
    await repository.verify('b2')
  })

  it('and died before its check is not a backup for a retry', async () => {
    const own = await stand()
    let isDead = false
    const outcome = await heldUp(
      own,
      async () => {
        const other = await own.open()
        await other.remove('b1')
        await other.sweep()
        own.clock += 26 * HOUR
        await other.sweep()
        isDead = true
      },
      () => {
        if (isDead) throw new Killed()
      },
    )
    expect(outcome).toBeInstanceOf(Killed)
    const again = await own.open()
    expect((await again.list()).map(({ name }) => name)).toEqual(['b2'])
    await again.writeTree(source({ x: noise(600_000), y: noise(1000, 5) }), { name: 'b2' })
    await again.verify('b2')
  })
})

it('keeps the first complete one of two that write the same backup, and the other finds it', async () => {
  const own = await stand()
  const first = await own.open()
  const late = await own.open((storage) => ({
    ...storage,
    async putOnce(name, bytes) {
      if (name.includes('/backups/')) await first.writeTree(source({ x: Buffer.from('first') }), { name: 'b1' })
      return storage.putOnce(name, bytes)
    },
  }))
  const facts = await late.writeTree(source({ x: Buffer.from('the second') }), { name: 'b1' })
  expect(facts).toEqual(await first.find('b1'))
  expect(await contentsOf(first, 'b1')).toEqual(hashes({ x: Buffer.from('first') }))
})

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('write' as const),
      files: fc.uniqueArray(fc.nat(7), { maxLength: 5 }),
      seed: fc.nat(3),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('remove' as const), backup: fc.nat(10) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('sweep' as const), hours: fc.constantFrom(0, 1, 13, 25, 49) }) },
)

const filesOf = (numbers: readonly number[], seed: number): Files =>
  Object.fromEntries(numbers.map((n) => [`dir/f${n}`, noise(n * 4000, n + seed * 100)]))

it('reads back every complete backup unchanged after any writes, removals, sweeps and interruptions', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(step, fc.option(fc.nat(12))), { maxLength: 12 }), async (steps) => {
      const own = await stand()
      const complete = new Map<string, Files>()
      let written = 0
      for (const [each, cut] of steps) {
        const blade = guillotine(own.storage)
        const repository = await own.open(() => blade.storage)
        blade.fallAfter = cut === null ? undefined : cut / 2
        const work = async () => {
          if (each.do === 'write') {
            const name = `b${++written}`
            const files = filesOf(each.files, each.seed)
            await repository.writeTree(source(files), { name })
            complete.set(name, files)
          } else if (each.do === 'remove') {
            const name = [...complete.keys()][each.backup]
            if (!name) return
            complete.delete(name)
            await repository.remove(name)
          } else {
            own.clock += each.hours * HOUR
            await repository.sweep()
          }
        }
        await work().catch((error) => {
          if (!(error instanceof Killed)) throw error
        })
      }
      const reader = await own.open()
      for (const [name, files] of complete) {
        expect(await contentsOf(reader, name)).toEqual(hashes(files))
        await reader.verify(name)
      }
    }),
    { numRuns: 15, endOnFailure: true },
  )
})
