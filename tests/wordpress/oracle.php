<?php
/**
 * What WordPress itself answers: `php oracle.php SITE < queries.jsonl`, one line out for each line in.
 *
 * In:  {"name": …, "args": {…}} where `args` is the `query` of a definition, which is what WP_Query takes, plus
 *      `tax_query: {relation, clauses}` and REST's `sticky` and names of `orderby`.
 * Out: {"name": …, "ids": […], "ties": [[…], …], "protected": […], "found": n, "open": false}
 *
 * - `ids`: the posts of `new WP_Query(args)` in order, as an anonymous visitor gets them, or the editor with
 *   `"auth": true`.
 * - `ties`: groups whose order SQL leaves open. A group may hold posts that are not in `ids`: where the page's
 *   end cuts a group, any of its members may be on the page. An answer is right when it is as long as `ids`,
 *   has no post twice, and has at each place the same post or one of the same group.
 * - `protected`: those of `ids`, and of `ties`, that have a password.
 * - `found`: WP_Query's `found_posts`.
 * - `open`: the end of the page cuts a group with a sticky or a protected post in it, so that even the length of
 *   a right answer is open. Such a query tests nothing.
 */

$_SERVER['HTTP_HOST'] = '127.0.0.1';
require $argv[1] . '/wp-load.php';

/** The query being judged: sticky posts make WP_Query run a second one inside. */
$judged = null;
$clauses = [];
$page = [];
add_filter('posts_clauses_request', function (array $parts, WP_Query $query) use (&$judged, &$clauses): array {
    if ($query === $judged) {
        $clauses = $parts;
    }
    return $parts;
}, PHP_INT_MAX, 2);
// Runs before sticky posts are moved: the posts as SQL gave them.
add_filter('posts_results', function (array $posts, WP_Query $query) use (&$judged, &$page): array {
    if ($query === $judged) {
        $page = array_map(fn(WP_Post $post) => $post->ID, $posts);
    }
    return $posts;
}, PHP_INT_MAX, 2);

while (($line = fgets(STDIN)) !== false) {
    if (trim($line) === '') {
        continue;
    }
    $case = json_decode($line, true, flags: JSON_THROW_ON_ERROR);
    wp_set_current_user(empty($case['auth']) ? 0 : get_user_by('login', 'editor')->ID);
    $judged = new WP_Query();
    $judged->query(to_wp_query($case['args']) + ['update_post_meta_cache' => false, 'update_post_term_cache' => false]);
    $answer = ['name' => $case['name'] ?? null] + answer($judged, $clauses, $page);
    fwrite(STDOUT, json_encode($answer, JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES | JSON_THROW_ON_ERROR) . "\n");
}

/** The arguments as WP_Query takes them; REST's own are translated as WordPress's posts controller does. */
function to_wp_query(array $args): array
{
    if (isset($args['tax_query']['clauses'])) {
        $args['tax_query'] = ['relation' => $args['tax_query']['relation'] ?? 'AND'] + $args['tax_query']['clauses'];
    }
    if (isset($args['orderby']) && is_string($args['orderby'])) {
        $args['orderby'] = ['id' => 'ID', 'slug' => 'name', 'include' => 'post__in'][$args['orderby']] ?? $args['orderby'];
    }
    if (isset($args['sticky'])) {
        $sticky = get_option('sticky_posts');
        if ($args['sticky']) {
            $args['post__in'] = isset($args['post__in']) ? array_intersect($sticky, $args['post__in']) : $sticky;
            $args['post__in'] = $args['post__in'] ?: [0];
        } else {
            $args['post__not_in'] = array_merge($args['post__not_in'] ?? [], $sticky);
        }
        // REST never moves sticky posts, and asking for or against them is REST's argument.
        $args['ignore_sticky_posts'] = true;
        unset($args['sticky']);
    }
    return $args;
}

/** The ids of a query that has run, and all that is needed to compare others with them. */
function answer(WP_Query $query, array $clauses, array $page): array
{
    global $wpdb;
    $ids = array_map(fn(WP_Post $post) => $post->ID, $query->posts);

    $sticky = [];
    if ($query->is_home && (int) $query->get('paged') <= 1 && !$query->get('ignore_sticky_posts')) {
        $sticky = get_option('sticky_posts');
    }

    // Posts with the same key are a tie: the place in WordPress's own order, and the part of the page.
    $rank = $clauses['orderby'] === '' ? '1' : "DENSE_RANK() OVER (ORDER BY {$clauses['orderby']})";
    $group_by = $clauses['groupby'] === '' ? '' : "GROUP BY {$clauses['groupby']}";
    $all = $wpdb->get_results("SELECT $wpdb->posts.ID, $wpdb->posts.post_password, $rank AS place FROM $wpdb->posts {$clauses['join']} WHERE 1=1 {$clauses['where']} $group_by");
    if ($wpdb->last_error !== '') {
        throw new RuntimeException($wpdb->last_error);
    }
    $groups = [];
    $protected = [];
    $cut = [];
    $unsure = [];
    foreach ($all as $row) {
        $id = (int) $row->ID;
        $moved = in_array($id, $sticky, true);
        if ($row->post_password !== '') {
            $protected[$id] = true;
        }
        if ($moved || $row->post_password !== '') {
            $unsure[$row->place] = true;
        }
        if (!in_array($id, $page, true)) {
            $cut[$row->place] = true;
        }
        if (!$moved) {
            $groups["in place $row->place"][] = $id;
        } elseif (in_array($id, $page, true)) {
            $groups["moved $row->place"][] = $id;
        }
    }
    // Sticky posts that WP_Query fetched on top, newest first.
    foreach ($query->posts as $post) {
        if (!in_array($post->ID, $page, true)) {
            $groups["fetched $post->post_date"][] = $post->ID;
        }
        if ($post->post_password !== '') {
            $protected[$post->ID] = true;
        }
    }
    $ties = array_values(array_filter($groups, fn(array $group) => count($group) > 1 && array_intersect($group, $ids)));
    array_walk($ties, fn(array &$group) => sort($group));
    ksort($protected);

    $reached = [];
    foreach ($all as $row) {
        if (in_array((int) $row->ID, $page, true)) {
            $reached[$row->place] = true;
        }
    }
    return [
        'ids' => $ids,
        'ties' => $ties,
        'protected' => array_values(array_filter(array_keys($protected), fn(int $id) => in_array($id, array_merge($ids, ...$ties), true))),
        'found' => $query->found_posts,
        'open' => array_intersect_key($reached, $cut, $unsure) !== [],
    ];
}
