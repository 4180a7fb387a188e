import type { Attack } from './attack.ts'
import { atRate, hostileRequest, siteOf } from './hostile.ts'

/** Writes as much as a request can, in large files and in many small ones. */
const writer = `<?php
$folder = __DIR__ . '/wp-content/uploads/heap-' . bin2hex(random_bytes(4));
@mkdir($folder, 0755, true);
$block = random_bytes(1 << 20);
for ($file = 0; $file < 10; $file++) {
  $to = @fopen("$folder/large-$file", 'w');
  for ($n = 0; $to && $n < 64; $n++) if (@fwrite($to, $block) !== strlen($block)) break 2;
}
for ($n = 0; $n < 5000; $n++) if (@file_put_contents("$folder/small-$n", 'x') === false) break;
echo $n;`

const sites = [3, 6]

export const files: Attack = {
  name: 'files without end',
  connections: 2,
  files: (site) => (sites.includes(site) ? { 'heap.php': writer } : undefined),
  async run(target, signal) {
    await atRate(0.5, 2, signal, (n) =>
      hostileRequest(target, { host: siteOf(target, sites[n % 2] as number), path: '/heap.php', n }, signal),
    )
  },
}
