import type { Attack } from './attack.ts'
import { atRate, hostileCall, hostileRequest, siteOf } from './hostile.ts'

/** Reports that pages changed, as fast as it can, with long lists and with nonsense. */
const storm = `<?php
$paths = array_map(fn ($n) => '/' . str_repeat(chr(97 + $n % 26), 900) . $n, range(1, 100));
for ($n = 0; $n < 3000; $n++)
  post_message_to_js($n % 3 ? json_encode(['changed' => ['pages' => $paths, 'files' => true]]) : str_repeat('[', 50000));
echo $n;`

export const changes: Attack = {
  name: 'changes without end',
  connections: 1,
  files: (site) => (site === 2 ? { 'storm.php': storm } : undefined),
  async run(target, signal) {
    await atRate(1, 1, signal, (n) =>
      hostileRequest(target, { host: siteOf(target, 2), path: '/storm.php', n }, signal),
    )
  },
}

/** Requests as much as the token's rate allows: purges, long notes, mails to one person. */
export const orders: Attack = {
  name: 'orders by the API',
  connections: 12,
  async run(target, signal) {
    const siteAt = (n: number) => `/v1/sites/${target.sites[n % target.sites.length]?.id}`
    const call = (method: string, path: string, body?: unknown) => hostileCall(target, method, path, body, signal)
    await Promise.all([
      atRate(20, 4, signal, (n) => call('DELETE', `${siteAt(n)}/edge-cache`)),
      atRate(5, 4, signal, (n) => call('POST', `${siteAt(n)}/notes`, { subject: 'n', body: 'x'.repeat(200_000) })),
      atRate(5, 4, signal, (n) =>
        call('POST', `${siteAt(n)}/collaborators`, { email: 'victim@example.com', roles: ['manage_notes'] }),
      ),
    ])
  },
}
