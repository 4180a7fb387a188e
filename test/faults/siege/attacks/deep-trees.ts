import type { Attack } from './attack.ts'
import { atRate, hostileRequest, siteOf } from './hostile.ts'

/**
 * Folders whose path is longer than the system allows (PATH_MAX, 4096 bytes): two deep trees, one moved to the bottom
 * of the other. Also folders without permissions.
 */
const digger = `<?php
$base = __DIR__ . '/wp-content/uploads/deep-' . bin2hex(random_bytes(4));
$name = str_repeat('d', 200);
$bottom = function ($top) use ($name) { for ($n = 0, $path = $top; $n < 15; $n++) $path .= "/$name"; return $path; };
foreach (['a', 'b', 'c'] as $tree) @mkdir($bottom("$base/$tree"), 0755, true);
@rename("$base/b", $bottom("$base/a") . '/b');
@mkdir("$base/closed/inside", 0755, true);
@file_put_contents("$base/closed/inside/file", 'x');
@chmod("$base/closed/inside", 0);
@chmod("$base/closed", 0);
echo is_dir($bottom("$base/a") . '/b') ? 'deep' : 'not deep';`

const site = 4

export const deepTrees: Attack = {
  name: 'trees that cannot be deleted',
  connections: 1,
  files: (of) => (of === site ? { 'dig.php': digger } : undefined),
  async run(target, signal) {
    await atRate(0.2, 1, signal, (n) =>
      hostileRequest(target, { host: siteOf(target, site), path: '/dig.php', n }, signal),
    )
  },
}
