import { once } from 'node:events'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { testBudgets } from '../../web-server/test-support.ts'
import { PhpBodyTooLarge, PhpBusy } from '../runtime.ts'
import { type HeldRequestBody, holdRequestBody } from './held-body.ts'

const KB = 1024
const MB = 1 << 20
const mostBytes = 8 * MB

let folder: string
let budgets: ReturnType<typeof testBudgets>
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stead-body-'))
  budgets = testBudgets({
    bodies: { each: 3, all: 6 },
    bodiesOfAddress: { each: 4, all: 6 },
    bodyMemory: { each: 100 * KB, all: 200 * KB },
    bodyDisk: { each: 10 * MB, all: 12 * MB },
    bodyDiskOfAddress: { each: 9 * MB, all: 12 * MB },
  })
})
afterEach(() => rm(folder, { recursive: true }))

const used = () => {
  const { bodies, bodiesOfAddress, bodyMemory, bodyDisk, bodyDiskOfAddress } = budgets
  return [bodies, bodiesOfAddress, bodyMemory, bodyDisk, bodyDiskOfAddress].map((budget) => budget.used)
}
const nothing = [0, 0, 0, 0, 0]

interface Sender {
  stream?: AsyncIterable<Buffer>
  announcedBytes?: number | undefined
  siteId?: number
  address?: string
}
const hold = ({ stream = new PassThrough(), announcedBytes, siteId = 1, address = '192.0.2.1' }: Sender) =>
  holdRequestBody({ stream, announcedBytes, siteId, address }, { mostBytes, folder, budgets })
/** Sends a body that never ends. */
const unfinished = (sender: Sender) => {
  const stream = new PassThrough()
  const held = hold({ ...sender, stream })
  held.catch(() => {})
  return { stream, held, end: () => stream.destroy(new Error('gone')) }
}
const bytes = (length: number) => Buffer.alloc(length, 'abcdefg')

describe('a request body', () => {
  it.each([
    ['in memory', 60 * KB],
    ['in a file', 3 * MB],
  ])('is returned unchanged %s, announced or not, in chunks of any size', async (_where, length) => {
    const body = bytes(length)
    for (const announcedBytes of [length, undefined])
      for (const size of [length, 1000]) {
        const pieces = Array.from({ length: Math.ceil(length / size) }, (_, i) =>
          body.subarray(i * size, (i + 1) * size),
        )
        const held = await hold({ stream: Readable.from(pieces), announcedBytes })
        expect(held.bytes).toBe(length)
        expect((await buffer(held.read())).equals(body)).toBe(true)
        expect(await readdir(folder)).toEqual([])
        await held.release()
        expect(used()).toEqual(nothing)
      }
  })

  it('counts with its announced length before any of it arrives', async () => {
    const large = unfinished({ announcedBytes: 7 * MB })
    expect(used()).toEqual([1, 1, 0, 7 * MB, 7 * MB])
    const other = unfinished({ announcedBytes: 4 * MB, address: '192.0.2.2' })
    await expect(other.held).rejects.toThrow(PhpBusy)
    expect(other.stream.readableFlowing).not.toBe(true)
    expect(used()).toEqual([1, 1, 0, 7 * MB, 7 * MB])
    // The same visitor has little left on another site, but other visitors do not.
    await expect(hold({ announcedBytes: 3 * MB, siteId: 2 })).rejects.toThrow(PhpBusy)
    const fine = unfinished({ announcedBytes: 3 * MB, siteId: 2, address: '192.0.2.2' })
    expect(used()).toEqual([2, 2, 0, 10 * MB, 10 * MB])
    for (const each of [large, fine]) each.end()
    await vi.waitFor(() => expect(used()).toEqual(nothing), 60_000)
  })

  it('is rejected without a length as soon as it is too long, and returns all its budget', async () => {
    await expect(hold({ stream: Readable.from([bytes(5 * MB), bytes(4 * MB)]) })).rejects.toThrow(PhpBodyTooLarge)
    const large = unfinished({ announcedBytes: 7 * MB })
    await expect(hold({ stream: Readable.from([bytes(4 * MB)]), address: '192.0.2.2' })).rejects.toThrow(PhpBusy)
    expect(used()).toEqual([1, 1, 0, 7 * MB, 7 * MB])
    await expect(hold({ announcedBytes: mostBytes + 1, siteId: 2 })).rejects.toThrow(PhpBodyTooLarge)
    large.end()
    await vi.waitFor(() => expect(used()).toEqual(nothing), 60_000)
  })

  it('goes into a file when memory is short', async () => {
    const first = unfinished({ announcedBytes: 60 * KB })
    const second = unfinished({ announcedBytes: 60 * KB })
    expect(used()).toEqual([2, 2, 60 * KB, 60 * KB, 60 * KB])
    second.stream.end(bytes(60 * KB))
    const held = (await second.held) as HeldRequestBody
    expect((await buffer(held.read())).equals(bytes(60 * KB))).toBe(true)
    await held.release()
    first.end()
    await vi.waitFor(() => expect(used()).toEqual(nothing), 60_000)
  })

  it('counts towards a limit per site, and per visitor by the /64 of their address', async () => {
    const all = [1, 2, 3].map((n) => unfinished({ announcedBytes: 10, address: `2001:db8:0:${n}::1` }))
    await expect(hold({ announcedBytes: 10, address: '192.0.2.9' })).rejects.toThrow(PhpBusy)
    const same = [1, 2, 3].map((n) => unfinished({ announcedBytes: 10, siteId: 2, address: `2001:db8::${n}` }))
    for (const { end } of all) end()
    await vi.waitFor(() => expect(budgets.bodies.usedBy(1)).toBe(0), 60_000)
    const fourth = unfinished({ announcedBytes: 10, siteId: 3, address: '2001:db8::9' })
    await expect(hold({ announcedBytes: 10, siteId: 3, address: '2001:db8::10' })).rejects.toThrow(PhpBusy)
    for (const { end } of [...same, fourth]) end()
    await vi.waitFor(() => expect(used()).toEqual(nothing), 60_000)
  })

  it('leaves nothing behind when it breaks off', async () => {
    const body = unfinished({ announcedBytes: 5 * MB })
    body.stream.write(bytes(MB))
    await once(body.stream, 'drain')
    body.end()
    await expect(body.held).rejects.toThrow('gone')
    expect(used()).toEqual(nothing)
  })
})
