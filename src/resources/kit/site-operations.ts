import { type Access, refusalOf, type SiteCapability } from '../access/access.ts'
import type { SiteRights } from '../sites/rights.store.ts'
import type { Caller } from './caller.ts'

/** What an endpoint requires of callers of a site. */
export interface SiteOperation {
  /** Id of the endpoint. */
  readonly operation: string
  /** Field of the body that requires more if it is sent. */
  readonly field: string | null
  readonly capabilities: readonly SiteCapability[]
}

/** Returns all operations on sites that the API offers, in the order of its description. */
export function siteOperations(endpoints: readonly { id: string; access: unknown }[]): SiteOperation[] {
  return endpoints.flatMap(({ id: operation, access }): SiteOperation[] => {
    const rule = access as Access
    if (rule === 'public' || 'account' in rule) return []
    if ('sites' in rule) return [{ operation, field: null, capabilities: rule.sites }]
    const ofFields = Object.entries(rule.fields ?? {}).map(([field, name]) => ({
      operation,
      field,
      capabilities: [rule.site, name],
    }))
    return [{ operation, field: null, capabilities: [rule.site] }, ...ofFields]
  })
}

/** @returns why the caller may not, in the API's own words, or `undefined` when it may */
export const reasonAgainst = (asked: SiteOperation, caller: Caller, site: SiteRights): string | undefined =>
  asked.capabilities.map((name) => refusalOf(name, caller, site)?.message).find((message) => message !== undefined)
