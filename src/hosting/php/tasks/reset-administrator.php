<?php
// {email, name, login, password} → {login, created, dropIn}. Combines ensure-administrator and reset-password: sets the
// password of an administrator with this address, and creates the administrator if missing. Runs without plugins and
// theme, because users whom one of these locks out need it most.
require_once __DIR__ . '/safe-mode.php';
$ensure = require __DIR__ . '/ensure-administrator.php';

return static fn (array $input): array => $ensure($input) + [
    // The drop-in may still know the old password.
    'dropIn' => file_exists(WP_CONTENT_DIR . '/object-cache.php'),
];
