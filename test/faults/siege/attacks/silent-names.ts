import { mayHaveNameServer } from '../name-server.ts'
import type { Attack } from './attack.ts'
import { atRate, hostileRequest, siteOf } from './hostile.ts'

/** Looks up names whose name server never answers, a different one each time. */
const asker = `<?php
for ($n = 0; $n < 20; $n++) @file_get_contents('http://' . bin2hex(random_bytes(6)) . '.silent.test/');
echo 'asked';`

const sites = [5, 7]

export const silentNames: Attack = {
  name: 'silent name servers',
  connections: 2,
  files: (site) => (sites.includes(site) ? { 'ask.php': asker } : undefined),
  missing: () => (mayHaveNameServer ? undefined : 'needs root and unshare, to give Stead a name server of its own'),
  async run(target, signal) {
    await atRate(1, 2, signal, (n) =>
      hostileRequest(target, { host: siteOf(target, sites[n % 2] as number), path: '/ask.php', n }, signal),
    )
  },
}
