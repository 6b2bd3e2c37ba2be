<?php
/**
 * What hosts, caches and plugins do to WordPress, each switched on by a name: the header `X-Break: notice`, the
 * parameter `?break=notice`, or the address `/~notice/` (see `router.php`). Several names are joined by commas.
 *
 * | name | what happens |
 * | --- | --- |
 * | `notice`, `bom`, `blank` | a PHP notice, a byte order mark, or empty lines before the JSON |
 * | `comment` | a cache's HTML comment after the JSON |
 * | `html` | the JSON is sent as `text/html` |
 * | `empty`, `cut` | no body, or half of it |
 * | `page` | status 200 and a web page in place of the JSON |
 * | `total` | no `X-WP-Total` and `X-WP-TotalPages` |
 * | `401json`, `403json`, `403html` | refused by a plugin, by WordPress, by a firewall |
 * | `maintenance` | 503 with a page, everywhere |
 * | `500page2` | the second page of every list fails |
 * | `off` | REST for users who are logged in only |
 * | `gone` | no REST at all: `/wp-json/` is the site's own 404 page |
 * | `plain` | plain permalinks: `?rest_route=` only |
 * | `nolink` | no `Link` header and element that names the API |
 * | `nousers` | no `/users` for anonymous callers |
 * | `noauth` | the server strips `Authorization` |
 * | `slow` | REST answers after two seconds |
 */

$faults = array_flip(explode(',', $_SERVER['HTTP_X_BREAK'] ?? (is_string($_GET['break'] ?? null) ? $_GET['break'] : '')));
$on = fn(string $name): bool => isset($faults[$name]);

$page = function (int $status, string $title, string $text): void {
    status_header($status);
    header('Content-Type: text/html; charset=UTF-8');
    echo "<!DOCTYPE html>\n<html><head><title>$title</title></head>\n<body><h1>$title</h1><p>$text</p></body></html>\n";
    exit;
};

if ($on('maintenance')) {
    header('Retry-After: 600');
    $page(503, 'Maintenance', 'Briefly unavailable for scheduled maintenance. Check back in a minute.');
}
if ($on('noauth')) {
    unset($_SERVER['PHP_AUTH_USER'], $_SERVER['PHP_AUTH_PW'], $_SERVER['HTTP_AUTHORIZATION']);
}
if ($on('plain')) {
    add_filter('pre_option_permalink_structure', '__return_empty_string');
    // One rule that nothing matches: without any, WordPress would save new ones.
    add_filter('pre_option_rewrite_rules', fn() => ['(?!)' => 'index.php']);
}
if ($on('nolink') || $on('gone')) {
    remove_action('template_redirect', 'rest_output_link_header', 11);
    remove_action('wp_head', 'rest_output_link_wp_head');
}
if ($on('gone')) {
    remove_action('parse_request', 'rest_api_loaded');
    add_action('parse_request', function (WP $wp): void {
        if (!empty($wp->query_vars['rest_route'])) {
            $wp->query_vars = ['error' => '404'];
        }
    });
}
if ($on('off')) {
    add_filter('rest_authentication_errors', fn($result) => is_user_logged_in() ? $result
        : new WP_Error('rest_cannot_access', 'DRA: Only authenticated users can access the REST API.', ['status' => 401]), 99);
}
if ($on('401json')) {
    add_filter('rest_authentication_errors', fn() => new WP_Error('rest_login_required', 'REST API restricted to authenticated users.', ['status' => 401]), 99);
}
if ($on('403json')) {
    add_filter('rest_authentication_errors', fn() => new WP_Error('rest_forbidden', 'Sorry, you are not allowed to do that.', ['status' => 403]), 99);
}
if ($on('nousers')) {
    add_filter('rest_endpoints', fn(array $routes) => is_user_logged_in() ? $routes
        : array_filter($routes, fn(string $route) => !str_starts_with($route, '/wp/v2/users'), ARRAY_FILTER_USE_KEY));
}
if ($on('500page2')) {
    add_filter('rest_pre_dispatch', function ($result, $server, WP_REST_Request $request) {
        $offset = (int) $request['offset'];
        $second = (int) $request['page'] === 2 || ($offset > 0 && $offset === (int) ($request['per_page'] ?? 10));
        return $second ? new WP_Error('internal_server_error', 'There has been a critical error on this website.', ['status' => 500]) : $result;
    }, 10, 3);
}

add_action('parse_request', function (WP $wp) use ($on, $page): void {
    if (empty($wp->query_vars['rest_route'])) {
        return;
    }
    if ($on('slow')) {
        sleep(2);
    }
    if ($on('page')) {
        $page(200, 'Log in', 'This site is for members.');
    }
    if ($on('403html')) {
        $page(403, '403 Forbidden', 'Request blocked by the web application firewall.');
    }
    ob_start(function (string $body) use ($on): string {
        if ($on('total')) {
            header_remove('X-WP-Total');
            header_remove('X-WP-TotalPages');
        }
        if ($on('html')) {
            header('Content-Type: text/html; charset=UTF-8');
        }
        $notice = "<br />\n<b>Notice</b>:  Undefined index: lang in <b>/var/www/html/wp-content/plugins/old/old.php</b> on line <b>42</b><br />\n";
        return match (true) {
            $on('empty') => '',
            $on('cut') => substr($body, 0, intdiv(strlen($body), 2)),
            default => ($on('bom') ? "\u{FEFF}" : '') . ($on('notice') ? $notice : '') . ($on('blank') ? "\r\n\n \t" : '')
                . $body . ($on('comment') ? "\n<!-- Cached page generated by Cache on 2024-03-01 10:00:00 -->\n" : ''),
        };
    });
}, 0);
