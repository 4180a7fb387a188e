import { afterEach, describe, expect, it } from 'vitest'
import { type TestBackups, testBackups } from './backup-store.fixture.ts'
import { BackupDamaged, StorageFailure } from './backup-store.ts'
import type { Storage } from './storage/storage.ts'
import { all, contentsOf, hash, hashes, noise, pieces, source } from './trees.fixture.ts'

const opened: TestBackups[] = []
afterEach(async () => {
  for (const each of opened.splice(0)) await each.close()
})

async function stand(around?: (storage: Storage) => Storage) {
  const made = await testBackups(around && { around })
  opened.push(made)
  return { ...made, repository: made.backups.repository('site-1') }
}

type Stand = Awaited<ReturnType<typeof stand>>

/** Two files in two backups, so that each file has its own pack. */
const files = { 'one.jpg': noise(400_000, 1), 'two.jpg': noise(400_000, 2) }

async function twoPacks({ repository, storage }: Stand): Promise<{ first: string; second: string }> {
  await repository.writeTree(source({ 'one.jpg': files['one.jpg'] }), { name: 'b1' })
  const [first] = await storage.list('site-1/packs/')
  await repository.writeTree(source(files), { name: 'b2' })
  const second = (await storage.list('site-1/packs/')).find(({ name }) => name !== first?.name)
  return { first: first?.name as string, second: second?.name as string }
}

/** Changes one byte of a file's chunk, which is at the beginning of its pack. */
async function flip({ storage }: Stand, name: string): Promise<void> {
  const bytes = (await storage.get(name)) as Buffer
  bytes.writeUInt8(bytes.readUInt8(1000) ^ 1, 1000)
  await storage.put(name, bytes)
}

const faultOf = (work: Promise<unknown>): Promise<Error> =>
  work.then(
    () => new Error('it went well'),
    (error) => error,
  )

describe.each<{ how: string; harm: (own: Stand, pack: string) => Promise<void>; says: RegExp }>([
  { how: 'is lost', harm: async ({ storage }, pack) => storage.remove([pack]), says: /is lost/ },
  { how: 'is changed', harm: flip, says: /is not what was written/ },
  {
    how: 'is cut off',
    harm: async ({ storage }, pack) => storage.put(pack, ((await storage.get(pack)) as Buffer).subarray(0, 100)),
    says: /is lost/,
  },
])('a chunk that $how', ({ harm, says }) => {
  it('is reported with its file; the rest is readable; the next backup heals all', async () => {
    const own = await stand()
    const { first } = await twoPacks(own)
    await harm(own, first)
    const repository = own.backups.repository('site-1')
    const fault = await faultOf(repository.verify('b2'))
    expect(fault).toBeInstanceOf(BackupDamaged)
    expect(fault.message).toMatch(/one\.jpg: chunk [\w-]{43} /)
    expect(fault.message).toMatch(says)
    expect(fault.message).not.toContain('two.jpg')
    for await (const entry of repository.entries('b2'))
      if (entry.kind === 'file' && entry.path === 'two.jpg')
        expect(hash(await all(repository.readFile(entry)))).toBe(hash(files['two.jpg']))
      else if (entry.kind === 'file')
        expect(await faultOf(all(repository.readFile(entry)))).toMatchObject({
          name: 'BackupDamaged',
          message: expect.stringMatching(/^one\.jpg: chunk /),
        })
    const read: string[] = []
    await repository.writeTree(source(files, read), { name: 'b3' })
    expect(read).toEqual(['one.jpg'])
    const again = own.backups.repository('site-1')
    for (const name of ['b2', 'b3']) {
      expect(await contentsOf(again, name)).toEqual(hashes(files))
      await again.verify(name)
    }
  })
})

it('does not reuse a truncated pack, even before it was read', async () => {
  const own = await stand()
  const { first } = await twoPacks(own)
  await own.storage.put(first, ((await own.storage.get(first)) as Buffer).subarray(0, 100))
  const repository = own.backups.repository('site-1')
  await repository.writeTree(source(files), { name: 'b3' })
  expect(await contentsOf(repository, 'b3')).toEqual(hashes(files))
})

it('reads back added content, and checks that the rest exists', async () => {
  const own = await stand()
  const { first, second } = await twoPacks(own)
  const gets: string[] = []
  const watched = await testBackups({
    folder: own.folder,
    around: (storage) => ({
      ...storage,
      get: (name, ...rest) => {
        gets.push(name)
        return storage.get(name, ...rest)
      },
    }),
  })
  await watched.backups.repository('site-1').verify('b2', { only: 'added' })
  expect(gets).toContain(second)
  expect(gets).not.toContain(first)
  await flip(own, second)
  expect(await faultOf(own.repository.verify('b2', { only: 'added' }))).toBeInstanceOf(BackupDamaged)
  await own.storage.remove([first])
  expect((await faultOf(own.repository.verify('b2', { only: 'added' }))).message).toContain('one.jpg')
})

it('reports a lost chunk of a stream, and outputs the content before it', async () => {
  const own = await stand()
  await own.repository.writeStream(pieces(noise(300_000, 1)), { name: 'b1' })
  await flip(own, (await own.storage.list('site-1/packs/'))[0]?.name as string)
  expect((await faultOf(own.repository.verify('b1'))).message).toMatch(/b1 of site-1 is damaged\. chunk /)
  expect(await faultOf(all(own.backups.repository('site-1').readStream('b1')))).toBeInstanceOf(BackupDamaged)
})

it('reports a backup as damaged whose head was changed, or copied to another name', async () => {
  const own = await stand()
  await own.repository.writeStream(pieces(noise(1000, 1)), { name: 'b1' })
  const head = (await own.storage.get('site-1/backups/b1.stream')) as Buffer
  await own.storage.put('site-1/backups/b2.stream', head)
  expect(await faultOf(own.repository.find('b2'))).toBeInstanceOf(BackupDamaged)
  await own.storage.put('site-2/backups/b1.stream', head)
  expect(await faultOf(own.backups.repository('site-2').find('b1'))).toBeInstanceOf(BackupDamaged)
})

it('reads the tables in packs if indexes are lost or damaged', async () => {
  const own = await stand()
  await twoPacks(own)
  const [lost, damaged] = await own.storage.list('site-1/indexes/')
  await own.storage.remove([lost?.name as string])
  await own.storage.put(damaged?.name as string, Buffer.from('damaged'))
  const repository = own.backups.repository('site-1')
  await repository.verify('b2')
  expect(await contentsOf(repository, 'b2')).toEqual(hashes(files))
})

it('retries a storage that returns wrong data once', async () => {
  let lies = 0
  const own = await stand((storage) => ({
    ...storage,
    async get(name, range, signal) {
      const bytes = await storage.get(name, range, signal)
      if (!name.includes('/packs/') || !range || lies++ > 0) return bytes
      bytes?.fill(0)
      return bytes
    },
  }))
  await own.repository.writeTree(source(files), { name: 'b1' })
  await own.repository.verify('b1')
  expect(lies).toBeGreaterThan(1)
  expect(await own.storage.list('site-1/marks/')).toEqual([])
})

it('leaves no backup if the storage fails during the write, and keeps no reference', async () => {
  let isFull = true
  const own = await stand((storage) => ({
    ...storage,
    async put(name, bytes, signal) {
      if (isFull && name.includes('/packs/')) throw new StorageFailure('The disk is full.')
      return storage.put(name, bytes, signal)
    },
  }))
  expect((await faultOf(own.repository.writeTree(source(files), { name: 'b1' }))).message).toBe('The disk is full.')
  expect(await own.repository.list()).toEqual([])
  isFull = false
  await own.repository.writeTree(source(files), { name: 'b1' })
  await own.repository.verify('b1')
})

it('leaves no backup if the source fails or is stopped', async () => {
  const own = await stand()
  const failing = (async function* () {
    yield noise(100_000)
    throw new Error('the source broke')
  })()
  await expect(own.repository.writeStream(failing, { name: 'b1' })).rejects.toThrow('the source broke')
  const stop = new AbortController()
  const endless = (async function* () {
    for (;;) {
      yield noise(100_000)
      stop.abort(new Error('enough'))
    }
  })()
  await expect(own.repository.writeStream(endless, { name: 'b1', signal: stop.signal })).rejects.toThrow('enough')
  expect(await own.repository.list()).toEqual([])
})

describe('a damaged backup', () => {
  it('is known from packs that a reader has read, until the next backup heals it', async () => {
    const own = await stand()
    const { first } = await twoPacks(own)
    await flip(own, first)
    expect([...(await own.repository.damaged())]).toEqual([])
    expect(await faultOf(own.repository.verify('b2'))).toBeInstanceOf(BackupDamaged)
    // The site no longer has the file.
    await own.repository.writeTree(source({ 'two.jpg': files['two.jpg'] }), { name: 'b3' })
    const damaged = await own.backups.repository('site-1').damaged()
    expect([...damaged].sort()).toEqual([
      ['b1', 'one.jpg'],
      ['b2', 'one.jpg'],
    ])
    await own.repository.writeTree(source(files), { name: 'b4' })
    expect([...(await own.backups.repository('site-1').damaged())]).toEqual([])
  })

  it('is known from missing packs, without a reader', async () => {
    const own = await stand()
    const { first, second } = await twoPacks(own)
    await own.storage.remove([second])
    expect([...(await own.repository.damaged())]).toEqual([['b2', expect.any(String)]])
    await own.storage.put(first, ((await own.storage.get(first)) as Buffer).subarray(0, 100))
    expect([...(await own.repository.damaged()).keys()].sort()).toEqual(['b1', 'b2'])
  })

  it('costs no read of a pack if all are intact', async () => {
    const own = await stand()
    await twoPacks(own)
    const gets: string[] = []
    const get: Storage['get'] = (name, ...rest) => {
      gets.push(name)
      return own.storage.get(name, ...rest)
    }
    const watched = await testBackups({ folder: own.folder, around: (storage) => ({ ...storage, get }) })
    expect((await watched.backups.repository('site-1').damaged()).size).toBe(0)
    expect(gets.filter((name) => /^site-1\/(packs|backups)\//.test(name))).toEqual([])
  })
})
