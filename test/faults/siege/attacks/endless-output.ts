import type { Attack } from './attack.ts'
import { atRate, hostileRequest, siteOf } from './hostile.ts'

/** Prints without end: in a page with `?endless`, and in each scheduled event, which is due again at once. */
const plugin = `<?php
if (isset($_GET['endless'])) while (true) echo str_repeat('x', 1 << 16);
add_action('siege_tick', function () { while (true) echo str_repeat('x', 1 << 16); });
add_action('init', function () {
  if (!wp_next_scheduled('siege_tick')) wp_schedule_single_event(time() - 60, 'siege_tick');
});`

const [inPages, inEvents] = [0, 1]

export const endlessOutput: Attack = {
  name: 'output without end',
  connections: 4,
  files: (site) =>
    site === inPages || site === inEvents ? { 'wp-content/mu-plugins/endless.php': plugin } : undefined,
  async run(target, signal) {
    // an ordinary visit schedules the event, and it runs when the host looks for due events, once a minute
    await hostileRequest(target, { host: siteOf(target, inEvents), path: '/?plan', n: 1 }, signal)
    await atRate(2, 4, signal, (n) =>
      hostileRequest(target, { host: siteOf(target, inPages), path: '/?endless', n, mostBytes: 64 << 20 }, signal),
    )
  },
}
