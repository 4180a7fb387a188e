/** Stead is lost with all its data, and is restored on an empty machine from its backup storage and one printed key. */
import { cp, mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises'
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
import { type S3Server, s3Server } from '../support/s3-server.ts'
import { prepareStead, type Stead, showOutputOfFailures, startStead, until } from '../support/stead.ts'

const core = await testCore()

/** The text of the printed key. */
async function printedKey({ dataDir }: Stead): Promise<string> {
  const database = await openDatabase({ file: join(dataDir, 'stead.db') })
  const sealer = createSealer((await readMasterKey(masterKeyFile({ dataDir }))) as Buffer)
  const key = printKey(await backupKey(database, sealer, 0))
  await database.close()
  return key
}

/** The same release under another number, for a machine that has no other. */
async function anotherRelease(core: string, folder: string): Promise<string> {
  const other = join(folder, 'other-release')
  await cp(core, other, { recursive: true })
  const file = join(other, 'wp-includes/version.php')
  await writeFile(file, (await readFile(file, 'utf8')).replace(/\$wp_version = '.*'/, "$wp_version = '99.1'"))
  return other
}

const versionOf = async (core: string): Promise<string> =>
  /\$wp_version = '(.*)'/.exec(await readFile(join(core, 'wp-includes/version.php'), 'utf8'))?.[1] as string

describe.skipIf(!core)('Stead on an empty machine, from S3', { timeout: 600_000 }, () => {
  let folder: string
  let storage: S3Server
  let old: Stead
  let restored: Stead
  showOutputOfFailures(() => restored ?? old)
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'stead-lost-'))
    storage = await s3Server()
    old = await startStead({ env: inBucket() })
  })
  afterAll(async () => {
    await old?.remove()
    await restored?.remove()
    await storage?.close()
    await removeTree(folder)
  })
  const inBucket = () => ({
    STEAD_BACKUP_S3_BUCKET: storage.bucket,
    STEAD_BACKUP_S3_ENDPOINT: storage.url,
    STEAD_BACKUP_S3_ACCESS_KEY_ID: storage.credentials.accessKeyId,
    STEAD_BACKUP_S3_SECRET_ACCESS_KEY: storage.credentials.secretAccessKey,
  })

  test('serves every site again, with its content, its data, and its keys', { timeout: 600_000 }, async () => {
    const ids = [await old.createSite({ name: 'first' }), await old.createSite({ name: 'second' })]
    await old.api('POST', `/v1/sites/${ids[0]}/notes`, { subject: 'kept', body: 'a note' })
    await writeFile(join(old.directoryOf('first'), 'web/wp-content/uploads/kept.txt'), 'of the first')
    const made = await old.cli('backup', 'create', '--json')
    expect(made).toMatchObject({ code: 0 })
    expect((await old.cli('backup', 'verify')).stdout).toContain('whole: true')
    expect(await old.stop()).toBe(0)
    const key = await printedKey(old)

    // the sites' release exists only in the backups
    const release = await anotherRelease(core as string, folder)
    restored = await prepareStead({ env: { ...inBucket(), STEAD_CORE_SOURCE: release }, golden: false })
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
    expect((await readdir(join(restored.dataDir, 'cores'))).toSorted()).toContain(await versionOf(core as string))
    // the first account's credentials were restored, and encrypted values can be read
    const { body } = await restored.api('GET', `/v1/sites/${ids[0]}/notes`)
    expect(body.data).toMatchObject([{ subject: 'kept' }])
    // it works as any other: a new site gets a number that none had
    expect(await restored.createSite({ name: 'third' })).toBeGreaterThan(Math.max(...ids))
    expect((await restored.cli('restore', `--key=${key}`)).stderr).toContain('Stead is running')

    // the lost machine turns up, and someone starts it
    await old.start()
    const late = await old.cli('backup', 'create', '--records-only')
    expect([late.code, late.stderr]).toEqual([1, expect.stringContaining('Another copy of this installation')])
    expect((await restored.cli('backup', 'create', '--records-only')).code).toBe(0)
  })
})
