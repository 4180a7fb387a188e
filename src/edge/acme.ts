/** Tokens of certificate authorities: they are asked for at any time (RFC 8555 §8.3), and shown whatever the site's state. */
export const isAcmeChallenge = (target: string): boolean => target.startsWith('/.well-known/acme-challenge/')
