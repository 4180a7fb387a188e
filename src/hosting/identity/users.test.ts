import { chownSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { folderFacts } from './folder.ts'
import { takeUsers, USERS } from './users.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'stead-users-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

describe('users of a data folder', () => {
  test('a new folder gets a range that no running Stead has', async () => {
    const one = await takeUsers(null, folder, () => 7)
    const other = await takeUsers(null, folder, () => 7)
    expect(other.first).toBe(one.first + USERS)
    one.release()
    other.release()
  })

  test('a new folder gets the range of a stopped Stead only when all others were taken later', async () => {
    const stopped = await takeUsers(null, folder, () => 7)
    stopped.release()
    const later = []
    for (let n = 0; n < 255; n++) {
      const taken = await takeUsers(null, folder, () => 7)
      taken.release()
      later.push(taken.first)
      const lock = join(folder, `users-${taken.first}.lock`)
      utimesSync(lock, 1_800_000_000 + n, 1_800_000_000 + n)
    }
    expect(later).not.toContain(stopped.first)
    expect(new Set(later).size).toBe(255)
    utimesSync(join(folder, `users-${stopped.first}.lock`), 1_700_000_000, 1_700_000_000)
    const next = await takeUsers(null, folder, () => 9)
    expect(next.first).toBe(stopped.first)
    next.release()
  })

  test('ranges are between those of containers and 2³¹', async () => {
    const lowest = await takeUsers(null, folder, () => 0)
    const highest = await takeUsers(null, folder, (below) => below - 1)
    expect(lowest.first).toBe(1_879_048_192)
    expect(highest.first + USERS).toBeLessThanOrEqual(2 ** 31)
    lowest.release()
    highest.release()
  })

  test('a folder keeps its own range, and is refused while another Stead has it', async () => {
    const held = await takeUsers(300_000, folder)
    expect(held.first).toBe(300_000)
    const refused = await takeUsers(300_000, folder).catch((error: Error) => error.message)
    expect(refused).toMatch(/uses the users 300000 to 1348575 .* one of the folders is a copy/)
    held.release()
    const again = await takeUsers(300_000, folder)
    expect(again.first).toBe(300_000)
    again.release()
  })

  test('no lock is taken when site directories get no users', async () => {
    const one = await takeUsers(300_000, undefined)
    expect((await takeUsers(300_000, undefined)).first).toBe(one.first)
  })
})

describe('users of a folder that does not record them', () => {
  const identity = { installation: 'inst', host: 'me', epoch: 1, lastHome: 9 }

  test.runIf(process.getuid?.() === 0)('come from the owners of its site directories', async () => {
    writeFileSync(join(folder, 'identity.json'), JSON.stringify(identity))
    for (const [name, owner] of [
      ['h4', 0],
      ['h7', 200_007],
      ['odd', 5],
    ] as const) {
      mkdirSync(join(folder, 'sites', name, 'web'), { recursive: true })
      chownSync(join(folder, 'sites', name, 'web'), owner, owner)
    }
    expect(await folderFacts(folder)).toMatchObject({ firstUser: 200_000, identity: { firstUser: null } })
  })

  test('are unknown without site directories', async () => {
    writeFileSync(join(folder, 'identity.json'), JSON.stringify(identity))
    expect(await folderFacts(folder)).toMatchObject({ firstUser: null })
  })

  test('come first from the folder, if it records them', async () => {
    writeFileSync(join(folder, 'identity.json'), JSON.stringify({ ...identity, firstUser: 300_000 }))
    expect(await folderFacts(folder)).toMatchObject({ firstUser: 300_000 })
    writeFileSync(join(folder, 'identity.json'), JSON.stringify({ ...identity, firstUser: 'many' }))
    await expect(folderFacts(folder)).rejects.toThrow('is invalid')
  })
})
