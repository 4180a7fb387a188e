import { createHash } from 'node:crypto'
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { DiskFull } from '../../site-directories/disk-space.ts'
import { SiteFiles } from '../site-files.ts'
import { type FilePlace, lookAtFile, putFile, removeFile } from './single-file.ts'

const uid = process.getuid?.() === 0 ? 200_123 : null
const bytes = (text: string) => Buffer.from(text)

describe('one file of Stead in a site', () => {
  let siteDirectory: string
  let place: FilePlace
  beforeEach(async () => {
    siteDirectory = await mkdtemp(join(tmpdir(), 'stead-file-'))
    mkdirSync(join(siteDirectory, 'web'))
    place = { siteDirectory, uid, folder: 'wp-content/mu-plugins', name: 'tool.php' }
  })
  afterEach(() => rm(siteDirectory, { recursive: true }))
  const path = () => join(siteDirectory, 'web/wp-content/mu-plugins/tool.php')
  const look = () => lookAtFile(place, 100)

  test('is put in place with its folders, belongs to the site, and leaves no other file', async () => {
    expect(await look()).toEqual({ kind: 'nothing' })
    expect(await putFile(place, bytes('one'), { replaces: false })).toBe(true)
    const sha256 = createHash('sha256').update('one').digest('hex')
    expect(await look()).toEqual({ kind: 'file', sha256, sizeBytes: 3 })
    for (const each of [path(), join(path(), '..')])
      expect(lstatSync(each)).toMatchObject(uid === null ? {} : { uid, gid: uid })
    expect(lstatSync(path()).nlink).toBe(1)
    expect(readdirSync(siteDirectory)).toEqual(['web'])
  })

  test('has a new time for each content, even within a second, because PHP goes by it', async () => {
    const times: number[] = []
    for (const text of ['one', 'two', 'three']) {
      await putFile(place, bytes(text), { replaces: times.length > 0 })
      times.push(Math.floor(lstatSync(path()).mtimeMs / 1000))
    }
    expect(new Set(times).size).toBe(3)
  })

  test('replaces nothing unless requested', async () => {
    await putFile(place, bytes('one'), { replaces: false })
    expect(await putFile(place, bytes('two'), { replaces: false })).toBe(false)
    expect(readFileSync(path(), 'utf8')).toBe('one')
    expect(await putFile(place, bytes('two'), { replaces: true })).toBe(true)
    expect(readFileSync(path(), 'utf8')).toBe('two')
    expect(readdirSync(siteDirectory)).toEqual(['web'])
  })

  test('follows no link, neither of a folder nor of the file', async () => {
    const outside = join(siteDirectory, 'outside')
    mkdirSync(join(outside, 'mu-plugins'), { recursive: true })
    writeFileSync(join(outside, 'mu-plugins/tool.php'), 'theirs')
    symlinkSync(outside, join(siteDirectory, 'web/wp-content'))
    expect(await look()).toEqual({ kind: 'nothing' })
    expect(await putFile(place, bytes('one'), { replaces: true })).toBe(false)
    expect(await removeFile(place)).toBe(false)
    await rm(join(siteDirectory, 'web/wp-content'))
    mkdirSync(join(path(), '..'), { recursive: true })
    symlinkSync(join(outside, 'mu-plugins/tool.php'), path())
    expect(await look()).toEqual({ kind: 'other' })
    expect(await putFile(place, bytes('one'), { replaces: true })).toBe(true)
    expect(readFileSync(join(outside, 'mu-plugins/tool.php'), 'utf8')).toBe('theirs')
  })

  test('is not read when it is too long, or not a file', async () => {
    mkdirSync(join(path(), '..'), { recursive: true })
    writeFileSync(path(), 'x'.repeat(101))
    expect(await look()).toEqual({ kind: 'other' })
    await rm(path())
    mkdirSync(path())
    expect(await look()).toEqual({ kind: 'other' })
  })

  test('is removed once', async () => {
    await putFile(place, bytes('one'), { replaces: false })
    expect([await removeFile(place), await removeFile(place)]).toEqual([true, false])
    expect(existsSync(path())).toBe(false)
  })

  test('needs room on the disk and, if large, within the quota of the site', async () => {
    const directory = { siteId: 1, siteDirectory, uid }
    const quotaOf = async () => ({ bytes: 100_000, files: 1000 })
    const files = new SiteFiles({ quotaOf, keepFreeBytes: 0 })
    await files.checkRoom(directory, 70_000)
    writeFileSync(join(siteDirectory, 'web/much'), 'x'.repeat(90_000))
    await expect(files.checkRoom(directory, 70_000)).rejects.toThrow(DiskFull)
    await files.checkRoom(directory, 1000)
    const nearlyFull = new SiteFiles({ quotaOf, keepFreeBytes: Number.MAX_SAFE_INTEGER })
    await expect(nearlyFull.checkRoom(directory, 1000)).rejects.toThrow(DiskFull)
  })

  test('the remains of a process that died block nothing', async () => {
    writeFileSync(join(siteDirectory, 'laid-file'), 'half')
    expect(await putFile(place, bytes('one'), { replaces: false })).toBe(true)
    expect([readFileSync(path(), 'utf8'), readdirSync(siteDirectory)]).toEqual(['one', ['web']])
  })
})
