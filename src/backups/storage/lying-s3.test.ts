/** Tests against an S3 service that violates its protocol. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { type S3Server, s3Server } from '../../../test/support/s3-server.ts'
import { testBackups } from '../backup-store.fixture.ts'
import { StorageFailure } from '../backup-store.ts'
import { contentsOf, hashes, noise, source } from '../trees.fixture.ts'
import { s3Storage } from './s3-storage.ts'
import type { Storage } from './storage.ts'

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

type Answer = (request: IncomingMessage, response: ServerResponse) => unknown

async function service(answer: Answer, more: { readonly mostListed?: number } = {}): Promise<Storage> {
  const server: Server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  closing.push(async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  })
  const credentials = { accessKeyId: 'a', secretAccessKey: 'b' }
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return s3Storage({ bucket: 'backups', prefix: '', endpoint, region: 'us-east-1', credentials, ...more })
}

const listOf = (keys: readonly string[]) =>
  `<?xml version="1.0"?><ListBucketResult><IsTruncated>true</IsTruncated>${keys
    .map((key) => `<Contents><Key>${key}</Key><Size>1</Size></Contents>`)
    .join('')}</ListBucketResult>`

/** Sends as long as the client reads. */
function withoutEnd(response: ServerResponse): void {
  const piece = Buffer.alloc(1 << 20, ' ')
  const send = () => {
    while (!response.destroyed && response.write(piece));
  }
  response.on('drain', send)
  send()
}

it('gives up a list that always has another page', async () => {
  let pages = 0
  const answer: Answer = (_, response) => {
    pages += 1
    response.end(listOf([`site-1/packs/${String(pages).padStart(9, '0')}`]))
  }
  const storage = await service(answer, { mostListed: 3 })
  await expect(storage.list('site-1/')).rejects.toThrow('it lists more than 3 objects')
  expect(pages).toBe(4)
})

describe('fails for', () => {
  it.each<{ lie: string; answer: Answer; ask: (storage: Storage) => Promise<unknown>; says: RegExp }>([
    {
      lie: 'a list that begins again and again',
      answer: (_, response) => response.end(listOf(['site-1/packs/a', 'site-1/packs/b'])),
      ask: (storage) => storage.list('site-1/'),
      says: /its list does not end/,
    },
    {
      lie: 'a list of folders that begins again and again',
      answer: (_, response) => response.end(listOf(['site-1/packs/a'])),
      ask: (storage) => storage.folders(),
      says: /its list does not end/,
    },
    {
      lie: 'a list of what was not asked for',
      answer: (_, response) => response.end(listOf(['other/a'])),
      ask: (storage) => storage.list('site-1/'),
      says: /what is not in site-1/,
    },
    {
      lie: 'a page of a list that does not end',
      answer: (_, response) => withoutEnd(response),
      ask: (storage) => storage.list('site-1/'),
      says: /more than 16777216 bytes/,
    },
    {
      lie: 'an object that does not end',
      answer: (_, response) => withoutEnd(response),
      ask: (storage) => storage.get('site-1/packs/a', { start: 0, length: 1 }),
      says: /more than 67108864 bytes/,
    },
    {
      lie: 'an object that breaks off before its end',
      answer: (_, response) => {
        response.writeHead(200, { 'content-length': 10 }).write('12345', () => response.destroy())
      },
      ask: (storage) => storage.get('site-1/packs/a'),
      says: /./,
    },
    {
      lie: 'another part than was asked for',
      answer: (_, response) => response.writeHead(206, { 'content-range': 'bytes 0-1/10' }).end('12'),
      ask: (storage) => storage.get('site-1/packs/a', { start: 5, length: 2 }),
      says: /asked for bytes=5-6, it sends bytes 0-1/,
    },
  ])('$lie', async ({ answer, ask, says }) => {
    const fault: Error = await ask(await service(answer)).then(
      () => new Error('it was taken'),
      (error) => error,
    )
    expect(fault).toBeInstanceOf(StorageFailure)
    expect(fault.message).toMatch(says)
  })

  it('a head that is not XML', async () => {
    const storage = await service((_, response) => response.end('<html>sign in</html>'))
    // It lists nothing, so nothing is reused.
    await expect(storage.list('site-1/')).resolves.toEqual([])
  })
})

describe('a backup', () => {
  const files = { 'one.jpg': noise(400_000, 1), 'two.jpg': noise(400_000, 2) }

  /** Starts a correct service, which a test makes faulty. */
  async function stand(lie: (storage: Storage) => Partial<Storage>) {
    const server: S3Server = await s3Server()
    closing.push(() => server.close())
    const base = s3Storage({ ...server, endpoint: server.url, region: 'us-east-1', prefix: '' })
    const lying = await testBackups({ around: () => ({ ...base, ...lie(base) }) })
    const honest = await testBackups({ around: () => base })
    return { base, lying: lying.backups.repository('site-1'), honest: honest.backups.repository('site-1') }
  }
  const write = async (repository: Awaited<ReturnType<typeof stand>>['lying'], name: string) => {
    const readBack = new Set<string>()
    await repository.writeTree(source(files), { name, readBack })
    await repository.verify(name, { only: 'added', readBack })
  }

  it.each<{ lie: string; of: (name: string) => boolean }>([
    { lie: 'packs', of: (name) => name.includes('/packs/') },
    { lie: 'the backup itself', of: (name) => name.includes('/backups/') },
  ])('is never complete if the service reports $lie as stored although it is not', async ({ of }) => {
    const { lying, honest } = await stand((base) => ({
      put: async (name, ...rest) => (of(name) ? undefined : base.put(name, ...rest)),
      putOnce: async (name, ...rest) => (of(name) ? true : base.putOnce(name, ...rest)),
    }))
    await expect(write(lying, 'b1')).rejects.toThrow()
    await write(honest, 'b1')
    expect(await contentsOf(honest, 'b1')).toEqual(hashes(files))
  })

  it('reuses nothing that an outdated list names although it is gone', async () => {
    let old: Awaited<ReturnType<Storage['list']>> | undefined
    const { lying, honest, base } = await stand((real) => ({
      list: async (folder, signal) => (folder.endsWith('/packs/') && old) || real.list(folder, signal),
      get: async (name, ...rest) => {
        if (old && name.includes('/packs/') && old.some((each) => each.name === name)) return undefined
        return real.get(name, ...rest)
      },
    }))
    await write(honest, 'b1')
    old = await base.list('site-1/packs/')
    // The list also lacks the packs that are written now.
    await expect(write(lying, 'b2')).rejects.toThrow()
    old = undefined
    await write(honest, 'b3')
    expect(await contentsOf(honest, 'b3')).toEqual(hashes(files))
  })
})
