/** The main task with all data in PostgreSQL. */
import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testCore } from '../support/core.ts'
import { type CuttingProxy, openCuttingProxy } from '../support/cutting-proxy.ts'
import { postgresUrl, type TestDatabase, testDatabase } from '../support/database.ts'
import { prepareStead, type Stead, showOutputOfFailures, startStead, until } from '../support/stead.ts'
import { Browser } from '../support/visit.ts'

const core = await testCore()

describe.skipIf(!core || !postgresUrl)('the main job on PostgreSQL', () => {
  let records: TestDatabase
  let stead: Stead
  showOutputOfFailures(() => stead)
  beforeAll(async () => {
    records = await testDatabase('postgres')
    stead = await startStead({
      env: { STEAD_DATABASE_URL: records.connection.url as string, STEAD_TRASH_DAYS: '0', STEAD_PREPARED_SITES: '0' },
    })
  })
  afterAll(async () => {
    await stead?.remove()
    await records?.drop()
  })

  test('creates, serves, disables, enables, restarts, and deletes a site without a trace', async () => {
    const id = await stead.createSite({ name: 'on-postgres' })
    expect(existsSync(join(stead.dataDir, 'stead.db'))).toBe(false)
    expect((await stead.visit('on-postgres')).text).toContain('<title>on-postgres</title>')

    const { data: password } = (await stead.api('PUT', `/v1/sites/${id}/cms/password-reset`)).body
    const browser = new Browser((path, options) => stead.visit('on-postgres', path, options))
    expect((await browser.logIn('admin', password)).text).toContain('id="wpadminbar"')
    const post = await browser.open('/wp-json/wp/v2/posts', {
      method: 'POST',
      body: JSON.stringify({ title: 'Kept elsewhere', status: 'publish' }),
      headers: { 'x-wp-nonce': await browser.restNonce(), 'content-type': 'application/json' },
    })
    expect(post.status).toBe(201)

    const answers = (status: number) =>
      until(`visitors get ${status}`, async () => (await stead.visit('on-postgres')).status === status)
    expect((await stead.api('PUT', `/v1/sites/${id}/disable`)).status).toBe(200)
    await answers(480)
    expect((await stead.api('PUT', `/v1/sites/${id}/enable`)).status).toBe(200)
    await answers(200)

    await stead.restart()
    expect((await stead.visit('on-postgres')).text).toContain('Kept elsewhere')
    stead.kill('host')
    await answers(200)

    expect((await stead.api('DELETE', `/v1/sites/${id}`)).status).toBe(200)
    await answers(404)
    await until('its folder is gone', async () => (await readdir(join(stead.dataDir, 'sites'))).length === 0)
    expect(stead.phpProcesses()).toEqual([])
  })
})

describe.skipIf(!core || !postgresUrl)('sites while PostgreSQL is away', () => {
  let records: TestDatabase
  let proxy: CuttingProxy
  let stead: Stead
  showOutputOfFailures(() => stead)
  beforeAll(async () => {
    records = await testDatabase('postgres')
    proxy = await openCuttingProxy(records.connection.url as string)
    stead = await startStead({ env: { STEAD_DATABASE_URL: proxy.url, STEAD_PREPARED_SITES: '0' } })
    await stead.createSite({ name: 'warm' })
    await stead.createSite({ name: 'cold' })
    for (const name of ['warm', 'cold']) expect((await stead.visit(name, '/wp-login.php')).status).toBe(200)
  })
  afterAll(async () => {
    if (proxy) Object.assign(proxy, { isDown: false, isSilent: false })
    await stead?.remove()
    await proxy?.close()
    await records?.drop()
  })

  const ready = async () => (await fetch(`${stead.apiUrl}/readyz`)).status
  test.each(['isDown', 'isSilent'] as const)('answer every page (%s), and changes are refused', async (how) => {
    proxy[how] = true
    const statuses: number[] = []
    const look = async () => {
      // Neither page is in the cache.
      for (const name of ['warm', 'cold'])
        for (const path of ['/wp-login.php', `/?s=${statuses.length}`])
          statuses.push((await stead.visit(name, path)).status)
    }
    await look()
    await until('the database counts as away', async () => (await ready()) === 503)
    for (let round = 0; round < 5; round++) await look()
    expect([...new Set(statuses)]).toEqual([200])
    expect((await stead.api('POST', '/v1/sites', { name: 'refused' })).status).toBe(503)
    proxy[how] = false
    await until('it is back', async () => (await ready()) === 200)
  })
})

describe.skipIf(!postgresUrl)('PostgreSQL that becomes unavailable', () => {
  test('is waited for at a start; if it is lost later, one line says why', async () => {
    const records = await testDatabase('postgres')
    const cut = ['"installation"', '"accounts"']
    const proxy = await openCuttingProxy(records.connection.url as string, (statements) => {
      const isMeant = cut[0] && statements.some((each) => each.includes(`into ${cut[0]}`))
      if (isMeant) cut.shift()
      return isMeant ? 'request' : 'pass'
    })
    const stead = await prepareStead({ env: { STEAD_DATABASE_URL: proxy.url }, golden: false })
    try {
      const { code, stdout, stderr } = await stead.cli('control')
      // lost when it was opened, and again when the first account was created
      expect([code, proxy.cuts]).toEqual([1, 2])
      const lost = 'The PostgreSQL database \\S+ cannot be reached \\(.+\\)\\. Check STEAD_DATABASE_URL\\.'
      expect(stderr).toMatch(new RegExp(`^${lost} Stead retries for 60 s\\.\n${lost}\n$`))
      expect(stdout).not.toContain('"level":60')
    } finally {
      await stead.remove()
      await proxy.close()
      await records.drop()
    }
  })
})
