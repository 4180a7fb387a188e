import Type from 'typebox'
import { invalidInput } from '../../platform/http/problem.ts'
import { oneOf, Timestamp, timestamp } from '../../platform/http/schemas.ts'
import { isMailAddress } from '../../platform/mail/mail-address.ts'
import { type Role, roles } from '../access/roles.ts'
import { normalEmail } from '../account/public.ts'

/** Collaboration of an account on a site of another account. */
export interface Collaborator {
  readonly id: number
  readonly siteId: number
  readonly siteName: string
  /** The collaborating account. */
  readonly accountId: number
  readonly email: string
  readonly name: string
  readonly ownerAccountId: number
  readonly state: string
  readonly wpUsername: string
  readonly roles: readonly Role[]
  readonly createdAt: number
  readonly updatedAt: number
}

export const CollaboratorId = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })

const fields = {
  id: Type.Integer(),
  created: Timestamp,
  updated: Timestamp,
  accountId: Type.Integer(),
  email: Type.String({ examples: ['colleague@example.com'] }),
  siteId: Type.Integer(),
  state: Type.String({ examples: ['active'] }),
  wpUsername: Type.String({
    description: 'WordPress user of a collaborator with the role wp_access',
    examples: ['colleague'],
  }),
  name: Type.String({ examples: ['A Colleague'] }),
  siteName: Type.String({ examples: ['my-first-site'] }),
}

/** Limit for each site, and of accounts with account-level access for each account. */
export const MOST_COLLABORATORS = 200

/** Collaborator as the operations of one site show it. */
export const CollaboratorSchema = Type.Object(fields, { title: 'Collaborator' })
export const CollaboratorWithRoles = Type.Object(
  { ...fields, roles: Type.Array(oneOf(roles), { examples: [['manage_notes', 'wp_access']] }) },
  { title: 'CollaboratorWithRoles' },
)

/** Roles in a body. None if absent. */
export const RolesField = Type.Optional(
  Type.Array(oneOf(roles), {
    maxItems: 100,
    description: 'Default: none',
    examples: [['manage_notes', 'wp_access']],
  }),
)
export const EmailField = Type.String({
  maxLength: 1000,
  description: 'E-mail address',
  examples: ['colleague@example.com'],
})
export const SiteIdsField = Type.Array(Type.Integer({ minimum: -1, maximum: Number.MAX_SAFE_INTEGER, examples: [1] }), {
  minItems: 1,
  maxItems: 10_000,
})

export function presentCollaborator(found: Collaborator): Type.Static<typeof CollaboratorSchema> {
  return {
    id: found.id,
    created: timestamp(found.createdAt),
    updated: timestamp(found.updatedAt),
    accountId: found.accountId,
    email: found.email,
    siteId: found.siteId,
    state: found.state,
    wpUsername: found.wpUsername,
    name: found.name,
    siteName: found.siteName,
  }
}

export const presentWithRoles = (found: Collaborator) => ({ ...presentCollaborator(found), roles: [...found.roles] })

/** `user_email` of WordPress has room for no more. */
const EMAIL_MOST_CHARACTERS = 100

/**
 * Returns the address in the form of accounts.
 * @throws Problem `invalid_input`
 */
export function emailOf(given: string): string {
  const email = normalEmail(given)
  if (!isMailAddress(email)) throw invalidInput(['email: must be a valid email'])
  if (email.length > EMAIL_MOST_CHARACTERS)
    throw invalidInput([`email: must be at most ${EMAIL_MOST_CHARACTERS} characters`])
  return email
}

/** Removes duplicate roles, and sorts them as in the table of roles. */
export const distinctRoles = (given: readonly Role[] = []): Role[] => roles.filter((role) => given.includes(role))

export const hasWpAccess = (held: readonly Role[]): boolean => held.includes('wp_access')

/** `user_login` of WordPress has room for no more. */
const LOGIN_MOST_CHARACTERS = 60

/**
 * Returns a WordPress user name for an address: what strict `sanitize_user` leaves of the part before the `@`.
 * @param taken names in use on the site, in lower case
 */
export function wpUsernameFor(email: string, taken: ReadonlySet<string>): string {
  const local = email.slice(0, email.lastIndexOf('@'))
  const clean = local.replace(/%[a-f0-9]{2}|&.+?;/gi, '').replace(/[^a-z0-9_.-]/gi, '')
  const base = clean.slice(0, LOGIN_MOST_CHARACTERS) || 'user'
  for (let number = 1; ; number++) {
    const suffix = number === 1 ? '' : `-${number}`
    const name = base.slice(0, LOGIN_MOST_CHARACTERS - suffix.length) + suffix
    if (!taken.has(name.toLowerCase())) return name
  }
}
