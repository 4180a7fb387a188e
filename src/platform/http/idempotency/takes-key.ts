import type { Endpoint } from '../endpoint.ts'

/**
 * Returns whether an endpoint accepts an `Idempotency-Key`. Every authenticated endpoint other than GET does, including
 * a POST that only reads. An upload does not, because its offset identifies it.
 */
export const takesKey = ({ method, access, upload }: Pick<Endpoint, 'method' | 'access' | 'upload'>): boolean =>
  method !== 'GET' && access !== 'public' && !upload
