<?php
// Answers a site that requests its own wp-cron.php: an empty response, which shows that the site is reachable. The host
// runs the events. If two ran them at once, some would run twice.
header('Cache-Control: no-store');
