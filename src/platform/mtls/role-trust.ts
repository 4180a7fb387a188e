import { constants, type X509Certificate } from 'node:crypto'
import { createSecureContext, type SecureContext, type SecureContextOptions } from 'node:tls'
import { type CertifiedRole, ownerOf } from './role-name.ts'

/** A certificate and its private key, both in PEM. */
export interface OwnCertificate {
  readonly certificate: string
  readonly key: string
}

/** What a process knows about the other roles of its installation. */
export interface KnownRoles {
  /** The certificates of the installation's authorities in PEM. Two while they change. */
  readonly authorities: readonly string[]
  /** Serial numbers of certificates that were revoked before their end. */
  readonly revoked: readonly string[]
}

/** The roles that may be at the other end of a connection. */
export interface Expected {
  readonly roles: readonly CertifiedRole[]
  /** Undefined for any. */
  readonly name?: string | undefined
}

/**
 * The certificate of this process, and the judgment of others: a connection between machines carries on only while both
 * ends have a valid certificate of the installation for the expected role.
 */
export class RoleTrust {
  readonly #now: () => number
  readonly #listeners = new Set<() => void>()
  #own: OwnCertificate
  #known: KnownRoles
  #revoked: ReadonlySet<string>
  #context: SecureContext | undefined

  /** @param now milliseconds UTC */
  constructor(own: OwnCertificate, known: KnownRoles, now: () => number = Date.now) {
    this.#own = own
    this.#known = known
    this.#revoked = new Set(known.revoked)
    this.#now = now
  }

  /** Uses another certificate, or newer knowledge. Connections whose peer lost its trust are closed. */
  use(own: OwnCertificate, known: KnownRoles): void {
    const before = JSON.stringify([this.#own, this.#known])
    if (before === JSON.stringify([own, known])) return
    this.#own = own
    this.#known = known
    this.#revoked = new Set(known.revoked)
    this.#context = undefined
    this.tell()
  }

  /** Calls the listeners, which check the peers of existing connections: certificates also end with time. */
  tell(): void {
    for (const listener of this.#listeners) listener()
  }

  /** @returns a function that ends the subscription */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Returns the options of both ends of a connection. */
  options(): SecureContextOptions {
    const { certificate, key } = this.#own
    return {
      ...{ cert: certificate, key, ca: [...this.#known.authorities] },
      ...{ minVersion: 'TLSv1.3', ciphers: 'TLS_AES_128_GCM_SHA256', ecdhCurve: 'X25519' },
      // Connections are kept. Resuming sessions would spare little, and skip checks.
      secureOptions: constants.SSL_OP_NO_TICKET,
    }
  }

  /** The same for clients, prepared once. */
  context(): SecureContext {
    this.#context ??= createSecureContext(this.options())
    return this.#context
  }

  /**
   * Returns why the owner of a certificate must not be talked to, or undefined when it may. TLS has already checked
   * who signed it.
   */
  faultOf(certificate: X509Certificate | undefined, { roles, name }: Expected): string | undefined {
    if (!certificate) return 'it has no certificate'
    const owner = ownerOf(certificate)
    if (!owner) return 'its certificate does not name a role'
    if (!roles.includes(owner.role)) return `it is ${owner.role} ${owner.name}, not ${roles.join(' or ')}`
    if (name !== undefined && owner.name !== name) return `it is ${owner.role} ${owner.name}, not ${name}`
    if (this.#revoked.has(certificate.serialNumber)) return `the certificate of ${owner.role} ${owner.name} was revoked`
    if (Date.parse(certificate.validTo) <= this.#now())
      return `the certificate of ${owner.role} ${owner.name} has expired`
    return undefined
  }
}
