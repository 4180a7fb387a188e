<?php
// What a site gets that asks itself for wp-cron.php: nothing, and that it was reached. The host runs its events, and two at once would
// run some of them twice.
header('Cache-Control: no-store');
