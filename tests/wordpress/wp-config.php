<?php
/** The configuration of the site below DIR; `up.sh` copies it to `DIR/site`. */

$dir = dirname(__DIR__);

define('DB_NAME', 'wordpress');
define('DB_USER', 'root');
define('DB_PASSWORD', '');
define('DB_HOST', "localhost:$dir/mysql.sock");
define('DB_CHARSET', 'utf8mb4');
define('DB_COLLATE', '');
$table_prefix = 'wp_';

// The port may be another one at the next start. A site in a subfolder is the same site: see `router.php`.
$url = is_file("$dir/url") ? trim(file_get_contents("$dir/url")) : 'http://127.0.0.1';
define('WP_HOME', $url . ($_SERVER['SITE_FOLDER'] ?? ''));
define('WP_SITEURL', WP_HOME);

// `local` allows application passwords without https.
define('WP_ENVIRONMENT_TYPE', 'local');
define('WP_DEFAULT_THEME', 'plain');
define('WP_DEBUG', false);
define('WP_DEBUG_DISPLAY', false);
// A fatal error belongs into the log, not on a page.
define('WP_DISABLE_FATAL_ERROR_HANDLER', true);

// Nothing leaves this machine.
define('WP_HTTP_BLOCK_EXTERNAL', true);
define('DISABLE_WP_CRON', true);
define('AUTOMATIC_UPDATER_DISABLED', true);
define('DISALLOW_FILE_MODS', true);

foreach (['AUTH_KEY', 'SECURE_AUTH_KEY', 'LOGGED_IN_KEY', 'NONCE_KEY', 'AUTH_SALT', 'SECURE_AUTH_SALT', 'LOGGED_IN_SALT', 'NONCE_SALT'] as $name) {
    define($name, "not a secret: $name");
}

if (!defined('ABSPATH')) {
    define('ABSPATH', __DIR__ . '/');
}
require_once ABSPATH . 'wp-settings.php';
