import type { Rule } from '../visit.ts'
import { disabledSite } from './disabled-site.ts'
import { maintenance } from './maintenance.ts'
import { refusedMethods } from './refused-methods.ts'
import { refusedUpgrades } from './refused-upgrades.ts'
import { siteInPreparation } from './site-in-preparation.ts'
import { unknownHost } from './unknown-host.ts'

/** What happens to a visit before it reaches the site's host, in this order; the first answer counts. */
export const rules: readonly Rule[] = [
  unknownHost,
  disabledSite,
  siteInPreparation,
  refusedMethods,
  refusedUpgrades,
  maintenance,
]
