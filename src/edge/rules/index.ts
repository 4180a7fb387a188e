import type { Rule } from '../visit.ts'
import { closedSite } from './closed-site.ts'
import { disabledSite } from './disabled-site.ts'
import { maintenance } from './maintenance.ts'
import { primaryDomain } from './primary-domain.ts'
import { refusedMethods } from './refused-methods.ts'
import { refusedUpgrades } from './refused-upgrades.ts'
import { siteInPreparation } from './site-in-preparation.ts'
import { unknownHost } from './unknown-host.ts'

/** Rules that are made with something of their own. An edge that does without one leaves it out. */
export interface MadeRules {
  /** `createAcmeAnswers` makes it. */
  readonly acmeAnswers?: Rule
  /** `createLeadsHere` makes it. */
  readonly leadsHere?: Rule
  /** `createToHttps` makes it. */
  readonly toHttps?: Rule
  /** `createDefensiveMode` makes it. */
  readonly defensiveMode?: Rule
  /** `createPageCache` makes it. */
  readonly cache?: Rule
}

/**
 * All that the edge decides about a visit, in this order: the first answer counts, and what no rule answers goes to the site's
 * host. Only what is no proper request, or one too many on its connection, is refused before (`gateway.ts`).
 *
 * Why this order: first whether there is a site, then whether the site wants this kind of request, then who may see it, then
 * where the page comes from. So every rule may take for granted what those above it have settled, and costs a hit of the cache,
 * which passes all of them, a look at the route.
 */
export function edgeRules({ acmeAnswers, leadsHere, toHttps, defensiveMode, cache }: MadeRules = {}): readonly Rule[] {
  const all = [
    // whatever the state of the site: its name has a certificate, which has to be renewed; and so have names of Stead itself
    acmeAnswers,
    // the same, before anything is ordered; also of names that no site has yet
    leadsHere,
    // all others speak of a site
    unknownHost,
    // a site that is off says nothing but that, whatever is asked, and so does one that is not there yet
    disabledSite,
    siteInPreparation,
    // and one that is being worked on: not even its owner gets in, as in maintenance he would
    closedSite,
    // neither a page about maintenance nor a challenge is an answer to what no site ever answers
    refusedMethods,
    refusedUpgrades,
    // before anybody logs in, proves himself or is shown a page by an address that is not to be used
    toHttps,
    // whatever comes next is shown under the site's one address
    primaryDomain,
    // before the challenge: nobody is to prove himself for a page that says "come again". Before the cache, as is the next: what
    // it holds is the site's, which is not to be seen now
    maintenance,
    // a site under attack wants no scraper; which files of the cache are given to everybody it asks the cache itself
    defensiveMode,
    // last: it sends the visit to the host when it has no page, and the answer is its to keep
    cache,
  ]
  return all.filter((rule) => rule !== undefined)
}
