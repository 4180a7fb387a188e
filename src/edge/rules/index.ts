import type { Rule } from '../visit.ts'
import { closedSite } from './closed-site.ts'
import { disabledSite } from './disabled-site.ts'
import { maintenance } from './maintenance.ts'
import { primaryDomain } from './primary-domain.ts'
import { refusedMethods } from './refused-methods.ts'
import { refusedUpgrades } from './refused-upgrades.ts'
import { siteInPreparation } from './site-in-preparation.ts'
import { unknownHost } from './unknown-host.ts'

/** Rules that need options. An edge without one omits it. */
export interface MadeRules {
  /** From `createAcmeAnswers`. */
  readonly acmeAnswers?: Rule
  /** From `createLeadsHere`. */
  readonly leadsHere?: Rule
  /** From `createToHttps`. */
  readonly toHttps?: Rule
  /** From `createDefensiveMode`. */
  readonly defensiveMode?: Rule
  /** From `createPageCache`. */
  readonly cache?: Rule
}

/**
 * Returns all rules by which the edge decides about a visit, in order. The first answer counts, and visits that no rule
 * answers go to the site's host. Only malformed requests, and too many on a connection, are refused earlier
 * (`gateway.ts`).
 *
 * The order: first whether there is a site, then whether the site accepts this kind of request, then who may see it,
 * then where the page comes from. Each rule can rely on those before it. A cache hit, which passes all of them, costs
 * one look at the route.
 */
export function edgeRules({ acmeAnswers, leadsHere, toHttps, defensiveMode, cache }: MadeRules = {}): readonly Rule[] {
  const all = [
    // In every state of the site, because its certificate still needs renewal. So do those of Stead's own names.
    acmeAnswers,
    // The same, before anything is ordered, and also for names that no site has yet.
    leadsHere,
    // All rules below need a site.
    unknownHost,
    // A site that is disabled, or does not exist yet, answers every request with that.
    disabledSite,
    siteInPreparation,
    // A site that is being worked on excludes even its owner, unlike maintenance.
    closedSite,
    // Methods that no site ever answers get neither a maintenance page nor a challenge.
    refusedMethods,
    refusedUpgrades,
    // Before a login, a challenge, or a page is served over http.
    toHttps,
    // The rules below serve under the site's one address.
    primaryDomain,
    // Before the challenge, so that nobody solves one for a page that says "come again". Before the cache, as is the
    // next, because its pages must not be shown now.
    maintenance,
    // A site under attack wants no scrapers. It asks the cache which stored files everyone gets.
    defensiveMode,
    // Last: it sends the visit to the host when it has no page, and stores the answer.
    cache,
  ]
  return all.filter((rule) => rule !== undefined)
}
