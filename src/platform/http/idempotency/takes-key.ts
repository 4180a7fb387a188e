import type { Endpoint } from '../endpoint.ts'

/**
 * Whether an endpoint takes an `Idempotency-Key`: whatever is no GET does, on behalf of a caller; that of a POST which only reads counts, too. An
 * upload says by its offset what it is.
 */
export const takesKey = ({ method, access, upload }: Pick<Endpoint, 'method' | 'access' | 'upload'>): boolean =>
  method !== 'GET' && access !== 'public' && !upload
