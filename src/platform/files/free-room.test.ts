import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, statfs, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { noLog } from '../log/log.ts'
import { whileRoom } from '../log-store/while-room.ts'
import { DiskReserve, giveUpReserve, isWritable } from './free-room.ts'

const run = promisify(execFile)
const MB = 1 << 20
let folder = ''
const mount = async () => {
  folder = await mkdtemp(join(tmpdir(), 'stead-room-'))
  return run('mount', ['-t', 'tmpfs', '-o', 'size=100m', 'tmpfs', folder]).then(
    () => true,
    () => false,
  )
}
const mayMount = process.getuid?.() === 0 && (await mount())
if (mayMount) await run('umount', [folder]).then(() => rm(folder, { recursive: true }))

/** Fills the disk up to a remaining size. */
async function fillTo(leftBytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder)
  const handle = join(folder, `filler-${Math.random()}`)
  await writeFile(handle, Buffer.alloc(bavail * bsize - leftBytes))
}

describe.skipIf(!mayMount)('a disk that fills', () => {
  beforeAll(mount)
  afterAll(async () => {
    await run('umount', ['-l', folder])
    await rm(folder, { recursive: true })
  })

  test('stops sites, then recording, then gives up the reserve for SQLite, and restores it when space returns', async () => {
    const reserve = new DiskReserve({ folder, bytes: 8 * MB, log: noLog })
    const file = join(folder, 'reserve')
    const database = new DatabaseSync(join(folder, 'stead.db'))
    database.exec('pragma journal_mode = wal; create table t (v)')
    const stored: unknown[] = []
    const store = whileRoom(
      {
        append: async (_kind, records) => void stored.push(...records),
        page: async () => [],
        count: async () => 0,
        maintain: async () => {},
        close: async () => {},
      },
      reserve.room,
    )
    const record = { siteId: 1, atMs: 1, id: 1, facet: 0, key: '', body: '' }
    await reserve.look()
    expect([existsSync(file), reserve.room.state]).toEqual([true, 'ok'])
    expect((await run('du', ['-k', file])).stdout).toMatch(/^8192\t/)

    await fillTo(14 * MB)
    await reserve.look()
    expect([existsSync(file), reserve.room.state]).toEqual([true, 'sites'])
    await store.append('server', [record])

    await fillTo(10 * MB)
    await reserve.look()
    expect([existsSync(file), reserve.room.state]).toEqual([true, 'records'])
    await expect(store.append('server', [record])).rejects.toMatchObject({ name: 'DiskLow', code: 'ENOSPC' })
    expect(stored).toHaveLength(1)

    await fillTo(0)
    expect(() => database.exec('insert into t values (randomblob(1000000))')).toThrow(/full/)
    await reserve.look()
    expect([existsSync(file), reserve.room.state]).toEqual([false, 'records'])
    database.exec('insert into t values (randomblob(1000000))')
    // The same happens before a start opens anything.
    await writeFile(file, Buffer.alloc(8192))
    await fillTo(0)
    expect([await giveUpReserve(folder), existsSync(file)]).toEqual([true, false])
    expect(await giveUpReserve(folder)).toBe(false)
    // Sites get none of its space.
    await reserve.look()
    expect([existsSync(file), reserve.room.hasRoomForRecords]).toEqual([false, false])

    await run('sh', ['-c', 'rm filler-*'], { cwd: folder })
    await reserve.look()
    expect([existsSync(file), reserve.room.state]).toEqual([true, 'ok'])
    await writeFile(file, Buffer.alloc(8 * MB))
    expect([await giveUpReserve(folder), existsSync(file)]).toEqual([false, true])
    expect(await isWritable(folder)).toBe(true)
    database.close()
    await run('mount', ['-o', 'remount,ro', folder])
    expect(await isWritable(folder)).toBe(false)
  })
})
