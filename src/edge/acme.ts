/** The path of ACME HTTP-01 challenges (RFC 8555 §8.3). */
export const ACME_CHALLENGES = '/.well-known/acme-challenge/'

/** Authorities can request a token at any time (RFC 8555 §8.3), so it is served whatever the site's state. */
export const isAcmeChallenge = (target: string): boolean => target.startsWith(ACME_CHALLENGES)
