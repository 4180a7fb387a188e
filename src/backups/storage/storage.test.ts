import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type S3Server, s3Server } from '../../../test/support/s3-server.ts'
import { inParallel } from '../../platform/in-parallel.ts'
import { testBackups } from '../backup-store.fixture.ts'
import { StorageFailure } from '../backup-store.ts'
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
  // It retries, as in production: the server fails when two requests remove the last objects of a folder at once.
  { kind: 'a bucket', open: () => retryingStorage(inBucket('one'), { pauseMs: 1 }) },
])('$kind', ({ open }) => {
  it('stores objects, returns them completely or in part, and removes them', async () => {
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

  it('lists objects below a folder, and none of another whose name begins the same', async () => {
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

  it('lists more than one page', async () => {
    const storage = open()
    const names = Array.from({ length: 1003 }, (_, n) => `many/x/${n}`)
    await inParallel(16, names, (name) => storage.put(name, Buffer.from('x')))
    expect((await storage.list('many/')).length).toBe(1003)
    await storage.remove(names)
    expect(await storage.list('many/')).toEqual([])
  })

  it('keeps the first of two objects that are written once', async () => {
    const storage = open()
    expect(await storage.putOnce('once/x', bytes)).toBe(true)
    expect(await storage.putOnce('once/x', Buffer.from('other'))).toBe(false)
    expect(String(await storage.get('once/x'))).toBe('0123456789')
  })

  it('stores backups', async () => {
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

describe('an unusable bucket fails with the reason, and without retries', () => {
  it('if the bucket does not exist', async () => {
    const storage = inBucket('one', 'nowhere')
    await expect(storage.get('x')).rejects.toThrow(StorageRefusal)
    await expect(storage.put('x', bytes)).rejects.toThrow(/s3:\/\/nowhere\/one: NoSuchBucket/)
  })

  it('if it refuses the credentials', async () => {
    await expect(inBucket('one', server.bucket, 'wrong').put('x', bytes)).rejects.toThrow(StorageRefusal)
  })
})

it('reports a service that does not answer as a failure of the storage', async () => {
  const storage = s3Storage({ ...server, endpoint: 'http://127.0.0.1:9', region: 'r', prefix: '' })
  const fault = await storage.get('x').catch((error) => error)
  expect(fault).toBeInstanceOf(StorageFailure)
  expect(fault).not.toBeInstanceOf(StorageRefusal)
})

describe('a folder', () => {
  it('stores nothing if its disk is full for backups, and leaves nothing behind', async () => {
    const storage = folderStorage({ folder: join(folder, 'full'), keptBytes: 2 ** 60 })
    await expect(storage.put('a/b', bytes)).rejects.toThrow(StorageRefusal)
    await expect(storage.putOnce('a/c', bytes)).rejects.toThrow(/is full/)
    expect(await storage.list('a/')).toEqual([])
  })

  it('stores nothing after the caller has aborted, and leaves nothing behind', async () => {
    const storage = folderStorage({ folder: join(folder, 'given-up') })
    await storage.put('a/b', bytes)
    await expect(storage.put('a/b', Buffer.from('other'), AbortSignal.abort())).rejects.toThrow(StorageFailure)
    expect(String(await storage.get('a/b'))).toBe(String(bytes))
    expect(await readdir(join(folder, 'given-up/a'))).toEqual(['b'])
  })

  it("does not list the rest of a dead writer's file, and fails for a name below a file", async () => {
    const storage = folderStorage({ folder: join(folder, 'left') })
    await storage.put('a/b', bytes)
    await writeFile(join(folder, 'left/a/c.1-0123456789ab.tmp'), 'half')
    expect((await storage.list('a/')).map(({ name }) => name)).toEqual(['a/b'])
    await expect(storage.put('a/b/c', bytes)).rejects.toThrow(StorageFailure)
    expect(await readdir(join(folder, 'left/a'))).toContain('b')
  })
})

describe('temporary files of killed writers', () => {
  it('are removed a day later by a list, and not before, because a writer may be using them', async () => {
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

describe('retries', () => {
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

  it('follow failures of the storage, up to a limit', async () => {
    const fault = () => new StorageFailure('not now')
    const passing = failing([fault(), fault(), fault()])
    await passing.storage.put('a/b', bytes)
    expect(passing.calls()).toBe(4)
    const lasting = failing([fault(), fault(), fault(), fault(), fault()])
    await expect(lasting.storage.put('a/b', bytes)).rejects.toThrow('not now')
    expect(lasting.calls()).toBe(4)
  })

  it('do not follow refusals or errors of the code', async () => {
    for (const fault of [new StorageRefusal('full'), new TypeError('slip')]) {
      const { storage, calls } = failing([fault])
      await expect(storage.put('a/b', bytes)).rejects.toThrow(fault)
      expect(calls()).toBe(1)
    }
  })

  it('give up on a storage that never answers, and abort the request', async () => {
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

  it('end at once when the caller aborts', async () => {
    const base = folderStorage({ folder })
    const silent: Storage = { ...base, list: () => new Promise(() => {}) }
    const stop = new AbortController()
    const listing = retryingStorage(silent).list('x/', stop.signal)
    stop.abort(new Error('enough'))
    await expect(listing).rejects.toThrow('enough')
  })

  it('recognize their own object if the answer to writing it once was lost', async () => {
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
