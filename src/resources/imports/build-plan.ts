import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { AddressChange } from '../../hosting/site-database/database-content.ts'
import type { StagedContent } from '../../hosting/site-imports/look-at-content.ts'
import type { StagedDatabase } from '../../hosting/site-imports/stage-database.ts'
import type { StagedFiles } from '../../hosting/site-imports/stage-files.ts'
import { PermanentFailure } from '../../platform/operations/definition.ts'
import type { HostServices } from '../kit/host-services.ts'
import { findSite } from '../sites/public.ts'
import type { ImportPlan } from './import.ts'

interface Staged {
  readonly unpack: StagedFiles
  readonly database: StagedDatabase
  readonly content: StagedContent
}

/** Limit of each list in a plan. */
const MOST_LISTED = 300
const MOST_TEXT = 200

/**
 * Creates the plan of importing staged content into a site.
 * @throws PermanentFailure when the site is no longer on this host
 */
export async function planOf(services: HostServices, siteId: number, staged: Staged): Promise<ImportPlan> {
  const site = await findSite(services.database.read, siteId)
  const [directory, hosted] = [await services.siteDirectories.ofSite(siteId), await services.hostedSite(siteId)]
  if (!site || !directory || !hosted) throw new PermanentFailure('The site is not there, or is not installed')
  const { unpack, database, content } = staged
  const { options } = database
  const active = activePlugins(options.active_plugins)
  const plugins = content.plugins.slice(0, MOST_LISTED).map((plugin) => ({
    ...plugin,
    name: plugin.name.slice(0, MOST_TEXT),
    isActive: active.has(plugin.path),
  }))
  const to = { address: hosted.address, wordpress: directory.coreVersion, php: site.phpVersion }
  const schema = await schemaOf(services.siteDirectories.corePath(directory))
  return {
    format: unpack.format,
    from: {
      home: (options.home ?? '').slice(0, MOST_TEXT),
      title: (options.blogname ?? '').slice(0, MOST_TEXT),
      wordpress: unpack.wordpress,
      php: unpack.php,
    },
    to,
    files: { count: content.files, bytes: content.bytes, links: unpack.links },
    database: { tables: database.tables, rows: database.rows, bytes: database.bytes, prefix: database.prefix },
    addresses: addressChanges(options, hosted.address),
    plugins,
    themes: content.themes.slice(0, MOST_LISTED),
    mustUsePlugins: content.mustUsePlugins.slice(0, MOST_LISTED),
    leftOut: content.leftBehind.map(({ path, reason }) => ({ path: `wp-content/${path}`, reason })),
    warnings: warningsOf(staged, plugins, to),
    blockers: blockersOf(staged, schema),
  }
}

/** Returns the folders or files of the active plugins, whose names are in serialized PHP. */
function activePlugins(serialized = ''): ReadonlySet<string> {
  const files = [...serialized.matchAll(/s:\d+:"([^"]{1,300})";/g)].map(([, file]) => file as string)
  return new Set(files.map((file) => file.split('/')[0] as string))
}

/** Returns the changes of the old site's host names, with and without `www`. */
export function addressChanges(options: Readonly<Record<string, string>>, to: string): AddressChange[] {
  const hosts = [options.home, options.siteurl].flatMap((url) => URL.parse(url ?? '')?.host ?? [])
  const twins = hosts.flatMap((host) => [host, host.startsWith('www.') ? host.slice(4) : `www.${host}`])
  return [...new Set(twins)].filter((from) => from !== to).map((from) => ({ from, to }))
}

/** Returns the version number of the tables of this release, as WordPress counts it. */
async function schemaOf(corePath: string): Promise<number | undefined> {
  const text = await readFile(join(corePath, 'wp-includes/version.php'), 'utf8').catch(() => '')
  const [, number] = /\$wp_db_version\s*=\s*(\d+)/.exec(text) ?? []
  return number === undefined ? undefined : Number(number)
}

function warningsOf({ unpack, database, content }: Staged, plugins: ImportPlan['plugins'], to: ImportPlan['to']) {
  const needy = plugins.filter(({ isActive, requiresPhp }) => isActive && requiresPhp && isNewer(requiresPhp, to.php))
  const older = unpack.php && isNewer(to.php, unpack.php)
  return [
    ...needy.map(
      ({ name, requiresPhp }) => `The plugin ${name} needs PHP ${requiresPhp}, and the site runs PHP ${to.php}.`,
    ),
    ...(older
      ? [`The old site ran PHP ${unpack.php}, and this one runs PHP ${to.php}. Old plugins may not be ready for it.`]
      : []),
    ...(database.otherTables > 0
      ? [
          `The database has ${database.otherTables} more tables, whose names do not begin with ${database.prefix}. They come along.`,
        ]
      : []),
    ...(unpack.links > 0 && !unpack.leftOut ? [`The archive has ${unpack.links} links, which are left out.`] : []),
    ...leftOutOf(unpack),
    ...(content.themes.length === 0 ? ['The archive has no theme.'] : []),
  ]
}

/** Describes omissions of a running old site: links, unusual names, and what its machine does not show. */
function leftOutOf({ leftOut }: StagedFiles): string[] {
  if (!leftOut || leftOut.count === 0) return []
  const paths = leftOut.paths.map((path) => JSON.stringify(`wp-content/${path}`)).join(', ')
  return [
    `Of the old site, ${leftOut.count} files and folders are left out, since they are links, have names that cannot be kept, or may not be read: ${paths}${leftOut.count > leftOut.paths.length ? ', …' : ''}.`,
  ]
}

function blockersOf({ database, content }: Staged, schema: number | undefined): string[] {
  const { options } = database
  const urls = [options.home, options.siteurl].map((url) => URL.parse(url ?? ''))
  const folder = urls.find((url) => url && url.pathname.replace(/\/+$/, '') !== '')?.pathname
  const tables = Number(options.db_version ?? 0)
  return [
    ...(database.isNetwork ? ['It is a network of sites, and only single sites can be imported.'] : []),
    ...(urls.some((url) => !url) ? ['The database does not tell the address of the old site.'] : []),
    ...(folder
      ? [
          `The old site, or its WordPress, is in the folder ${folder}, and only sites at the root of a domain can be imported.`,
        ]
      : []),
    ...(schema !== undefined && tables > schema
      ? ['The old site runs a newer release of WordPress than this one. Update this site first.']
      : []),
    ...(content.files === 0 ? ['The archive has no files of wp-content.'] : []),
  ]
}

/** Returns whether the first of two PHP versions is newer. */
function isNewer(one: string, other: string): boolean {
  const [a = 0, b = 0] = one.split('.').map(Number)
  const [c = 0, d = 0] = other.split('.').map(Number)
  return a > c || (a === c && b > d)
}
