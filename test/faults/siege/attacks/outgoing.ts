import type { Attack } from './attack.ts'
import { atRate, hostileRequest, siteOf } from './hostile.ts'

/** Connects to everything that is refused: this machine, private networks, the host itself. */
const connector = `<?php
for ($n = 0; $n < 400; $n++)
  $open[] = @stream_socket_client('tcp://127.0.0.1:' . (1 + $n), $code, $text, 0.05, STREAM_CLIENT_CONNECT | STREAM_CLIENT_ASYNC_CONNECT);
echo count($open);`

export const outgoing: Attack = {
  name: 'outgoing connections',
  connections: 1,
  files: (site) => (site === 0 ? { 'connect.php': connector } : undefined),
  async run(target, signal) {
    await atRate(1, 1, signal, (n) =>
      hostileRequest(target, { host: siteOf(target, 0), path: '/connect.php', n }, signal),
    )
  },
}
