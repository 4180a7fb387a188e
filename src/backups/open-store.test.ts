import { randomBytes } from 'node:crypto'
import { afterEach, describe, expect, it } from 'vitest'
import { dialects, testDatabase } from '../../test/support/database.ts'
import { createSealer } from '../platform/crypto/seal.ts'
import { OperatorError } from '../platform/operator-error.ts'
import { backupKey, replaceBackupKey } from './backup-key.store.ts'
import { type TestBackups, testBackups } from './backup-store.fixture.ts'
import { keyOfStorage, openStore, openStoreWithKey, sealStorageAnew } from './open-store.ts'
import { parsePrintedKey, printKey } from './printed-key.ts'
import { LeasedByAnother, takeLeaseOver } from './repository-lease.ts'
import { all, pieces } from './trees.fixture.ts'

const opened: TestBackups[] = []
afterEach(async () => {
  for (const each of opened.splice(0)) await each.close()
})
async function stand(): Promise<TestBackups> {
  const made = await testBackups()
  opened.push(made)
  return made
}

const sealer = (byte = 1) => createSealer(Buffer.alloc(32, byte))
const key = Buffer.alloc(32, 2)
const content = Buffer.from('content')
async function* none(): AsyncGenerator<never> {}
const write = ({ backups }: Pick<TestBackups, 'backups'>) =>
  backups.repository('site-1').writeStream(pieces(content), { name: 'b1' })

describe('the printed key', () => {
  it('is readable as it is printed and as people type it', () => {
    const random = randomBytes(32)
    const printed = printKey(random)
    expect(printed).toMatch(/^([0-9A-Z]{4}-){14}[0-9A-Z]{2}$/)
    expect(parsePrintedKey(printed)).toEqual(random)
    const typed = printed.toLowerCase().replaceAll('-', ' ').replaceAll('0', 'o').replaceAll('1', 'l')
    expect(parsePrintedKey(` ${typed}\n`)).toEqual(random)
  })

  it('is refused with a typing error', () => {
    const printed = printKey(randomBytes(32))
    for (const at of [0, 20, 40, 60]) {
      const slip = printed[at] === 'A' ? 'B' : 'A'
      expect(() => parsePrintedKey(printed.slice(0, at) + slip + printed.slice(at + 1))).toThrow(
        /at least one letter is wrong/,
      )
    }
    expect(() => parsePrintedKey(printed.slice(1))).toThrow(/has 58 letters and digits, but this one has 57/)
    expect(() => parsePrintedKey(`U${printed.slice(1)}`)).toThrow(/except U/)
  })
})

describe('a storage', () => {
  it('is readable with its master key, and with only its printed key', async () => {
    const own = await stand()
    await write(own)
    expect(await keyOfStorage(own.storage, sealer())).toEqual(key)
    const withKey = openStoreWithKey(own.storage, parsePrintedKey(printKey(key)), sealer(9))
    expect(await all(withKey.repository('site-1').readStream('b1'))).toEqual(content)
  })

  it('of another installation is refused for reading and writing, and stays unchanged', async () => {
    const own = await stand()
    await write(own)
    const before = await own.storage.list('')
    const other = openStore({ storage: own.storage, sealer: sealer(), key: async () => Buffer.alloc(32, 3) })
    await expect(write({ backups: other })).rejects.toThrow(OperatorError)
    await expect(other.repository('site-1').list()).rejects.toThrow(/another installation/)
    await expect(other.removeOwner('site-1')).rejects.toThrow(/another installation/)
    await expect(keyOfStorage(own.storage, sealer(9))).rejects.toThrow(/another master key/)
    expect(await own.storage.list('')).toEqual(before)
  })

  it('of another copy of the installation is readable, and changeable by the holder of its lease', async () => {
    const lost = await stand()
    await write(lost)
    await write(lost)
    const restored = await testBackups({ folder: lost.folder, holder: 'restored', now: () => 86_400_000 })
    const before = await lost.storage.list('')
    const changes = ({ backups }: TestBackups) => [
      () => backups.repository('site-1').writeStream(pieces(content), { name: 'b2' }),
      () => backups.repository('site-1').writeTree(none(), { name: 'b3' }),
      () => backups.repository('site-1').remove('b1'),
      () => backups.repository('site-1').sweep(),
      () => backups.removeOwner('site-2'),
    ]
    for (const change of changes(restored)) await expect(change()).rejects.toThrow(LeasedByAnother)
    expect(await lost.storage.list('')).toEqual(before)
    expect(await all(restored.backups.repository('site-1').readStream('b1'))).toEqual(content)

    await takeLeaseOver(lost.storage, 'restored', 86_400_000)
    for (const change of changes(lost)) await expect(change()).rejects.toThrow(/since 1970-01-02T00:00:00.*take-over/)
    for (const change of changes(restored)) await change()
    expect((await lost.backups.repository('site-1').list()).map(({ name }) => name)).toEqual(['b2', 'b3'])
  })

  it('that was opened with only its key is read-only', async () => {
    const own = await stand()
    await write(own)
    const withKey = openStoreWithKey(own.storage, key, sealer())
    await expect(withKey.repository('site-1').remove('b1')).rejects.toThrow(/read-only/)
    await expect(write({ backups: withKey })).rejects.toThrow(/read-only/)
  })

  it('whose holder is unreadable cannot be changed until an operator takes it over', async () => {
    const own = await stand()
    await write(own)
    await own.storage.put('stead-holder.json', Buffer.from('{'))
    await expect(own.backups.repository('site-1').remove('b1')).rejects.toThrow(/take-over/)
    await takeLeaseOver(own.storage, 'test', 1)
    await own.backups.repository('site-1').remove('b1')
    expect(await own.backups.repository('site-1').list()).toEqual([])
  })

  it('that is empty has no key, and reading it writes nothing', async () => {
    const own = await stand()
    expect(await keyOfStorage(own.storage, sealer())).toBeUndefined()
    expect(await own.backups.repository('site-1').list()).toEqual([])
    expect(await own.storage.list('')).toEqual([])
  })

  it('can be sealed under another master key only with its printed key', async () => {
    const own = await stand()
    await write(own)
    await expect(sealStorageAnew(own.storage, sealer(9), Buffer.alloc(32, 3))).rejects.toThrow(
      /does not open the backups/,
    )
    await sealStorageAnew(own.storage, sealer(9), key)
    expect(await keyOfStorage(own.storage, sealer(9))).toEqual(key)
  })
})

it.each(['', '.', '..', 'a/b', '-x', 'A'])('refuses %j as an owner', async (owner) => {
  expect(() => testBackupsOf(owner)).toThrow(/not an owner/)
})
const testBackupsOf = (owner: string) => openStoreWithKey({} as never, key, sealer()).repository(owner)

describe.each(dialects)('the key in the control database, on $dialect', ({ dialect, skip }) => {
  it.skipIf(skip)(
    'is created once, and read by all; under another master key it is refused until it is entered',
    async () => {
      const { database, drop } = await testDatabase(dialect)
      try {
        const [one, other] = await Promise.all([backupKey(database, sealer(), 1), backupKey(database, sealer(), 1)])
        expect(one).toEqual(other)
        await expect(backupKey(database, sealer(9), 1)).rejects.toThrow(/stead backup accept-key/)
        await database.transaction((tx) => replaceBackupKey(tx, sealer(9), one, 2))
        expect(await backupKey(database, sealer(9), 3)).toEqual(one)
      } finally {
        await drop()
      }
    },
  )
})
