/** Where certificate authorities ask (RFC 8555 §8.3). */
export const ACME_CHALLENGES = '/.well-known/acme-challenge/'

/** Tokens of certificate authorities: they are asked for at any time (RFC 8555 §8.3), and shown whatever the site's state. */
export const isAcmeChallenge = (target: string): boolean => target.startsWith(ACME_CHALLENGES)
