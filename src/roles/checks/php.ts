import type { Config } from '../../config.ts'
import { hostReports } from '../../hosting/host.store.ts'
import { phpVersions } from '../../hosting/php/runtime.ts'
import { type Check, type CheckContext, type Finding, ok, onDatabase, problem, warning } from './check.ts'

/** Checks the runtimes of sites' PHP, and their sandbox. */
export const phpCheck: Check = {
  area: 'php',
  async run(context) {
    const [walls, served, hosts] = await Promise.all([containment(context), runtimes(context), unprepared(context)])
    return [...served, ...walls, ...hosts]
  },
}

async function containment({ config }: CheckContext): Promise<Finding[]> {
  const { findAbilities } = await import('../../hosting/php/wasm/containment.ts')
  const install = 'Run apt-get install bubblewrap, and allow user namespaces in a container.'
  try {
    const { root, bubblewrap, notes } = await findAbilities(config.sandbox)
    const found = bubblewrap ? [] : [warning(`PHP of sites runs without a sandbox: ${notes.join(', ')}.`, install)]
    if (!root)
      found.push(
        warning('All sites run as the user of Stead.', 'Run Stead as root, so that each site gets a separate user.'),
      )
    return found.length > 0 ? found : [ok('PHP of each site runs in a sandbox as a separate user.')]
  } catch (error) {
    return [problem(`${(error as Error).message}.`, `${install} Or set STEAD_SANDBOX=auto.`)]
  }
}

async function runtimes({ config }: CheckContext): Promise<Finding[]> {
  if (config.runtime === 'wasm') return [ok('PHP runs in WebAssembly.')]
  const hasMariaDb = config.mariadb === 'own' || config.mariadbUrl !== undefined
  const missing = await Promise.all(phpVersions.map((version) => missingFor(config, version, hasMariaDb)))
  const reasons = [...new Set(missing.filter((each) => each !== undefined))].join('; ')
  const native = phpVersions.filter((_, at) => missing[at] === undefined)
  const install = 'Install the named packages, or set STEAD_RUNTIME=wasm.'
  if (native.length === 0 && config.runtime === 'native')
    return [problem(`No PHP version runs natively on this server: ${reasons}.`, install)]
  if (native.length === 0)
    return [warning(`PHP runs in WebAssembly, because no version runs natively on this server: ${reasons}.`, install)]
  const found = [ok(`PHP ${native.join(', ')} runs natively.`)]
  if (config.runtime === 'auto' && !hasMariaDb)
    found.push(warning('New sites run in WebAssembly, because MariaDB is missing.', 'Set STEAD_MARIADB=own.'))
  return found
}

/** Returns why a version of PHP does not run natively on this machine. */
export async function missingFor(
  { sandbox }: Pick<Config, 'sandbox'>,
  version: (typeof phpVersions)[number],
  hasMariaDb: boolean,
): Promise<string | undefined> {
  const { findMissing } = await import('../../hosting/php/native/start.ts')
  const { findNativePhp } = await import('../../hosting/php/native/native-php.ts')
  const missing = await findMissing(sandbox).catch((error: Error) => error.message)
  if (missing !== undefined) return missing
  const found = await findNativePhp(version, hasMariaDb ? {} : undefined)
  return 'missing' in found ? found.missing : undefined
}

/** Returns hosts that have no WordPress to create sites from. */
const unprepared = (context: CheckContext): Promise<readonly Finding[]> =>
  onDatabase(context, async ({ database }) => {
    if (context.running === 'stopped') return []
    return (await hostReports(database.read))
      .filter(({ facts }) => facts.preparing === false && facts.wordpress === null)
      .map(({ name, facts }) =>
        problem(
          `The host ${name} cannot create sites: ${String(facts.reason ?? 'it has no WordPress')}`,
          'Check its log, then restart it. If it cannot reach the WordPress release API, set STEAD_CORE_SOURCE.',
        ),
      )
  })
