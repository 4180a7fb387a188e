/** Caches in the real program: what the API purges or an editor changes is fresh in the next request. */
import { access, writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testCore } from '../support/core.ts'
import { type Stead, showOutputOfFailures, startStead, until } from '../support/stead.ts'
import { Browser } from '../support/visit.ts'

const core = await testCore()

describe.skipIf(!core)('caches', () => {
  let stead: Stead
  let id: number
  /** Milliseconds from the purge's response to the first fresh page. */
  const delays: number[] = []
  showOutputOfFailures(() => stead)
  beforeAll(async () => {
    stead = await startStead()
    id = await stead.createSite({ name: 'kept-site', wp_admin_username: 'owner', wp_admin_email: 'o@example.com' })
  })
  afterAll(async () => {
    if (process.env.SHOW_TIMES) console.log(`purge to miss, ms: ${delays.map((ms) => ms.toFixed(1)).join(' ')}`)
    await stead?.remove()
  })

  const status = async (path = '/') => String((await stead.visit('kept-site', path)).headers['cache-status'])
  const isHit = async (path = '/') => (await status(path)).includes('; hit')
  const untilHit = (path = '/') => until('it comes from the cache', () => isHit(path), 5000)

  test('applies a purge of the API within a second, usually at once', async () => {
    const file = '/wp-includes/css/dist/block-library/style.min.css?ver=2'
    for (const [cache, path] of [['edge-cache', '/'], ...Array(20).fill(['cache', file])] as [string, string][]) {
      await untilHit(path)
      expect((await stead.api('DELETE', `/v1/sites/${id}/${cache}`)).status).toBe(200)
      const purgedAt = performance.now()
      await until('it is fetched anew', async () => !(await isHit(path)))
      if (path === file) delays.push(performance.now() - purgedAt)
    }
  })

  test('passes every page to the host while the cache is off, and serves nothing old when it is on again', async () => {
    await untilHit()
    await stead.api('PUT', `/v1/sites/${id}/edge-cache`, { enabled: false })
    expect((await stead.api('GET', `/v1/sites/${id}/edge-cache`)).body.data.active).toBe(false)
    await until('it is off', async () => !(await isHit()))
    await stead.api('PUT', `/v1/sites/${id}/edge-cache`)
    await untilHit()
  })

  test('caches files separately: the CDN is purged and switched separately from pages', async () => {
    const path = '/wp-includes/css/dist/block-library/style.min.css?ver=1'
    await untilHit()
    await untilHit(path)
    await stead.api('DELETE', `/v1/sites/${id}/cache`)
    await until('the file is fetched anew', async () => !(await isHit(path)))
    expect(await isHit()).toBe(true)
    expect((await stead.api('DELETE', `/v1/sites/${id}/cdn`)).body.data).toEqual({ cdnEnabled: false })
    await until('it is off', async () => (await status(path)) === 'undefined')
    expect((await stead.api('PUT', `/v1/sites/${id}/cdn`)).body.data).toEqual({ cdnEnabled: true })
  })

  test('shows a published post on the front page with the next request', async () => {
    const { data: password } = (await stead.api('PUT', `/v1/sites/${id}/cms/password-reset`)).body
    const { data: site } = (await stead.api('GET', `/v1/sites/${id}`)).body
    expect(site.edgeCache).toBe('enabled')
    const browser = new Browser((path, options) => stead.visit('kept-site', path, options))
    await browser.logIn('owner', password)
    const nonce = await browser.restNonce()
    await untilHit()
    for (const title of ['First news', 'Second news']) {
      const page = await browser.open('/wp-json/wp/v2/posts', {
        method: 'POST',
        headers: { 'x-wp-nonce': nonce, 'content-type': 'application/json' },
        body: JSON.stringify({ title, content: 'x', status: 'publish' }),
      })
      expect(page.status).toBe(201)
      expect((await stead.visit('kept-site', '/')).text.includes(title)).toBe(true)
      await untilHit()
    }
  })

  test('purges the object cache in WordPress, also that of a drop-in', async () => {
    expect((await stead.api('DELETE', `/v1/sites/${id}/object-cache`)).status).toBe(200)
    const dropIn = `<?php function wp_cache_init() { require_once ABSPATH . WPINC . '/class-wp-object-cache.php'; $GLOBALS['wp_object_cache'] = new WP_Object_Cache(); }
      foreach (['add' => '$k,$d,$g="default",$e=0', 'set' => '$k,$d,$g="default",$e=0', 'replace' => '$k,$d,$g="default",$e=0', 'get' => '$k,$g="default",$f=false,&$found=null', 'delete' => '$k,$g="default"', 'incr' => '$k,$o=1,$g="default"', 'decr' => '$k,$o=1,$g="default"', 'close' => '', 'add_global_groups' => '$g', 'add_non_persistent_groups' => '$g', 'switch_to_blog' => '$b'] as $name => $args)
        eval('function wp_cache_' . $name . '(' . $args . ') { ' . ($name === 'close' ? 'return true;' : ($name === 'add_non_persistent_groups' ? '' : 'return $GLOBALS["wp_object_cache"]->' . $name . '(...func_get_args());')) . ' }');
      function wp_cache_flush() { file_put_contents(WP_CONTENT_DIR . '/flushed', '1'); return true; }`
    await writeFile(`${stead.directoryOf('kept-site')}/web/wp-content/object-cache.php`, dropIn)
    expect((await stead.api('DELETE', `/v1/sites/${id}/object-cache`)).body).toMatchObject({ data: null, errors: null })
    await access(`${stead.directoryOf('kept-site')}/web/wp-content/flushed`)
  })
})
