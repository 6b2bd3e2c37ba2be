<?php
/** Creates WordPress's tables and its first user: `php install.php SITE`. */

define('WP_INSTALLING', true);

/** In place of WordPress's own, which adds a post, a page and a comment. */
function wp_install_defaults(int $user_id): void
{
    global $wpdb;
    $wpdb->insert($wpdb->terms, ['term_id' => 1, 'name' => 'Uncategorized', 'slug' => 'uncategorized']);
    $wpdb->insert($wpdb->term_taxonomy, ['term_id' => 1, 'taxonomy' => 'category', 'description' => '', 'parent' => 0]);
    update_option('default_category', 1);
}

$_SERVER['HTTP_HOST'] = '127.0.0.1';
require $argv[1] . '/wp-load.php';
require ABSPATH . 'wp-admin/includes/upgrade.php';

wp_install('Breakage & Söhne', 'admin', 'admin@example.com', true, '', 'not a secret');
