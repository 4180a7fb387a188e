import type { Config } from '../../config.ts'
import type { Tx } from '../../platform/db/database.ts'
import { addressesOf, edgeAddresses, type Site } from '../sites/public.ts'
import type { ChecklistItem, StoredImport } from './import.ts'

/**
 * Returns the owner's tasks until visitors of the old address reach the new site, in order. Empty until there is a
 * plan.
 */
export async function checklistOf(
  tx: Tx,
  site: Pick<Site, 'id' | 'name'>,
  { plan, live }: Pick<StoredImport, 'plan' | 'live'>,
  config: Config,
): Promise<ChecklistItem[]> {
  const domain = plan && URL.parse(plan.from.home)?.hostname
  if (!plan || !domain) return []
  const known = await addressesOf(tx, site, config)
  const addresses = edgeAddresses(config).join(' and ')
  const hasDomain = known.some((address) => address.replace(/:\d+$/, '') === domain)
  return [
    {
      title: 'Look at the site',
      text: `Open https://${plan.to.address}/, log in, and try its forms, its search and its shop.`,
    },
    {
      title: 'Lower the TTL',
      text: `At the DNS host of ${domain}, set the TTL of its A, AAAA and CNAME records to 300 seconds a day before.`,
    },
    ...(hasDomain ? [] : [{ title: 'Add the domain', text: `Add ${domain} to the domains of the site.` }]),
    {
      title: 'Stop changes on the old site',
      text: live
        ? 'Put it into maintenance before you start the import: Stead then fetches the changes since the inspection. Later posts and orders are not imported.'
        : 'The archive does not contain newer posts or orders. Import again if there are any.',
    },
    {
      title: 'Point the domain here',
      text: `Set the A and AAAA records of ${domain} to ${addresses}. Leave its MX and TXT records as they are, so that mail still arrives.`,
    },
    {
      title: 'Set the primary domain',
      text: `Make ${domain} the primary domain of the site: its certificate is then issued, and its addresses are rewritten.`,
    },
    ...(live?.type === 'plugin'
      ? [{ title: 'Remove the plugin', text: 'Delete the plugin Stead Move from the old site.' }]
      : []),
    { title: 'Send a test mail', text: 'Mails of the site now leave from here. Check the SPF record of the domain.' },
    { title: 'Keep the old site', text: 'Leave it where it is for a week, then cancel it.' },
  ]
}
