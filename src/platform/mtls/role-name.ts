import type { X509Certificate } from 'node:crypto'

/** The roles that have certificates. */
export const certifiedRoles = ['control', 'edge', 'host'] as const
export type CertifiedRole = (typeof certifiedRoles)[number]

/** Returns whether a machine can have a name: 1 to 63 letters, digits, and hyphens. */
export const isMachineName = (name: string): boolean => /^[a-z0-9][a-z0-9-]{0,62}$/i.test(name)

/** The owner of a certificate. */
export interface RoleName {
  readonly role: CertifiedRole
  /** The name of the host, or of the machine. */
  readonly name: string
}

/** Returns the URI by which a certificate names its owner: `host:h1`. */
export const uriOf = ({ role, name }: RoleName): string => `${role}:${encodeURIComponent(name)}`

/** Any other name in a certificate makes it unusable, so that nobody is two at once. */
const ONE_URI = /^URI:(control|edge|host):([^\s",:;/]+)$/

/** Returns the owner of a certificate. @returns undefined unless it has exactly one name, of a role */
export function ownerOf({ subjectAltName }: Pick<X509Certificate, 'subjectAltName'>): RoleName | undefined {
  const [, role, name] = ONE_URI.exec(subjectAltName ?? '') ?? []
  try {
    return role === undefined ? undefined : { role: role as CertifiedRole, name: decodeURIComponent(name as string) }
  } catch {
    return undefined
  }
}
