import type { Attack } from './attack.ts'
import { atRate, hostileRequest, siteOf } from './hostile.ts'

/** Lifts its own limit, allocates what it can get in steps, and keeps it. */
const eater = `<?php
ini_set('memory_limit', '-1');
set_time_limit(0);
$held = [];
for ($n = 0; $n < 3000; $n++) { $held[] = random_bytes(1 << 20); if ($n % 20 === 0) usleep(20000); }
sleep(30);
echo count($held);`

const sites = [2, 3, 4, 5]

export const memory: Attack = {
  name: 'memory without end',
  connections: sites.length,
  files: (site) => (sites.includes(site) ? { 'eat.php': eater } : undefined),
  async run(target, signal) {
    await atRate(1, sites.length, signal, (n) =>
      hostileRequest(target, { host: siteOf(target, sites[n % sites.length] as number), path: '/eat.php', n }, signal),
    )
  },
}
