import { LRUCache } from 'lru-cache'
import { httpProblems, Problem } from './problem.ts'

const WINDOW_MS = 60_000

export interface RateLimit {
  /**
   * Counts one request of `key`.
   * @returns headers that show the client its remaining quota (draft-ietf-httpapi-ratelimit-headers)
   * @throws Problem `rate_limited` with `Retry-After`
   */
  count(key: string | number, nowMs: number): Record<string, string>
}

/**
 * Creates a limit with a fixed window of a minute, counted in this process.
 * @param limit requests per window; 0 means no limit
 */
export function createRateLimit(name: string, limit: number): RateLimit {
  if (limit === 0) return { count: () => ({}) }
  const windows = new LRUCache<string | number, { endsAt: number; used: number }>({ max: 100_000 })
  const policy = `"${name}";q=${limit};w=${WINDOW_MS / 1000}`
  return {
    count(key, nowMs) {
      let window = windows.get(key)
      // The clock was set back if the end is further away than a window's length.
      if (!window || window.endsAt <= nowMs || window.endsAt > nowMs + WINDOW_MS) {
        window = { endsAt: nowMs + WINDOW_MS, used: 0 }
        windows.set(key, window)
      }
      window.used++
      const seconds = Math.ceil((window.endsAt - nowMs) / 1000)
      const headers = {
        'ratelimit-policy': policy,
        ratelimit: `"${name}";r=${Math.max(0, limit - window.used)};t=${seconds}`,
      }
      if (window.used > limit)
        throw new Problem(
          httpProblems.rate_limited,
          { seconds },
          { headers: { ...headers, 'retry-after': String(seconds) } },
        )
      return headers
    },
  }
}
