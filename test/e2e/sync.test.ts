/**
 * A sync in real WordPress: the requested parts arrive, the rest stays, and a site that would not answer is left
 * unchanged.
 */
import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeSites } from '../support/describe-sites.ts'
import { type Stead, showOutputOfFailures, startStead } from '../support/stead.ts'

describeSites('sync', ({ env }) => {
  let stead: Stead
  let from: number
  let to: number
  showOutputOfFailures(() => stead)
  beforeAll(async () => {
    stead = await startStead({ env })
    from = await stead.createSite({ name: 'source' })
    to = await stead.createSite({ name: 'destination', staging: true })
    for (const site of ['source', 'destination']) {
      for (const folder of ['uploads', 'themes', 'mu-plugins'])
        await mkdir(join(stead.directoryOf(site), 'web/wp-content', folder), { recursive: true })
      for (const path of ['wp-content/uploads/a.txt', 'wp-content/themes/a.txt', 'own.txt'])
        await writeFile(join(stead.directoryOf(site), 'web', path), site)
    }
    await writeFile(join(stead.directoryOf('destination'), 'web/wp-content/uploads/old.txt'), 'old')
    await mkdir(join(stead.directoryOf('source'), 'web/wp-content/uploads/elementor/css'), { recursive: true })
    const css = `a { background: url(http://source.localhost:${stead.edgePort}/a.png) }`
    await writeFile(join(stead.directoryOf('source'), 'web/wp-content/uploads/elementor/css/post-1.css'), css)
    const code = `require 'wp-load.php'; $url = home_url(); update_option('blogname', 'Of the source');
      echo wp_insert_post(['post_title' => 'Synced', 'post_name' => 'synced', 'post_status' => 'publish', 'post_content' => "<a href='$url/x/'>x</a>"]);`
    await writeFile(join(stead.directoryOf('source'), 'web/make.php'), `<?php ${code}`)
    expect(Number((await stead.visit('source', '/make.php')).text)).toBeGreaterThan(0)
  })
  afterAll(() => stead?.remove())

  async function sync(body: object) {
    const asked = await stead.api('POST', '/v1/sites/sync', { from_site_id: from, to_site_id: to, ...body })
    expect([asked.status, asked.body.errors]).toEqual([200, null])
    return stead.ended(asked.headers.get('operation-id') as string, 200_000)
  }
  const fileOf = (site: string, path: string) => readFile(join(stead.directoryOf(site), 'web', path), 'utf8')

  test('syncs the database with its addresses and the requested directories; the rest stays', async () => {
    const keys = await fileOf('destination', 'wp-config.php')
    const operation = await sync({ database: true, uploads_directory: true })
    expect(operation).toMatchObject({ state: 'succeeded', error: null })
    const page = await stead.visit('destination', '/synced/')
    expect([page.status, page.text.includes('Of the source')]).toEqual([200, true])
    expect(page.text).toContain(`http://destination.localhost:${stead.edgePort}/x/`)
    expect(page.text).not.toContain('source.localhost')
    const style = await stead.visit('destination', '/wp-content/uploads/elementor/css/post-1.css')
    expect(style.text).toBe(`a { background: url(http://destination.localhost:${stead.edgePort}/a.png) }`)
    for (const { headers } of [page, style]) expect(headers['x-robots-tag']).toBe('noindex, nofollow')
    expect((await stead.visit('source', '/synced/')).headers['x-robots-tag']).toBeUndefined()
    expect(await fileOf('destination', 'wp-content/uploads/a.txt')).toBe('source')
    expect(existsSync(join(stead.directoryOf('destination'), 'web/wp-content/uploads/old.txt'))).toBe(false)
    expect(await fileOf('destination', 'wp-content/themes/a.txt')).toBe('destination')
    expect(await fileOf('destination', 'own.txt')).toBe('destination')
    expect(await fileOf('destination', 'wp-config.php')).toBe(keys)
    expect((await stead.visit('source', '/synced/')).text).toContain(`http://source.localhost:${stead.edgePort}/x/`)
    for (const id of [from, to]) {
      const { data } = (await stead.api('GET', `/v1/sites/${id}/ondemand-backups`)).body
      expect(data.map(({ status }: { status: string }) => status)).toEqual(['completed', 'completed'])
    }
  })

  test('leaves a site that would not answer unchanged and open; without the check it is synced', async () => {
    const code = `<?php if (str_starts_with($_SERVER['HTTP_HOST'] ?? '', 'destination')) { http_response_code(500); exit('broken'); }`
    await writeFile(join(stead.directoryOf('source'), 'web/wp-content/mu-plugins/broken.php'), code)
    const failed = await sync({ wp_content_directory: true })
    expect(failed).toMatchObject({ state: 'failed' })
    expect(existsSync(join(stead.directoryOf('destination'), 'web/wp-content/mu-plugins/broken.php'))).toBe(false)
    expect((await stead.visit('destination', '/synced/')).status).toBe(200)
    const broken = await sync({ wp_content_directory: true, skip_http_check: true })
    expect(broken).toMatchObject({ state: 'succeeded' })
    expect((await stead.visit('destination', '/synced/?again')).status).toBe(500)
    const undo = await stead.api('POST', `/v1/operations/${broken.id}/undo`)
    expect(await stead.ended(undo.body.data.id, 200_000)).toMatchObject({ state: 'succeeded', error: null })
    expect((await stead.visit('destination', '/synced/?again')).status).toBe(200)
  })
})
