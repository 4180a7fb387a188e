/** The jail without clients. `sftp-server.test.ts` tests it with real ones. */
import { chownSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { DiskFull } from '../site-directories/disk-space.ts'
import { Jail, type OpenWish } from './jail.ts'

const isRoot = process.getuid?.() === 0
const uid = isRoot ? 54_321 : null
const NOTHING: OpenWish = { read: false, write: false, append: false, create: false, truncate: false, exclusive: false }

let root: string
let jail: Jail
const take = vi.fn<(bytes: number, entries?: number) => Promise<void>>()
beforeEach(() => {
  vi.resetAllMocks()
  root = mkdtempSync(join(tmpdir(), 'stead-jail-'))
  put('own', 'own')
  if (uid !== null) chownSync(root, uid, uid)
  jail = new Jail({ root, corePath: root, uid, room: { take } })
})
afterEach(() => rmSync(root, { recursive: true }))

/** Writes a file that belongs to the site. */
function put(name: string, text: string): void {
  writeFileSync(join(root, name), text)
  if (uid !== null) chownSync(join(root, name), uid, uid)
}
const modeOf = (name: string) => lstatSync(join(root, name)).mode & 0o7777

test('does not open an existing file for a client that requires a new one', async () => {
  await expect(jail.openFile('own', { ...NOTHING, write: true, create: true, exclusive: true })).rejects.toThrow(
    'This name is already taken',
  )
})

test.skipIf(!isRoot)('keeps the mode of others’ files, both by path and when open', async () => {
  writeFileSync(join(root, 'roots'), 'roots', { mode: 0o644 })
  await expect(jail.change('roots', { mode: 0o600 })).rejects.toThrow('Permission denied')
  const file = await jail.openFile('roots', { ...NOTHING, read: true })
  await expect(jail.changeOpen(file, { mode: 0o600 })).rejects.toThrow('Permission denied')
  await file.close()
  expect(modeOf('roots')).toBe(0o644)
})

test('limits modes to 0755, both by path and when open', async () => {
  await jail.change('own', { mode: 0o4777 })
  expect(modeOf('own')).toBe(0o755)
  await jail.change('own', { mode: 0o600 })
  const file = await jail.openFile('own', { ...NOTHING, read: true, write: true })
  await jail.changeOpen(file, { mode: 0o6777 })
  await file.close()
  expect(modeOf('own')).toBe(0o755)
})

test('counts space for folders and for files that grow, and creates nothing without space', async () => {
  await jail.makeFolder('d')
  expect(take.mock.calls).toEqual([[0, 1]])
  await jail.change('own', { size: 1003 })
  expect(take.mock.calls[1]).toEqual([1000])
  take.mockRejectedValue(new DiskFull('full'))
  await expect(jail.makeFolder('e')).rejects.toThrow('full')
  await expect(jail.change('own', { size: 5000 })).rejects.toThrow('full')
  expect([readdirSync(root).sort(), lstatSync(join(root, 'own')).size]).toEqual([['d', 'own'], 1003])
})

test('does not list a name that is not UTF-8, because nobody could request it', async () => {
  mkdirSync(Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0x66, 0xff])]))
  const folder = await jail.openFolder('')
  const listed = (await folder.next()).map(({ name }) => name)
  await folder.close()
  expect([readdirSync(root).length, listed]).toEqual([2, ['own']])
})
