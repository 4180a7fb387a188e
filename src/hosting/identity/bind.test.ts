import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { postgresUrl, type TestDatabase, testDatabase } from '../../../test/support/database.ts'
import { registerHost } from '../host.store.ts'
import { bindFolder } from './bind.ts'
import { identifyInstallation } from './identity.store.ts'

// A database in a file belongs to one host, whatever its folder is.
describe.skipIf(!postgresUrl)('a host', () => {
  let made: TestDatabase
  const folders: string[] = []
  beforeEach(async () => {
    made = await testDatabase('postgres')
    await made.database.transaction((tx) => identifyInstallation(tx, 'an installation', 1))
  })
  afterEach(async () => {
    await made.drop()
    for (const folder of folders.splice(0)) await rm(folder, { recursive: true })
  })

  async function newFolder(): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'stead-bind-'))
    folders.push(folder)
    return folder
  }

  /** Starts the host of a folder once. @returns its name */
  async function started(folder: string, newName?: string): Promise<string> {
    const { database } = made
    const { name, identity, releaseUsers } = await bindFolder(folder, { database, where: '', newName }, Date.now())
    releaseUsers()
    const { host, epoch } = identity.current
    const about = { name, address: '', datacenters: '', identity: host, epoch, maxSites: 9 }
    await database.transaction((tx) => registerHost(tx, about))
    // As if it had ended, because a host that reports refuses a copy of its folder.
    await database.transaction((tx) => tx.updateTable('hosts').set({ seen_at: 1 }).execute())
    return name
  }

  test('a new host has the name of its setting, or a random one, and keeps it', async () => {
    const [named, unnamed] = [await newFolder(), await newFolder()]
    expect(await started(named, 'h1')).toBe('h1')
    expect(await started(named, 'other')).toBe('h1')
    expect(await started(unnamed)).toMatch(/^host-[0-9a-f]{12}$/)
  })

  test('a host that joined has the name of its token', async () => {
    const folder = await newFolder()
    await writeFile(join(folder, 'host-name'), 'joined')
    expect(await started(folder, 'h1')).toBe('joined')
  })

  test('a new host with the name of another one is refused, and can start with another name', async () => {
    expect(await started(await newFolder(), 'h1')).toBe('h1')
    const folder = await newFolder()
    await expect(started(folder, 'h1')).rejects.toThrow('Another host is named h1. Choose another name')
    expect(await started(folder, 'h2')).toBe('h2')
  })
})
