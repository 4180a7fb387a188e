import { generateKeyPairSync } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../test/support/api.ts'
import { dialects } from '../../../test/support/database.ts'
import { mailingSite } from '../../hosting/site-mail/mailing-site.store.ts'
import { OperatorError } from '../../platform/operator-error.ts'
import { dkimKey } from './mail.ts'

describe('the DKIM key', () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'stead-dkim-'))
  })
  afterAll(() => rm(folder, { recursive: true }))
  const settings = { dkimDomain: 'example.com', dkimSelector: 'stead' }

  test('is read, and is optional', async () => {
    const dkimKeyFile = join(folder, 'key.pem')
    const pem = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
    await writeFile(dkimKeyFile, pem)
    expect(await dkimKey({ ...settings, dkimKeyFile })).toEqual({
      domainName: 'example.com',
      keySelector: 'stead',
      privateKey: pem,
    })
    expect(await dkimKey({ ...settings, dkimDomain: undefined, dkimKeyFile: undefined })).toBeUndefined()
  })

  test('stops the start when it is unusable', async () => {
    const dkimKeyFile = join(folder, 'none.pem')
    await expect(dkimKey({ ...settings, dkimKeyFile })).rejects.toThrow(OperatorError)
    await writeFile(dkimKeyFile, 'no key')
    await expect(dkimKey({ ...settings, dkimKeyFile })).rejects.toThrow(
      /STEAD_DKIM_KEY_FILE .* does not contain a private key/,
    )
    await expect(dkimKey({ ...settings, dkimKeyFile: undefined })).rejects.toThrow(/together/)
    await expect(dkimKey({ ...settings, dkimDomain: undefined, dkimKeyFile })).rejects.toThrow(/together/)
  })
})

describe.each(dialects.filter(({ skip }) => !skip))('sender names of a site on $dialect', ({ dialect }) => {
  let api: TestApi
  let owner: Person
  beforeAll(async () => {
    api = await testApi(dialect)
    owner = await api.person('owner@example.com')
  })
  afterAll(() => api.close())

  test('are its own address first, then all names that lead to it, and no others', async () => {
    const [site, other] = [await api.site(owner, 'shop'), await api.site(owner, 'other')]
    await api.database.transaction(async (tx) => {
      const names = [
        ['WWW.Shop.example', site],
        ['shop.example', site],
        ['other.example', other],
      ] as const
      for (const [host_name, site_id] of names)
        await tx.insertInto('routes').values({ host_name: host_name.toLowerCase(), site_id, changed_at: 1 }).execute()
      await tx.updateTable('sites').set({ written_address: 'www.shop.test:8081' }).where('id', '=', site).execute()
      await tx.updateTable('sites').set({ written_address: null }).where('id', '=', other).execute()
    })
    const known = await mailingSite(api.database.read, site)
    expect(known).toMatchObject({ siteId: site, isProduction: true })
    expect(known?.names[0]).toBe('shop.test')
    expect(known?.names).toContain('shop.example')
    expect(known?.names).not.toContain('other.example')
    expect(await mailingSite(api.database.read, other)).toBeUndefined()
    await api.database.transaction((tx) =>
      tx.updateTable('sites').set({ environment_type: 'staging' }).where('id', '=', site).execute(),
    )
    expect(await mailingSite(api.database.read, site)).toMatchObject({ isProduction: false })
    await api.database.transaction((tx) =>
      tx.updateTable('sites').set({ deleted_at: 1 }).where('id', '=', site).execute(),
    )
    expect(await mailingSite(api.database.read, site)).toBeUndefined()
  })
})
