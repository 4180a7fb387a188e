import { createHash } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type PhpVersion, versionForAll } from '../../hosting/php/runtime.ts'
import type { SiteDirectory } from '../../hosting/site-directories/site-directory.ts'
import { templateMarks } from '../../hosting/site-directories/template.ts'
import { giveTo } from '../../hosting/site-files/platform/lay-out-directory.ts'
import { FetchFailed, FetchRefused, FetchTooLarge, fetchBuffer } from '../../platform/fetch/fetch-public.ts'
import { PermanentFailure, type StepContext } from '../../platform/operations/definition.ts'
import type { HostServices } from '../kit/host-services.ts'
import { keepContent, muPluginContent } from './content.store.ts'
import { phpVersionsOf } from './member.store.ts'
import { MOST_PLUGIN_BYTES, type MuPlugin } from './mu-plugin.ts'

type Context = StepContext<unknown, HostServices>

/** Covers a cold start of PHP on a busy machine. */
const CHECK_MS = 60_000

/** Fetches the file, and stores it separately from what sites have. */
export async function fetchPlugin(context: Context, plugin: MuPlugin): Promise<{ sha256: string }> {
  const { services, signal } = context
  const content = await fetchBuffer(plugin.path, {
    allowPrivate: services.config.allowPrivateFetch,
    maxBytes: MOST_PLUGIN_BYTES,
    signal,
  }).catch((error) => {
    throw isForGood(error) ? new PermanentFailure(error.message, { cause: error }) : error
  })
  // Otherwise, every page would begin with that text. It may be an error page of the server, or a byte order mark.
  if (!/^<\?php\s/i.test(content.toString('latin1', 0, 6)))
    throw new PermanentFailure(`${plugin.slug} does not start with <?php, so its URL does not return a PHP file`)
  const sha256 = createHash('sha256').update(content).digest('hex')
  await context.transaction((tx) => keepContent(tx, { ...plugin, sha256 }, content, plugin.sha256))
  return { sha256 }
}

/** Returns the error when an operation is retried after another has fetched the plugin. */
export const notThere = ({ slug }: MuPlugin): string =>
  `The fetched file of ${slug} no longer exists. Update the plugin`

/** Returns whether a retry would fail the same way. */
function isForGood(error: unknown): error is Error {
  if (error instanceof FetchRefused || error instanceof FetchTooLarge) return true
  return error instanceof FetchFailed && error.status !== undefined && error.status >= 400 && error.status < 500
}

/**
 * Makes PHP parse the file, in each version that the account's sites run. This happens in a site directory that no site
 * ever gets, because the file may attack its parser. Nothing of it is run.
 * @throws PermanentFailure with PHP's message
 */
export async function checkPlugin(context: Context, plugin: MuPlugin, sha256: string): Promise<void> {
  const { services } = context
  const { read } = services.database
  const content = await muPluginContent(read, { ...plugin, sha256 })
  if (!content) throw new PermanentFailure(notThere(plugin))
  const asked = (await phpVersionsOf(read, plugin.accountId)) as PhpVersion[]
  const { runtimes } = services.containment()
  // An account's default may be a version that its host does not run, and new sites get another.
  const served = asked.filter((version) => runtimes[version] !== 'refused')
  const versions = served.length > 0 ? served : [versionForAll(runtimes)]
  const directory = await services.siteDirectories.makeThrowAway(await services.template())
  try {
    const folder = join(directory.path, 'private/tmp')
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, 'check.php'), content)
    if (directory.uid !== null) await giveTo(directory.uid, folder)
    for (const version of versions) {
      const fault = await faultOf(services, directory, version)
      if (fault)
        throw new PermanentFailure(`PHP ${version} cannot parse ${plugin.slug}: ${fault.message} on line ${fault.line}`)
    }
  } finally {
    await services.siteDirectories.remove(directory)
  }
}

async function faultOf({ siteDirectories, pool }: HostServices, directory: SiteDirectory, phpVersion: PhpVersion) {
  const place = siteDirectories.phpSite(directory, { phpVersion, address: templateMarks.address })
  // A user waits for it. With low priority, on a busy host, it would not even be ready in time.
  const process = await pool.startSpare(place, { lowPriority: false })
  if (!process) throw new Error('The host does not have enough memory to start PHP')
  try {
    return (await process.runTask('check-php', {}, { timeoutMs: CHECK_MS })).fault
  } finally {
    await process.stop(0)
  }
}
