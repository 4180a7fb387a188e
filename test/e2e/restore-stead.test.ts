/** Stead is lost with all that it had, and is put back on an empty machine from the storage of its backups and one printed key. */
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { backupKey } from '../../src/backups/backup-key.store.ts'
import { printKey } from '../../src/backups/printed-key.ts'
import { removeTree } from '../../src/hosting/site-files/remove-tree.ts'
import { masterKeyFile, readMasterKey } from '../../src/platform/crypto/master-key.ts'
import { createSealer } from '../../src/platform/crypto/seal.ts'
import { openDatabase } from '../../src/platform/db/database.ts'
import { testCore } from '../support/core.ts'
import { prepareStead, type Stead, showOutputOfFailures, startStead, until } from '../support/stead.ts'

const core = await testCore()

/** What stands on the paper in the safe. */
async function printedKey({ dataDir }: Stead): Promise<string> {
  const database = await openDatabase({ file: join(dataDir, 'stead.db') })
  const sealer = createSealer((await readMasterKey(masterKeyFile({ dataDir }))) as Buffer)
  const key = printKey(await backupKey(database, sealer, 0))
  await database.close()
  return key
}

describe.skipIf(!core)('Stead on an empty machine', { timeout: 600_000 }, () => {
  let storage: string
  let old: Stead
  let restored: Stead
  showOutputOfFailures(() => restored ?? old)
  beforeAll(async () => {
    storage = await mkdtemp(join(tmpdir(), 'stead-storage-'))
    old = await startStead({ env: { STEAD_BACKUP_DIR: storage } })
  })
  afterAll(async () => {
    await old?.remove()
    await restored?.remove()
    await removeTree(storage)
  })

  test('serves every site again, with its content, its records and its keys', { timeout: 600_000 }, async () => {
    const ids = [await old.createSite({ name: 'first' }), await old.createSite({ name: 'second' })]
    await old.api('POST', `/v1/sites/${ids[0]}/notes`, { subject: 'kept', body: 'a note' })
    await writeFile(join(old.homeOf('first'), 'web/wp-content/uploads/kept.txt'), 'of the first')
    const made = await old.cli('backup', 'create', '--json')
    expect(made).toMatchObject({ code: 0 })
    expect((await old.cli('backup', 'verify')).stdout).toContain('whole: true')
    expect(await old.stop()).toBe(0)
    const key = await printedKey(old)

    restored = await prepareStead({ env: { STEAD_BACKUP_DIR: storage } })
    const put = await restored.cli('restore', `--key=${key}`, '--json')
    expect([put.code, put.stderr]).toEqual([0, expect.stringContaining('Comparing sites, 2 rows')])
    expect(JSON.parse(put.stdout)).toMatchObject({ sites: 2, withoutBackup: [], unknown: [] })
    await restored.start()
    for (const name of ['first', 'second'])
      await until(
        `${name} answers`,
        async () => (await restored.visit(name)).text.includes(`<title>${name}</title>`),
        200_000,
      )
    expect((await restored.visit('first', '/wp-content/uploads/kept.txt')).text).toBe('of the first')
    expect((await restored.visit('second', '/wp-login.php')).text).toContain('user_login')
    // the keys of the first account came along, and what is sealed can be read
    const { body } = await restored.api('GET', `/v1/sites/${ids[0]}/notes`)
    expect(body.data).toMatchObject([{ subject: 'kept' }])
    // and it goes on as any other: a new site has a number that none had
    expect(await restored.createSite({ name: 'third' })).toBeGreaterThan(Math.max(...ids))
    expect((await restored.cli('restore', `--key=${key}`)).stderr).toContain('Stead is running')
  })
})
