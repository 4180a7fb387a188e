import { hostReports } from '../../hosting/host.store.ts'
import { type Check, type CheckContext, type Finding, ok, onDatabase, problem } from './check.ts'

/** The installation of a check, which has no site. Names for tests begin with it. */
const NOBODY = '00000000'

/** Checks MariaDB for databases of sites, according to the settings. */
export const mariaDbCheck: Check = {
  area: 'databases',
  async run(context) {
    const { config } = context
    if (config.mariadbUrl !== undefined) return context.asksOutside ? [await external(config.mariadbUrl)] : []
    if (config.mariadb === 'off') return []
    const { findPrograms } = await import('../../hosting/mariadb/server/programs.ts')
    const { version } = await findPrograms()
    const down = await serversDown(context)
    return down.length > 0 ? down : [ok(`MariaDB ${version} is installed for databases of sites.`)]
  },
}

/** Opens the server as a start does, which tests the permissions that Stead needs. */
async function external(url: string): Promise<Finding> {
  const { openExternalServer } = await import('../../hosting/mariadb/server/external-server.ts')
  const { prefixOf } = await import('../../hosting/mariadb/database-names.ts')
  const server = await openExternalServer(url, prefixOf(NOBODY)).catch((error: Error) => error)
  if (server instanceof Error)
    return problem(`${server.message}.`, 'Check STEAD_MARIADB_URL and the rights of its user.')
  await server.stop(0)
  return ok(`MariaDB ${server.version} at STEAD_MARIADB_URL responds, and its user has the required rights.`)
}

const serversDown = (context: CheckContext): Promise<readonly Finding[]> =>
  onDatabase(context, async ({ database }) => {
    if (context.running === 'stopped') return []
    const reports = await hostReports(database.read)
    return reports
      .filter(({ facts }) => (facts.mariaDb as { isUp?: boolean } | undefined)?.isUp === false)
      .map(({ name }) =>
        problem(
          `MariaDB on the host ${name} does not respond. Sites that use it are down.`,
          'Check its log in mariadb/ in the data folder of the host, and the free disk space.',
        ),
      )
  })
