import { isIP } from 'node:net'

/** Endings of names that no authority knows (RFC 6761, RFC 6762, RFC 7686, RFC 9476). */
export const localEndings = ['localhost', 'local', 'internal', 'invalid', 'onion', 'alt'] as const

const isLocal = (hostName: string): boolean => localEndings.some((ending) => `.${hostName}`.endsWith(`.${ending}`))

/** Returns whether an authority could issue a certificate for a name, wherever it points. */
export const isCertifiable = (hostName: string): boolean =>
  hostName.includes('.') && isIP(hostName) === 0 && !hostName.startsWith('[') && !isLocal(hostName)
