import type { Tx } from '../../platform/db/database.ts'
import type { Input } from '../../platform/http/pipeline.ts'
import { notFound, Problem } from '../../platform/http/problem.ts'
import { isOperator } from '../account/account.store.ts'
import { problems as authenticationProblems } from '../authentication/problems.ts'
import { mayCreateSitesFor } from '../collaborators/account-access.store.ts'
import type { Caller } from '../kit/caller.ts'
import { ownedSites, type SiteRights, sitesWithRights } from '../sites/rights.store.ts'
import { holdVisibleSite, type VisibleSite, visibleSite } from '../sites/show/visible-site.store.ts'
import type { Role } from './roles.ts'

interface Capability {
  /**
   * The role that a collaborator needs, or `null` if seeing the site is enough. The owning account may do everything.
   */
  readonly role: Role | null
  /** The application must have been created with account owner permission. */
  readonly scope?: 'owner'
}

/** The complete table of the access to a site. Endpoints name a capability, and nothing else decides. */
export const capabilities = {
  'read the site': { role: null },
  'clone the site': { role: 'clone_site' },
  'convert the site': { role: 'convert_site', scope: 'owner' },
  'disable the site': { role: 'disable_site', scope: 'owner' },
  'enable the site': { role: 'enable_site', scope: 'owner' },
  'delete the site': { role: 'delete_site' },
  'rename the site': { role: 'update_site_custom_name' },
  'change the PHP version': { role: 'update_site_php_version' },
  'change the CMS version': { role: 'update_site_cms_version' },
  'manage performance': { role: 'manage_performance' },
  'manage DNS': { role: 'manage_dns' },
  'add collaborators': { role: 'create_collaborator' },
  'remove collaborators': { role: 'delete_collaborator' },
  'reset collaborator passwords': { role: 'reset_collaborator_password' },
  'use backups': { role: 'download_backups' },
  'restore the site': { role: 'restore_site' },
  'manage plugins': { role: 'plugin_management_access' },
  'manage notes': { role: 'manage_notes' },
  'administer the CMS': { role: 'wp_access' },
  'use SFTP': { role: 'sftp_access' },
  'administer the database': { role: 'db_admin_access' },
  'change many sites at once': { role: 'execute_bulk_operations' },
} as const satisfies Record<string, Capability>

export type SiteCapability = keyof typeof capabilities

/** Access that an endpoint requires from its caller. */
export type Access =
  | 'public'
  /** Any valid token: the endpoint acts on the caller's own account, or on what the caller can see. */
  | { readonly account: 'own'; readonly scope?: 'owner' }
  /** A person in the control panel, with a session instead of a token. */
  | { readonly account: 'session' }
  /** Only the account that operates the installation, with the scope `owner`. */
  | { readonly account: 'operator' }
  /**
   * A capability on the site that the path names. `fields` lists body fields that need another one, checked only when
   * sent.
   */
  | { readonly site: SiteCapability; readonly fields?: Readonly<Record<string, SiteCapability>> }
  /** Any valid token. `account_id` of the body names another account, which must let the caller create sites for it. */
  | { readonly account: 'createSites' }
  /**
   * All these capabilities on each site of `siteIds` in the body. `-1` means all sites that the caller owns, or all
   * those where it has the capabilities.
   */
  | { readonly sites: readonly SiteCapability[]; readonly all: 'owned' | 'capable' }

/** What `authorize` adds to the context of a handler. */
export type AccessContext<Rule extends Access> = Rule extends { site: SiteCapability }
  ? { site: VisibleSite }
  : Rule extends { sites: unknown }
    ? { sites: readonly SiteRights[] }
    : Rule extends { account: 'session' }
      ? { session: NonNullable<Caller['session']> }
      : Rule extends { account: 'createSites' }
        ? { ownerId: number }
        : unknown

/**
 * Checks the access of a request. In a transaction, holds the site of the path until the transaction ends.
 * @returns the site of the path for endpoints of a site
 * @throws Problem `not_found` for what the caller cannot see, `forbidden`, `insufficient_scope`
 */
export async function authorize(rule: Access, caller: Caller, input: Input, tx: Tx): Promise<object> {
  if (rule === 'public') return {}
  if ('sites' in rule) return { sites: await sitesOf(rule, caller, input.body.siteIds as number[] | undefined, tx) }
  if ('account' in rule) {
    if (rule.account === 'createSites')
      return { ownerId: await ownerOfNewSite(caller, input.body.account_id as number | undefined, tx) }
    if (rule.account === 'session') return { session: sessionOf(caller) }
    if (rule.account === 'operator') return requireOperator(caller, tx)
    if (rule.scope === 'owner') requireOwnerScope(caller)
    return {}
  }
  const id = (input.params.site_id ?? input.params.id) as number
  const site = await (tx.isTransaction ? holdVisibleSite : visibleSite)(tx, caller.accountId, id)
  if (!site) throw notFound()
  requireAccess(rule.site, caller, site)
  for (const [field, capability] of Object.entries(rule.fields ?? {}))
    if (input.body[field] !== undefined) requireAccess(capability, caller, site)
  return { site }
}

/** @throws Problem unless the caller has the capability on the site */
export function requireAccess(name: SiteCapability, caller: Caller, site: SiteRights): void {
  const refusal = refusalOf(name, caller, site)
  if (refusal) throw refusal
}

/** @returns why the caller lacks the capability on the site, or `undefined` when it has it */
export function refusalOf(name: SiteCapability, caller: Caller, site: SiteRights): Problem | undefined {
  const { role, scope }: Capability = capabilities[name]
  if (role && !holds(name, site)) return new Problem(authenticationProblems.forbidden, { role })
  return scope === 'owner' && !caller.isOwner ? insufficientScope() : undefined
}

/**
 * Returns whether the account with these rights has the capability on the site, without regard to scopes of
 * applications.
 */
export function holds(name: SiteCapability, site: SiteRights): boolean {
  const { role }: Capability = capabilities[name]
  return role === null || site.isOwned || site.roles.includes(role)
}

/**
 * Returns the sites in order of id, without duplicates.
 * @throws Problem `not_found` when one of them is not visible; `forbidden`, which does not say on which site
 */
async function sitesOf(
  rule: Extract<Access, { sites: unknown }>,
  caller: Caller,
  asked: readonly number[] = [],
  tx: Tx,
): Promise<SiteRights[]> {
  if (asked.includes(ALL_SITES)) return allSitesOf(rule, caller, tx)
  const ids = [...new Set(asked)]
  const found = await sitesWithRights(tx, caller.accountId, ids)
  if (found.length < ids.length) throw notFound()
  for (const site of found) for (const name of rule.sites) requireAccess(name, caller, site)
  return found
}

/** Means all sites, in a list of site ids. */
export const ALL_SITES = -1

/**
 * Returns the sites that `-1` means. The first capability selects them, and the others decide whether the caller may
 * act on all of them at once.
 */
async function allSitesOf(rule: Extract<Access, { sites: unknown }>, caller: Caller, tx: Tx): Promise<SiteRights[]> {
  if (rule.all === 'owned') return ownedSites(tx, caller.accountId)
  const [first, ...others] = rule.sites as [SiteCapability, ...SiteCapability[]]
  const meant = (await sitesWithRights(tx, caller.accountId)).filter((site) => holds(first, site))
  const allowed = meant.filter((site) => others.every((name) => holds(name, site)))
  if (allowed.length === 0) for (const site of meant) for (const name of others) requireAccess(name, caller, site)
  return allowed
}

/** @throws Problem `not_found` for an account that does not let the caller create sites, or does not exist */
async function ownerOfNewSite(caller: Caller, asked: number | undefined, tx: Tx): Promise<number> {
  if (asked === undefined || asked === caller.accountId) return caller.accountId
  if (!(await mayCreateSitesFor(tx, asked, caller.accountId))) throw notFound()
  return asked
}

/** @throws Problem `insufficient_scope`, `operator_only` */
async function requireOperator(caller: Caller, tx: Tx): Promise<object> {
  requireOwnerScope(caller)
  if (!(await isOperator(tx, caller.accountId))) throw new Problem(authenticationProblems.operator_only, {})
  return {}
}

function sessionOf({ session }: Caller): NonNullable<Caller['session']> {
  if (!session) throw new Problem(authenticationProblems.no_session, {})
  return session
}

function requireOwnerScope(caller: Caller): void {
  if (!caller.isOwner) throw insufficientScope()
}

const insufficientScope = (): Problem =>
  new Problem(
    authenticationProblems.insufficient_scope,
    {},
    { headers: { 'www-authenticate': 'Bearer realm="stead", error="insufficient_scope", scope="owner"' } },
  )

/** Returns the sentence about callers for an endpoint's description, and the statuses that refuse one. */
export function describeAccess(rule: Access, proof = false): { text: string; refusals: number[]; scopes: string[] } {
  const namesOthers = typeof rule === 'object' && (!('account' in rule) || rule.account === 'createSites')
  return {
    text: [accessSentence(rule), proof ? PROOF_SENTENCE : ''].filter(Boolean).join(' '),
    refusals: [
      ...(canForbid(rule) || proof ? [403] : []),
      ...(isOfSession(rule) ? [400] : []),
      ...(namesOthers ? [404] : []),
    ],
    scopes: scopesOf(rule),
  }
}

const isOfSession = (rule: Access): boolean =>
  typeof rule === 'object' && 'account' in rule && rule.account === 'session'

const PROOF_SENTENCE = 'In the control panel, you must have confirmed your password in the last 15 minutes.'

function scopesOf(rule: Access): string[] {
  if (typeof rule !== 'object') return []
  if ('account' in rule)
    return rule.account === 'operator' ? ['owner'] : 'scope' in rule && rule.scope ? [rule.scope] : []
  const names: readonly SiteCapability[] = 'sites' in rule ? rule.sites : [rule.site]
  return [...new Set(names.flatMap((name) => (capabilities[name] as Capability).scope ?? []))]
}

function canForbid(rule: Access): boolean {
  if (rule === 'public') return false
  if ('account' in rule) return rule.account === 'operator' || ('scope' in rule && rule.scope !== undefined)
  const names = 'sites' in rule ? rule.sites : [rule.site, ...Object.values(rule.fields ?? {})]
  return names.some((name) => capabilities[name].role !== null)
}

function accessSentence(rule: Access): string {
  if (rule === 'public') return 'Requires no access token.'
  if ('sites' in rule) {
    const needed = rule.sites.map((name) => describeCapability(capabilities[name])).join(' and ')
    return `Requires the owner of each site, or a collaborator with ${needed}.`
  }
  if ('account' in rule) {
    if (rule.account === 'createSites')
      return 'Any account can create its own sites. To create sites for another account, you need its permission.'
    if (rule.account === 'session') return 'Requires a session of the control panel.'
    if (rule.account === 'operator')
      return 'Requires the operator of the installation, with an application that has account owner permission (scope `owner`).'
    return rule.scope ? 'Requires an application with account owner permission (scope `owner`).' : ''
  }
  const needed = describeCapability(capabilities[rule.site])
  const byField = Object.entries(rule.fields ?? {}).map(
    ([field, name]) => `\`${field}\`: ${describeCapability(capabilities[name])}`,
  )
  return `Requires the site's owner, or a collaborator with ${[needed, ...byField].join('; ')}.`
}

function describeCapability({ role, scope }: Capability): string {
  return `${role ? `the role \`${role}\`` : 'any role'}${scope ? ' and an application with the scope `owner`' : ''}`
}
