import { domainSharedWithSites } from '../../resources/access/reserved-names.ts'
import { sharedDomainFinding, takenNameFinding } from '../../resources/installation/installation-names.ts'
import { takenReservedNames } from '../../resources/installation/taken-names.store.ts'
import { type Check, ok, onDatabase, problem, warning } from './check.ts'

/**
 * Checks for names of the installation that someone got before a setting reserved them, and for a domain that the panel
 * shares.
 */
export const reservedNamesCheck: Check = {
  area: 'names',
  async run(context) {
    const { config } = context
    const shared = config.panel === 'on' ? domainSharedWithSites(config) : undefined
    const found = shared === undefined ? [] : [warning(...sharedDomainFinding(shared))]
    const taken = await onDatabase(context, async ({ database }) => {
      const names = await takenReservedNames(database.read, config)
      return names.length === 0
        ? [ok('No account uses a name of the installation.')]
        : names.map((name) => problem(...takenNameFinding(name)))
    })
    return [...found, ...taken]
  },
}
