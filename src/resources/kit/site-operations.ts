import { type Access, refusalOf, type SiteCapability } from '../access/access.ts'
import type { SiteRights } from '../sites/site.ts'
import type { Caller } from './context.ts'

/** What an endpoint asks of who calls it about a site. */
export interface SiteOperation {
  /** The id of the endpoint. */
  readonly operation: string
  /** Of its body: what sending this field asks besides. */
  readonly field: string | null
  readonly capabilities: readonly SiteCapability[]
}

/** All that can be done with a site, in the order of the API's description. */
export function siteOperations(endpoints: readonly { id: string; access: unknown }[]): SiteOperation[] {
  return endpoints.flatMap(({ id: operation, access }): SiteOperation[] => {
    const rule = access as Access
    if (rule === 'public' || 'account' in rule) return []
    if ('sites' in rule) return [{ operation, field: null, capabilities: rule.sites }]
    const ofFields = Object.entries(rule.fields ?? {}).map(([field, name]) => ({
      operation,
      field,
      capabilities: [name],
    }))
    return [{ operation, field: null, capabilities: [rule.site] }, ...ofFields]
  })
}

/** @returns in the API's own words why the caller may not; `undefined` when it may */
export const reasonAgainst = (asked: SiteOperation, caller: Caller, site: SiteRights): string | undefined =>
  asked.capabilities.map((name) => refusalOf(name, caller, site)?.message).find((message) => message !== undefined)
