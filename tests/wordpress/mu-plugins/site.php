<?php
/** What has to exist on each request: post types, taxonomies, fields; and no traffic to the outside. */

// --- nothing leaves this machine ---------------------------------------------------------------------------------

add_filter('pre_http_request', fn() => new WP_Error('http_request_blocked', 'this site makes no requests'));
add_filter('pre_wp_mail', '__return_false');
add_filter('pre_option_show_avatars', '__return_zero');
foreach (['update_core', 'update_plugins', 'update_themes'] as $name) {
    add_filter("pre_site_transient_$name", fn() => (object) ['last_checked' => time(), 'updates' => [], 'version_checked' => get_bloginfo('version')]);
}

// --- post types --------------------------------------------------------------------------------------------------

add_action('init', function (): void {
    $type = function (string $name, array $args): void {
        register_post_type($name, $args + [
            'label' => ucfirst($name) . 's',
            'public' => true,
            'show_in_rest' => true,
            'supports' => ['title', 'editor', 'author', 'excerpt', 'thumbnail', 'custom-fields'],
        ]);
    };
    // Another `rest_base`, and an archive, which takes the type out of the rule of sticky posts.
    $type('book', ['rest_base' => 'books', 'has_archive' => true, 'taxonomies' => ['post_tag']]);
    $type('product', ['has_archive' => true]);
    // A tree of its own.
    $type('chapter', ['rest_base' => 'chapters', 'hierarchical' => true, 'supports' => ['title', 'editor', 'author', 'page-attributes']]);
    // Neither content nor authors in REST.
    $type('note', ['rest_base' => 'notes', 'supports' => ['title', 'excerpt']]);
    // Another namespace than `wp/v2`.
    $type('event', ['rest_namespace' => 'calendar/v1', 'rest_base' => 'events']);
    // No search finds it, unless asked by name.
    $type('snippet', ['exclude_from_search' => true]);
    // Public, though not in REST.
    $type('secret', ['show_in_rest' => false]);

    $taxonomy = function (string $name, array $types, array $args): void {
        register_taxonomy($name, $types, $args + ['label' => ucfirst($name) . 's', 'public' => true, 'show_in_rest' => true]);
    };
    $taxonomy('genre', ['book', 'chapter'], ['hierarchical' => true, 'rest_base' => 'genres']);
    // Shared by three types, one of them in another namespace.
    $taxonomy('topic', ['post', 'book', 'event'], ['rest_base' => 'topics']);
    $taxonomy('product_cat', ['product'], ['hierarchical' => true]);
    $taxonomy('region', ['event', 'page'], ['hierarchical' => true, 'rest_namespace' => 'calendar/v1', 'rest_base' => 'regions']);
    $taxonomy('license', ['attachment'], ['rest_base' => 'licenses']);
    // Not exposed.
    $taxonomy('mood', ['post'], ['show_in_rest' => false]);
});

// --- fields ------------------------------------------------------------------------------------------------------

add_action('init', function (): void {
    $meta = fn(string $type, string $key, string $kind) => register_post_meta($type, $key, ['type' => $kind, 'single' => true, 'show_in_rest' => true]);
    $meta('product', 'price', 'number');
    $meta('product', 'sku', 'string');
    $meta('product', 'in_stock', 'boolean');
    $meta('post', 'subtitle', 'string');
    register_post_meta('post', 'sources', ['type' => 'string', 'single' => false, 'show_in_rest' => true]);
    // `internal`, which the seed sets too, is not registered, so REST never shows it.
});

// What Advanced Custom Fields adds: one object, `false` or `[]` where there is nothing.
add_action('rest_api_init', function (): void {
    register_rest_field(['post', 'book'], 'acf', [
        'get_callback' => fn(array $post) => get_post_meta($post['id'], '_acf', true) ?: [],
        'schema' => ['type' => ['object', 'array'], 'context' => ['view', 'edit']],
    ]);
});
