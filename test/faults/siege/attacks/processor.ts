import type { Attack } from './attack.ts'
import { atRate, hostileRequest, siteOf } from './hostile.ts'

/** Computes until it is stopped. */
const loop = `<?php set_time_limit(0); while (true) hash('sha256', random_bytes(64));`

export const processor: Attack = {
  name: 'loops',
  connections: 2,
  files: () => ({ 'loop.php': loop }),
  async run(target, signal) {
    await atRate(1, 2, signal, (n) =>
      hostileRequest(target, { host: siteOf(target, n % 2 ? 7 : 1), path: '/loop.php', n }, signal),
    )
  },
}
