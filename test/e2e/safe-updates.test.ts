/** Safe updates of a real WordPress: what breaks a page is undone, and what breaks none stays. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findModules } from '../../src/hosting/page-measure/measure-page.ts'
import { findAbilities } from '../../src/hosting/php/wasm/containment.ts'
import { hasChromium } from '../support/chromium.ts'
import { describeSites } from '../support/describe-sites.ts'
import { type PluginDirectoryServer, pluginFile, startPluginDirectory } from '../support/plugin-directory.ts'
import { siteRows } from '../support/site-rows.ts'
import { type Stead, showOutputOfFailures, startStead, until } from '../support/stead.ts'

const MINUTES = 900_000
const { bubblewrap } = await findAbilities('auto')
const seesPictures = Boolean(hasChromium && bubblewrap && findModules())

/** Shaped like WooCommerce, with one page: the cart. */
const shop = `
  function wc_get_page_id($name) { return (int) get_option("woocommerce_{$name}_page_id", -1); }
  register_activation_hook(__FILE__, function () {
    $post = ['post_type' => 'page', 'post_status' => 'publish', 'post_title' => 'Cart', 'post_content' => 'Your cart is empty'];
    update_option('woocommerce_cart_page_id', wp_insert_post($post));
  });`
const inCart = (code: string) => `add_action('template_redirect', function () { if (is_page('cart')) { ${code} } });`
const inFooter = (html: string) => `add_action('wp_footer', fn () => print('${html}'));`

/** The newer release of each plugin, by its code. */
const releases = {
  'breaks-cart': inCart('no_such_function();'),
  'moves-header': inFooter('<style>body { padding-top: 20px }</style>'),
  'logs-warnings': `add_action('init', fn () => trigger_error('careful', E_USER_WARNING));`,
  'adds-line': inFooter('<!-- adds a line -->'),
  'stores-option': `add_action('init', fn () => update_option('stores_option', '1.1'));`,
  renames: 'function renames_nothing() {}',
}
type Name = keyof typeof releases

function withSite({ env, browser = false }: { env: Readonly<Record<string, string>>; browser?: boolean }) {
  let stead: Stead
  let directory: PluginDirectoryServer
  let id: number
  showOutputOfFailures(() => stead)
  beforeAll(async () => {
    directory = await startPluginDirectory()
    directory.publish('woocommerce', '1.0', { 'woocommerce.php': pluginFile('WooCommerce', '1.0', shop) })
    for (const [slug, code] of Object.entries(releases)) {
      directory.publish(slug, '1.0', { [`${slug}.php`]: pluginFile(slug, '1.0') })
      directory.publish(slug, '1.1', { [`${slug}.php`]: pluginFile(slug, '1.1', code) })
    }
    stead = await startStead({
      env: {
        ...env,
        STEAD_WORDPRESS_API: directory.base,
        STEAD_ALLOW_PRIVATE_FETCH: 'true',
        // Thirty pictures take minutes on a busy machine. The last test takes them.
        ...(browser ? {} : { STEAD_CHROMIUM: '/none' }),
      },
    })
    id = await stead.createSite({ name: 'careful' })
    const plugins = [{ path: 'woocommerce' }, ...Object.keys(releases).map((path) => ({ path, version: '1.0' }))]
    const { headers } = await stead.api('POST', `/v1/sites/${id}/plugins`, { plugins })
    expect(await stead.ended(headers.get('operation-id') as string)).toMatchObject({ state: 'succeeded' })
  })
  afterAll(async () => {
    await stead?.remove()
    directory?.close()
  })

  async function update(name: Name) {
    const { status, body, headers } = await stead.api('POST', `/v1/sites/${id}/safe-updates`, {
      plugins: [{ path: name }],
    })
    expect([status, body.errors]).toEqual([200, null])
    const operationId = headers.get('operation-id') as string
    const { state } = await stead.ended(operationId, MINUTES)
    const report = (await stead.api('GET', `/v1/sites/${id}/safe-updates/${operationId}`)).body.data
    return { state, report }
  }
  const versionOf = async (name: Name) => {
    const { body } = await stead.api('GET', `/v1/sites/${id}/plugins`)
    return body.data.find((plugin: { name: string }) => plugin.name === name)
  }
  const page = async (path: string) => stead.visit('careful', path, { headers: { cookie: 'a=b' } })
  const rows = (sql: string) => siteRows(stead, 'careful', sql)
  /** Creates another site with one of the plugins, and returns the IDs of both. */
  async function twoSites(name: Name): Promise<[number, number]> {
    const other = await stead.createSite({ name: 'careless' })
    const plugins = [{ path: name, version: '1.0' }]
    const { headers } = await stead.api('POST', `/v1/sites/${other}/plugins`, { plugins })
    await stead.ended(headers.get('operation-id') as string)
    // The list of a site is read again, so that Stead knows of the plugin.
    await stead.api('GET', `/v1/sites/${other}/plugins`)
    await versionOf(name)
    return [id, other]
  }
  async function updateMany(siteIds: readonly number[], name: Name) {
    const { headers } = await stead.api('POST', '/v1/safe-updates', { siteIds, plugins: [{ path: name }] })
    const operationId = headers.get('operation-id') as string
    const { state, error } = await stead.ended(operationId, MINUTES)
    return { state, error, batch: (await stead.api('GET', `/v1/safe-updates/${operationId}`)).body.data }
  }
  /** Returns what visitors have asked for, once this visit is in the log. */
  const visited = (path: string): Promise<string[]> =>
    until('the visit in the log', async () => {
      await page(path)
      const { logs } = (await stead.api('GET', `/v1/sites/${id}/logs/server`)).body.data
      const paths = logs.map((line: { request_url: string }) => line.request_url)
      return paths.includes(path) && paths
    })
  return { update, versionOf, page, rows, twoSites, updateMany, visited }
}

describeSites('safe updates', ({ env, isNative }) => {
  const { update, versionOf, page, rows, twoSites, updateMany } = withSite({ env })

  test('undoes an update that breaks only the cart, and keeps what visitors wrote meanwhile', async () => {
    const begun = update('breaks-cart')
    // A database on SQLite is read only for tests.
    if (isNative) await rows("insert into wp_options (option_name, option_value) values ('an_order', 'paid')")
    const { state, report } = await begun
    if (isNative)
      expect(await rows("select option_value from wp_options where option_name = 'an_order'")).toEqual([
        { option_value: 'paid' },
      ])
    expect(state).toBe('failed')
    expect(report).toMatchObject({ state: 'undone', items: [{ name: 'breaks-cart', from: '1.0', to: '1.1' }] })
    const broken = report.pages.filter(({ differences }: { differences: string[] }) => differences.length > 0)
    expect(broken.map(({ kind }: { kind: string }) => kind)).toEqual(['cart'])
    expect(await versionOf('breaks-cart')).toMatchObject({ version: '1.0', status: 'active' })
    expect(await page('/?pagename=cart')).toMatchObject({
      status: 200,
      text: expect.stringContaining('Your cart is empty'),
    })
  })

  test.each(['adds-line', 'stores-option', 'renames'] as const)(
    'keeps an update that breaks nothing: %s',
    async (name) => {
      const { state, report } = await update(name)
      expect([state, report.state, report.reason]).toEqual(['succeeded', 'kept', null])
      expect(await versionOf(name)).toMatchObject({ version: '1.1', status: 'active' })
    },
  )

  test('of two sites undoes the one whose cart breaks, and keeps the other', async () => {
    const sites = await twoSites('breaks-cart')
    const { state, error, batch } = await updateMany(sites, 'breaks-cart')
    expect([state, error]).toEqual(['failed', expect.stringContaining('careful (The update was undone: cart')])
    expect(batch.sites.map((site: { state: string }) => site.state)).toEqual(['undone', 'kept'])
    expect(batch).toMatchObject({ state: 'failed', counts: { undone: 1, kept: 1, waiting: 0 } })
  })

  test('undoes an update that logs warnings', async () => {
    const { report } = await update('logs-warnings')
    expect([report.state, report.reason]).toEqual(['undone', expect.stringContaining('careful')])
    expect(await versionOf('logs-warnings')).toMatchObject({ version: '1.0' })
  })
})

describe.skipIf(!seesPictures)('safe updates with a browser', () => {
  const { update, versionOf, visited } = withSite({ env: {}, browser: true })

  test(
    'undoes an update that moves the header',
    async () => {
      const { report } = await update('moves-header')
      expect(report.state).toBe('undone')
      expect(
        report.pages.flatMap(({ pictures }: { pictures: { isDifferent: boolean }[] }) => pictures).length,
      ).toBeGreaterThan(0)
      expect(await versionOf('moves-header')).toMatchObject({ version: '1.0' })
    },
    MINUTES,
  )

  test('looks at pages without a trace in the log of visitors', async () => {
    expect(new Set(await visited('/?a-visitor'))).toEqual(new Set(['/?a-visitor']))
  })
})
