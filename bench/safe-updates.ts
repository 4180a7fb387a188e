import { parseArgs } from 'node:util'
import { nativeAndMariaDb, settingsOf } from '../test/support/native-mariadb.ts'
import { type PluginDirectoryServer, pluginFile, startPluginDirectory } from '../test/support/plugin-directory.ts'
import { type Stead, startStead } from '../test/support/stead.ts'
import { harmlessReleases, movingPages } from './support/moving-pages.ts'
import { median, type Section } from './support/report.ts'
import { cpuWithEndedOf } from './support/servers.ts'

const SITES = 2
const MOST_MS = 1_800_000

/** Shaped like WooCommerce, with one page: the cart. */
const shop = `
  function wc_get_page_id($name) { return (int) get_option("woocommerce_{$name}_page_id", -1); }
  register_activation_hook(__FILE__, function () {
    $post = ['post_type' => 'page', 'post_status' => 'publish', 'post_title' => 'Cart', 'post_content' => 'Your cart is empty'];
    update_option('woocommerce_cart_page_id', wp_insert_post($post));
  });`
/** Updates that break something. */
const harmful: Readonly<Record<string, string>> = {
  'breaks-cart': `add_action('template_redirect', function () { if (is_page('cart')) no_such_function(); });`,
  'moves-header': `add_action('wp_footer', fn () => print('<style>body { padding-top: 20px }</style>'));`,
  'logs-warnings': `add_action('init', fn () => trigger_error('careful', E_USER_WARNING));`,
}

/**
 * Updates plugins of a real WordPress safely, one after the other on each of two sites: some that break nothing, on
 * homepages that change without it, and three that break something. Flags: `--only` names some of them, with commas.
 */
export async function safeUpdatesBench(): Promise<Section> {
  const { values } = parseArgs({ options: { only: { type: 'string' } }, allowPositionals: true, strict: false })
  const only = typeof values.only === 'string' ? values.only.split(',') : undefined
  const directory = await startPluginDirectory()
  const harmless = publish(directory)
  const stead = await startStead({
    env: {
      ...(nativeAndMariaDb.skip ? {} : settingsOf),
      ...{ STEAD_WORDPRESS_API: directory.base, STEAD_ALLOW_PRIVATE_FETCH: 'true', STEAD_LOG_LEVEL: 'warn' },
    },
  })
  try {
    const names = [...harmless.keys(), ...Object.keys(harmful)].filter((name) => only?.includes(name) ?? true)
    const { found, cpuMs } = await updateAll(stead, names)
    const isHarmful = ({ name }: Outcome) => name in harmful
    const [bad, good] = [found.filter(isHarmful), found.filter((each) => !isHarmful(each))]
    const undone = (all: readonly Outcome[]) => all.filter(({ state }) => state === 'undone').length
    const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`
    return {
      title: 'Safe updates',
      how: `Each of ${good.length} plugins puts something on the homepage that changes without an update: a carousel, a clock, a quote by chance. Its update breaks nothing, and changes one of ${Object.keys(harmlessReleases).length} things that real updates change: a script that was minified again, a table, notices in the log. Three other updates break only the cart, move the header by 20 pixels, and log warnings. Stead updates them safely, one after the other on each of ${SITES} sites, and compares five pages.`,
      figures: [
        { what: `updates undone, of ${good.length} that break nothing`, value: String(undone(good)), aim: '≤ 1' },
        { what: `updates undone, of ${bad.length} that break something`, value: String(undone(bad)), aim: '3' },
        { what: `a safe update, with ${SITES} at once, median`, value: seconds(median(found.map(({ ms }) => ms))) },
        { what: '… processor time of all of Stead, with the install before it', value: seconds(cpuMs / found.length) },
      ],
    }
  } finally {
    await stead.remove()
    directory.close()
  }
}

/** @returns the updates that break nothing, by the name of the plugin */
function publish(directory: PluginDirectoryServer): Map<string, string> {
  const all = new Map<string, string>()
  const kinds = Object.entries(harmlessReleases)
  for (const [index, [name, code]] of Object.entries(movingPages).entries()) {
    const [what, releases] = kinds[index % kinds.length] as (typeof kinds)[number]
    all.set(name, what)
    for (const [version, release] of [
      ['1.0', releases[0]],
      ['1.1', releases[1]],
    ] as const) {
      const loads = `add_action('wp_enqueue_scripts', function () {
        wp_enqueue_style('SLUG', plugins_url('style.css', __FILE__), [], '${version}');
        wp_enqueue_script('SLUG', plugins_url('app.js', __FILE__), [], '${version}', true); });`
      const files: Record<string, string> = {
        [`${name}.php`]: pluginFile(name, version, `${loads}\n${code}\n${release.code ?? ''}`),
        ...{ 'style.css': release.style ?? '', 'app.js': release.script ?? '' },
        ...release.files,
      }
      const named = Object.entries(files).map(([path, content]) => [
        path.replaceAll('SLUG', name),
        content.replaceAll('Bench_SLUG', `Bench_${name.replaceAll('-', '_')}`).replaceAll('SLUG', name),
      ])
      directory.publish(name, version, Object.fromEntries(named))
    }
  }
  directory.publish('woocommerce', '1.0', { 'woocommerce.php': pluginFile('WooCommerce', '1.0', shop) })
  for (const [name, code] of Object.entries(harmful)) {
    directory.publish(name, '1.0', { [`${name}.php`]: pluginFile(name, '1.0') })
    directory.publish(name, '1.1', { [`${name}.php`]: pluginFile(name, '1.1', code) })
  }
  return all
}

interface Outcome {
  readonly name: string
  readonly state: string
  readonly ms: number
}

/** Each site takes the next plugin when it is done with one. */
async function updateAll(stead: Stead, names: readonly string[]): Promise<{ found: Outcome[]; cpuMs: number }> {
  const left = [...names]
  const found: Outcome[] = []
  const sites: number[] = []
  for (let number = 0; number < SITES; number++) {
    const version = nativeAndMariaDb.skip ? {} : { php_version: nativeAndMariaDb.phpVersion }
    const site = await stead.createSite({ name: nameOf(number), ...version })
    sites.push(site)
    await done(stead, 'POST', site, '/plugins', [{ path: 'woocommerce' }])
  }
  const supervisor = stead.role('supervisor')?.pid as number
  const before = cpuWithEndedOf(supervisor)
  await Promise.all(
    sites.map(async (site, number) => {
      for (let name = left.shift(); name; name = left.shift()) {
        await done(stead, 'POST', site, '/plugins', [{ path: name, version: '1.0' }])
        // The log then has what the plugin logs anyway.
        for (let visit = 0; visit < 2; visit++)
          await stead.visit(nameOf(number), '/', { headers: { cookie: `a=${visit}` } })
        found.push(await updateOne(stead, site, name))
        await done(stead, 'DELETE', site, '/plugins', [{ path: name }])
      }
    }),
  )
  return { found, cpuMs: (cpuWithEndedOf(supervisor) - before) / 1000 }
}

const nameOf = (number: number): string => `careful-${number}`

async function updateOne(stead: Stead, site: number, name: string): Promise<Outcome> {
  const began = performance.now()
  const { headers, body } = await stead.api('POST', `/v1/sites/${site}/safe-updates`, { plugins: [{ path: name }] })
  if (body.errors) throw new Error(`${name}: ${body.errors.join(' ')}`)
  const id = headers.get('operation-id') as string
  const { state } = await stead.ended(id, MOST_MS)
  const report = (await stead.api('GET', `/v1/sites/${site}/safe-updates/${id}`)).body.data
  // Without pictures, it would prove less than it says.
  if (report.state === 'kept' && report.pictures_missing !== null)
    throw new Error(`${name}: ${report.pictures_missing}`)
  console.error(`${name}: ${state} ${report.state} ${report.reason ?? ''} ${report.pictures_missing ?? ''}`)
  return { name, state: report.state, ms: performance.now() - began }
}

async function done(stead: Stead, method: string, site: number, path: string, plugins: object[]): Promise<void> {
  const { headers, body } = await stead.api(method, `/v1/sites/${site}${path}`, { plugins })
  if (body.errors) throw new Error(body.errors.join(' '))
  const { state, error } = await stead.ended(headers.get('operation-id') as string, MOST_MS)
  if (state !== 'succeeded') throw new Error(`${method} ${path}: ${error}`)
}
