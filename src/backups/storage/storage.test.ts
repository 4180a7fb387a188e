import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type S3Server, s3Server } from '../../../test/support/s3-server.ts'
import { testBackups } from '../backup-store.fixture.ts'
import { StorageFailure } from '../backup-store.ts'
import { inParallel } from '../in-parallel.ts'
import { folderStorage } from './folder-storage.ts'
import { retryingStorage } from './retrying-storage.ts'
import { s3Storage } from './s3-storage.ts'
import { type Storage, StorageRefusal } from './storage.ts'

let folder: string
let server: S3Server
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stead-storage-'))
  server = await s3Server()
})
afterAll(async () => {
  await server.close()
  await rm(folder, { recursive: true })
})

const inBucket = (prefix: string, bucket = server.bucket, accessKeyId = 'S3RVER'): Storage =>
  s3Storage({
    bucket,
    prefix,
    endpoint: server.url,
    region: 'us-east-1',
    credentials: { ...server.credentials, accessKeyId },
  })

const bytes = Buffer.from('0123456789')

describe.each<{ kind: string; open: () => Storage }>([
  { kind: 'a folder', open: () => folderStorage({ folder: join(folder, 'one') }) },
  // asked again, as everywhere: the server fails when two remove the last objects of a folder at once
  { kind: 'a bucket', open: () => retryingStorage(inBucket('one'), { pauseMs: 1 }) },
])('$kind', ({ open }) => {
  it('keeps objects, gives them out whole or in part, and forgets them', async () => {
    const storage = open()
    await storage.put('site-1/packs/a', bytes)
    const read = async (start: number, length?: number) =>
      String(await storage.get('site-1/packs/a', { start, ...(length !== undefined && { length }) }))
    expect(String(await storage.get('site-1/packs/a'))).toBe('0123456789')
    expect(await read(2, 3)).toBe('234')
    expect(await read(7)).toBe('789')
    expect(await read(8, 100)).toBe('89')
    expect(await read(50)).toBe('')
    await storage.put('site-1/packs/a', Buffer.from('other'))
    expect(String(await storage.get('site-1/packs/a'))).toBe('other')
    await storage.remove(['site-1/packs/a', 'site-1/packs/never'])
    expect(await storage.get('site-1/packs/a')).toBeUndefined()
    expect(await storage.folders()).toEqual([])
  })

  it('lists what is below a folder, and no neighbour whose name begins like it', async () => {
    const storage = open()
    expect(await storage.list('site-1/')).toEqual([])
    for (const name of ['site-1/packs/a', 'site-1/indexes/b', 'site-12/packs/c']) await storage.put(name, bytes)
    const found = await storage.list('site-1/')
    expect(found.map(({ name, sizeBytes }) => [name, sizeBytes]).sort()).toEqual([
      ['site-1/indexes/b', 10],
      ['site-1/packs/a', 10],
    ])
    expect(found.every(({ modifiedAt }) => Math.abs(modifiedAt - Date.now()) < 3_600_000)).toBe(true)
    expect((await storage.folders()).sort()).toEqual(['site-1', 'site-12'])
    await storage.remove(['site-1/packs/a', 'site-1/indexes/b', 'site-12/packs/c'])
  })

  it('lists more than a page', async () => {
    const storage = open()
    const names = Array.from({ length: 1003 }, (_, n) => `many/x/${n}`)
    await inParallel(16, names, (name) => storage.put(name, Buffer.from('x')))
    expect((await storage.list('many/')).length).toBe(1003)
    await storage.remove(names)
    expect(await storage.list('many/')).toEqual([])
  })

  it('of two who write a thing once, the first stays', async () => {
    const storage = open()
    expect(await storage.putOnce('once/x', bytes)).toBe(true)
    expect(await storage.putOnce('once/x', Buffer.from('other'))).toBe(false)
    expect(String(await storage.get('once/x'))).toBe('0123456789')
  })

  it('holds backups', async () => {
    const storage = open()
    const { backups, close } = await testBackups({ around: () => storage })
    const repository = backups.repository('site-9')
    await repository.writeStream(
      (async function* () {
        yield bytes
      })(),
      { name: 'b1' },
    )
    await repository.verify('b1')
    expect(await backups.owners()).toContain('site-9')
    await close()
  })
})

describe('a bucket that cannot be used is a fault that says why, and is not asked again', () => {
  it('there is none of the name', async () => {
    const storage = inBucket('one', 'nowhere')
    await expect(storage.get('x')).rejects.toThrow(StorageRefusal)
    await expect(storage.put('x', bytes)).rejects.toThrow(/s3:\/\/nowhere\/one: NoSuchBucket/)
  })

  it('it does not take the key', async () => {
    await expect(inBucket('one', server.bucket, 'wrong').put('x', bytes)).rejects.toThrow(StorageRefusal)
  })
})

it('a service that does not answer is a fault of the storage', async () => {
  const storage = s3Storage({ ...server, endpoint: 'http://127.0.0.1:9', region: 'r', prefix: '' })
  const fault = await storage.get('x').catch((error) => error)
  expect(fault).toBeInstanceOf(StorageFailure)
  expect(fault).not.toBeInstanceOf(StorageRefusal)
})

describe('a folder', () => {
  it('whose disk is full for backups takes nothing, and nothing is left', async () => {
    const storage = folderStorage({ folder: join(folder, 'full'), keptBytes: 2 ** 60 })
    await expect(storage.put('a/b', bytes)).rejects.toThrow(StorageRefusal)
    await expect(storage.putOnce('a/c', bytes)).rejects.toThrow(/is full/)
    expect(await storage.list('a/')).toEqual([])
  })

  it('puts nothing in place any more for who has given up, and nothing is left', async () => {
    const storage = folderStorage({ folder: join(folder, 'given-up') })
    await storage.put('a/b', bytes)
    await expect(storage.put('a/b', Buffer.from('other'), AbortSignal.abort())).rejects.toThrow(StorageFailure)
    expect(String(await storage.get('a/b'))).toBe(String(bytes))
    expect(await readdir(join(folder, 'given-up/a'))).toEqual(['b'])
  })

  it('does not list what a writer left that died, and a name that is a file is a fault of the storage', async () => {
    const storage = folderStorage({ folder: join(folder, 'left') })
    await storage.put('a/b', bytes)
    await writeFile(join(folder, 'left/a/c.1-0123456789ab.tmp'), 'half')
    expect((await storage.list('a/')).map(({ name }) => name)).toEqual(['a/b'])
    await expect(storage.put('a/b/c', bytes)).rejects.toThrow(StorageFailure)
    expect(await readdir(join(folder, 'left/a'))).toContain('b')
  })
})

describe('what writers have left that were killed', () => {
  it('goes a day later with a look at its folder, and not before: somebody may be writing it', async () => {
    const storage = folderStorage({ folder: join(folder, 'killed') })
    await storage.put('a/b', bytes)
    const left = ['1-0123456789ab', '2-0123456789ab'].map((name) => join(folder, `killed/a/c.${name}.tmp`))
    for (const file of left) await writeFile(file, 'half')
    const dayAgo = Date.now() / 1000 - 86_500
    await utimes(left[0] as string, dayAgo, dayAgo)
    expect((await storage.list('a/')).map(({ name }) => name)).toEqual(['a/b'])
    expect((await readdir(join(folder, 'killed/a'))).sort()).toEqual(['b', 'c.2-0123456789ab.tmp'])
  })
})

describe('patience', () => {
  const failing = (faults: Error[]) => {
    let calls = 0
    const base = folderStorage({ folder: join(folder, 'patient') })
    const storage: Storage = {
      ...base,
      async put(name, content) {
        calls++
        const fault = faults.shift()
        if (fault) throw fault
        return base.put(name, content)
      },
    }
    return { storage: retryingStorage(storage, { pauseMs: 1 }), calls: () => calls }
  }

  it('asks again when the storage fails, and gives up in the end', async () => {
    const fault = () => new StorageFailure('not now')
    const passing = failing([fault(), fault(), fault()])
    await passing.storage.put('a/b', bytes)
    expect(passing.calls()).toBe(4)
    const lasting = failing([fault(), fault(), fault(), fault(), fault()])
    await expect(lasting.storage.put('a/b', bytes)).rejects.toThrow('not now')
    expect(lasting.calls()).toBe(4)
  })

  it('does not ask again who refuses, or when it is a fault of the code', async () => {
    for (const fault of [new StorageRefusal('full'), new TypeError('slip')]) {
      const { storage, calls } = failing([fault])
      await expect(storage.put('a/b', bytes)).rejects.toThrow(fault)
      expect(calls()).toBe(1)
    }
  })

  it('gives up on a storage that never answers, and tells it so', async () => {
    const told: boolean[] = []
    const base = folderStorage({ folder })
    const silent: Storage = {
      ...base,
      get: (_name, _range, signal) =>
        new Promise(() => {
          signal?.addEventListener('abort', () => told.push(true))
        }),
    }
    const storage = retryingStorage(silent, { attempts: 2, attemptMs: 5, pauseMs: 1 })
    await expect(storage.get('x', { start: 0, length: 1 })).rejects.toThrow(/did not respond/)
    expect(told).toEqual([true, true])
  })

  it('ends at once when the caller has enough', async () => {
    const base = folderStorage({ folder })
    const silent: Storage = { ...base, list: () => new Promise(() => {}) }
    const stop = new AbortController()
    const listing = retryingStorage(silent).list('x/', stop.signal)
    stop.abort(new Error('enough'))
    await expect(listing).rejects.toThrow('enough')
  })

  it('knows its own object again when the answer to writing it once was lost', async () => {
    const base = folderStorage({ folder: join(folder, 'lost-answer') })
    let isLost = true
    const storage = retryingStorage(
      {
        ...base,
        async putOnce(name, content) {
          const isFirst = await base.putOnce(name, content)
          if (!isLost) return isFirst
          isLost = false
          throw new StorageFailure('the answer was lost')
        },
      },
      { pauseMs: 1 },
    )
    expect(await storage.putOnce('a/b', bytes)).toBe(true)
    expect(await storage.putOnce('a/b', Buffer.from('other'))).toBe(false)
  })
})
