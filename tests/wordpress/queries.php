<?php
/**
 * Writes the queries that the oracle and `wp_query` have to agree on: `php queries.php SITE > queries.jsonl`.
 *
 * A line is `{"name": …, "args": {…}}`, where `args` is the `query` of a definition. Two flags may follow:
 *
 * - `auth`: needs the editor's application password, since it asks for what anonymous callers may not see.
 * - `fails`: asks for a type or taxonomy that REST does not expose; the read fails and names it.
 */

$_SERVER['HTTP_HOST'] = '127.0.0.1';
require $argv[1] . '/wp-load.php';

// --- look-up: the seed's names to ids ----------------------------------------------------------------------------

function id(string $slug, string $type = 'post'): int
{
    global $wpdb;
    $found = $wpdb->get_var($wpdb->prepare("SELECT ID FROM $wpdb->posts WHERE post_name = %s AND post_type = %s", $slug, $type));
    return (int) ($found ?? throw new RuntimeException("no $type `$slug`"));
}

/** @return int[] */
function ids(string ...$slugs): array
{
    return array_map(fn(string $slug) => id($slug), $slugs);
}

function page(string $path): int
{
    return get_page_by_path($path)->ID ?? throw new RuntimeException("no page `$path`");
}

function term(string $slug, string $taxonomy = 'category'): int
{
    return get_term_by('slug', $slug, $taxonomy)->term_id ?? throw new RuntimeException("no $taxonomy `$slug`");
}

/** @return int[] */
function terms(string $taxonomy, string ...$slugs): array
{
    return array_map(fn(string $slug) => term($slug, $taxonomy), $slugs);
}

function user(string $login): int
{
    return get_user_by('login', $login)->ID ?? throw new RuntimeException("no user `$login`");
}

// --- output ------------------------------------------------------------------------------------------------------

function query(string $name, array $args): void
{
    static $names = [];
    if (isset($names[$name])) {
        throw new RuntimeException("two queries are called `$name`");
    }
    $names[$name] = true;

    $line = ['name' => $name, 'args' => $args ?: new stdClass()];
    $statuses = $args['post_status'] ?? 'publish';
    if (array_diff(is_array($statuses) ? $statuses : explode(',', $statuses), ['publish', 'inherit'])) {
        $line['auth'] = true;
    }
    $taxonomies = array_column($args['tax_query']['clauses'] ?? $args['tax_query'] ?? [], 'taxonomy');
    if (in_array('secret', (array) ($args['post_type'] ?? []), true) || in_array('mood', $taxonomies, true)) {
        $line['fails'] = true;
    }
    echo json_encode($line, JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES | JSON_THROW_ON_ERROR), "\n";
}

/** Several values of one argument, or several whole sets, under one heading. */
function each_of(string $heading, array $sets): void
{
    foreach ($sets as $args) {
        query("$heading: " . json_encode($args, JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES), $args);
    }
}

/** One clause of a `tax_query`. */
function clause(string $taxonomy, string $field, $terms, ?string $operator = null, ?bool $include_children = null): array
{
    return array_filter(['taxonomy' => $taxonomy, 'field' => $field, 'terms' => $terms, 'operator' => $operator, 'include_children' => $include_children], fn($value) => $value !== null);
}

/** `tax_query` with a relation. */
function related(string $relation, array ...$clauses): array
{
    return ['tax_query' => ['relation' => $relation, 'clauses' => $clauses]];
}

// --- types -------------------------------------------------------------------------------------------------------

query('nothing asked', []);
each_of('type', array_map(fn($type) => ['post_type' => $type], [
    'post', 'page', 'book', 'product', 'chapter', 'note', 'event', 'snippet', 'secret', ['post'], ['book'], ['post', 'page'], ['post', 'book'], ['book', 'product', 'event'], ['page', 'chapter'], ['note', 'snippet'], ['post', 'secret'],
]));
each_of('type and order', [
    ['post_type' => 'product', 'orderby' => 'title', 'order' => 'ASC'],
    ['post_type' => 'product', 'orderby' => 'ID', 'order' => 'ASC', 'posts_per_page' => 2],
    ['post_type' => 'page', 'orderby' => 'menu_order', 'order' => 'ASC', 'posts_per_page' => -1],
    ['post_type' => 'page', 'orderby' => 'menu_order', 'post_parent' => page('company'), 'posts_per_page' => -1],
    ['post_type' => 'page', 'orderby' => 'parent', 'order' => 'ASC', 'posts_per_page' => -1],
    ['post_type' => 'page', 'orderby' => 'title', 'posts_per_page' => 7],
    ['post_type' => 'chapter', 'orderby' => 'menu_order', 'order' => 'asc', 'posts_per_page' => -1],
    ['post_type' => 'book', 'orderby' => 'name', 'posts_per_page' => -1],
    ['post_type' => ['post', 'book'], 'orderby' => 'title', 'order' => 'ASC', 'posts_per_page' => 30],
    ['post_type' => ['post', 'page', 'event'], 'orderby' => 'date', 'order' => 'ASC', 'posts_per_page' => 30],
    ['post_type' => ['post', 'book'], 'posts_per_page' => 5, 'paged' => 3],
    ['post_type' => ['page', 'event'], 'posts_per_page' => 5, 'paged' => 2, 'orderby' => 'modified'],
    ['post_type' => ['book', 'event'], 'posts_per_page' => 6, 'offset' => 4],
    ['post_type' => ['post', 'page'], 'posts_per_page' => -1, 'orderby' => 'ID'],
    ['post_type' => 'event', 'orderby' => 'author', 'order' => 'ASC', 'posts_per_page' => 5],
    ['post_type' => 'event', 'orderby' => 'author', 'posts_per_page' => 4, 'paged' => 2],
    ['post_type' => 'event', 'author' => user('bob')],
    ['post_type' => 'event', 'author__not_in' => [user('bob'), user('amueller')]],
    ['post_type' => 'note', 'author' => user('bob')],
    ['post_type' => 'note', 'author__not_in' => [user('bob')]],
    ['post_type' => 'note', 'author_name' => 'anna-mueller'],
    ['post_type' => ['note', 'book'], 'author' => user('amueller')],
    ['post_type' => 'note', 'orderby' => 'author', 'posts_per_page' => -1],
    ['post_type' => 'book', 'category_name' => 'news'],
    ['post_type' => 'book', 'tag' => 'red'],
    ['post_type' => 'book', 'cat' => term('news')],
    ['post_type' => 'book', 'cat' => -term('news')],
    ['post_type' => 'book', 'tag__not_in' => [term('red', 'post_tag')]],
    ['post_type' => 'page', 'tag' => 'red'],
    ['post_type' => 'page', 'category__not_in' => [term('news')]],
    ['post_type' => ['post', 'book'], 'tag' => 'red', 'posts_per_page' => -1],
    ['post_type' => ['post', 'book'], 'category_name' => 'europe'],
    ['post_type' => 'chapter', 'post_parent' => id('volume-one', 'chapter')],
    ['post_type' => 'chapter', 'post_parent' => 0],
    ['post_type' => 'chapter', 'post_parent__not_in' => [0]],
    ['post_type' => 'book', 'post_parent' => 0],
    ['post_type' => 'book', 'post_parent' => id('book-1', 'book')],
    ['post_type' => 'product', 's' => 'widget'],
    ['post_type' => 'product', 'post__in' => [4, 2, 1], 'orderby' => 'post__in'],
    ['post_type' => 'product', 'post_name__in' => ['widget-pro', 'widget-lite']],
    ['post_type' => 'product', 'posts_per_page' => -1],
    ['post_type' => 'book', 'orderby' => 'menu_order', 'posts_per_page' => -1],
]);

// --- sticky posts ------------------------------------------------------------------------------------------------

$anna = user('amueller');
$bob = user('bob');
$editor = user('editor');
each_of('sticky posts move', [
    ['posts_per_page' => 3], ['posts_per_page' => 1], ['posts_per_page' => -1], ['posts_per_page' => 3, 'paged' => 1], ['posts_per_page' => 3, 'paged' => 2], ['posts_per_page' => 100], ['posts_per_page' => 250],
    ['author__in' => [$anna]], ['author__in' => [$bob, $editor], 'posts_per_page' => 4], ['author__not_in' => [$anna]],
    ['post__in' => ids('post-001', 'post-002', 'sticky-old')], ['post__in' => ids('post-001', 'post-002'), 'orderby' => 'post__in'], ['post__in' => ids('sticky-old', 'post-009', 'sticky-new'), 'orderby' => 'post__in'],
    ['post_name__in' => ['post-010', 'sticky-middle']], ['date_query' => ['after' => '2022', 'before' => '2023']], ['post_parent' => 0, 'posts_per_page' => 4],
    ['cat' => -term('sports')], ['category__not_in' => [term('news')]], ['tag__not_in' => [term('red', 'post_tag')]], ['post__not_in' => ids('sticky-new', 'sticky-old')], ['post__not_in' => ids('post-229')],
    ['tax_query' => [clause('topic', 'slug', 'rust', 'NOT IN')]], ['post_type' => ['post', 'page'], 'posts_per_page' => 4], ['post_type' => ['post', 'book'], 'posts_per_page' => 4], ['post_type' => 'page', 'posts_per_page' => 3], ['post_type' => 'note'], ['post_type' => ['page']],
    ['orderby' => 'title', 'order' => 'ASC', 'posts_per_page' => 5], ['orderby' => 'date', 'order' => 'ASC', 'posts_per_page' => 5], ['orderby' => 'ID', 'order' => 'ASC', 'posts_per_page' => 5], ['orderby' => 'modified', 'posts_per_page' => 5],
    ['offset' => 3], ['offset' => 0], ['offset' => 200], ['offset' => 290], ['offset' => 2, 'paged' => 2], ['post_status' => 'draft'], ['post_status' => 'future'], ['post_status' => 'private', 'posts_per_page' => 2],
]);
each_of('sticky posts stay', [
    ['author' => $anna], ['author' => "$anna,$bob", 'posts_per_page' => 5], ['author' => -$anna, 'posts_per_page' => 5], ['author_name' => 'robert'], ['category_name' => 'news'], ['cat' => term('europe')], ['category__in' => terms('category', 'local')], ['tag' => 'red'],
    ['tag_id' => term('red', 'post_tag')], ['tag__in' => terms('post_tag', 'red', 'green')], ['s' => 'sticky'], ['s' => ''], ['s' => '', 'posts_per_page' => 3], ['p' => id('sticky-old')], ['name' => 'sticky-old'], ['post_type' => 'book', 'posts_per_page' => 3],
    ['tax_query' => [clause('topic', 'slug', 'rust')]], ['tax_query' => [clause('topic', 'slug', 'rust', 'AND')]],
    related('AND', clause('topic', 'slug', 'rust'), clause('category', 'slug', 'news', 'NOT IN')), related('OR', clause('topic', 'slug', 'php', 'NOT IN'), clause('category', 'slug', 'news', 'NOT IN')), ['cat' => term('news') . ',-' . term('europe')],
]);
each_of('sticky posts ignored', [
    ['ignore_sticky_posts' => true], ['ignore_sticky_posts' => 1, 'posts_per_page' => 3], ['ignore_sticky_posts' => false, 'posts_per_page' => 3], ['ignore_sticky_posts' => true, 'author__in' => [$editor]], ['ignore_sticky_posts' => true, 'posts_per_page' => -1, 'orderby' => 'ID'],
    ['ignore_sticky_posts' => true, 'post__in' => ids('sticky-old', 'post-009', 'sticky-new'), 'orderby' => 'post__in'], ['ignore_sticky_posts' => true, 'post_type' => ['post', 'page']], ['ignore_sticky_posts' => true, 'offset' => 4], ['ignore_sticky_posts' => true, 'paged' => 3],
    ['sticky' => true], ['sticky' => false], ['sticky' => true, 'posts_per_page' => 2], ['sticky' => true, 'orderby' => 'title', 'order' => 'asc'], ['sticky' => false, 'posts_per_page' => -1], ['sticky' => true, 'author' => $editor], ['sticky' => true, 'category_name' => 'news'],
    ['sticky' => true, 'post__in' => ids('sticky-old', 'post-009', 'sticky-new')], ['sticky' => false, 'post__in' => ids('sticky-old', 'post-009', 'sticky-new')], ['sticky' => true, 'post__not_in' => ids('sticky-old')], ['sticky' => false, 'paged' => 2], ['sticky' => true, 's' => 'sticky'], ['sticky' => true, 'paged' => 2, 'posts_per_page' => 4],
    ['sticky' => true, 'post__in' => ids('post-009')], ['sticky' => true, 'post_type' => 'page'], ['sticky' => false, 'post_type' => 'book'],
]);

// --- pages, offsets, limits --------------------------------------------------------------------------------------

$plain = ['ignore_sticky_posts' => true];
each_of('paging', array_map(fn(array $args) => $args + ['category_name' => 'news'], [
    ['posts_per_page' => 1], ['posts_per_page' => '4'], ['posts_per_page' => 10, 'paged' => 1], ['posts_per_page' => 10, 'paged' => '2'], ['posts_per_page' => 10, 'paged' => 0], ['posts_per_page' => 10, 'paged' => 99], ['posts_per_page' => 100], ['posts_per_page' => 101], ['posts_per_page' => -1], ['posts_per_page' => -1, 'paged' => 2],
    ['posts_per_page' => -1, 'offset' => 5], ['offset' => 0], ['offset' => 5], ['offset' => '5', 'posts_per_page' => 2], ['offset' => 5, 'paged' => 3], ['offset' => 0, 'paged' => 2], ['offset' => 1000], ['paged' => 2, 'offset' => 1000], ['offset' => 1, 'posts_per_page' => 100], ['paged' => 3, 'posts_per_page' => 7],
]));
each_of('paging all', array_map(fn(array $args) => $args + $plain, [
    ['posts_per_page' => 100], ['posts_per_page' => 150], ['posts_per_page' => 250], ['posts_per_page' => 1000], ['posts_per_page' => 100, 'paged' => 3], ['posts_per_page' => 120, 'paged' => 2], ['posts_per_page' => 120, 'paged' => 3], ['posts_per_page' => 150, 'offset' => 130], ['posts_per_page' => 120, 'offset' => 7], ['offset' => 293], ['offset' => 292],
    ['posts_per_page' => 100, 'paged' => 4], ['posts_per_page' => -1, 'order' => 'ASC'], ['posts_per_page' => -1, 'orderby' => 'author'], ['posts_per_page' => -1, 'orderby' => 'author', 'order' => 'ASC'], ['posts_per_page' => -1, 'orderby' => 'title', 'order' => 'ASC'], ['posts_per_page' => -1, 'orderby' => 'name'], ['posts_per_page' => -1, 'orderby' => 'modified'],
    ['posts_per_page' => -1, 'orderby' => 'parent'], ['posts_per_page' => 200, 'orderby' => 'ID', 'order' => 'ASC'], ['posts_per_page' => 200, 'orderby' => 'ID', 'order' => 'ASC', 'paged' => 2], ['posts_per_page' => 250, 'orderby' => 'title'],
]));

// --- order -------------------------------------------------------------------------------------------------------

foreach (['date', 'modified', 'ID', 'id', 'title', 'name', 'slug', 'relevance'] as $orderby) {
    foreach (['ASC', 'DESC', 'asc'] as $order) {
        query("order by $orderby $order", ['orderby' => $orderby, 'order' => $order, 'category_name' => 'europe', 'posts_per_page' => 8]);
    }
    query("order by $orderby", ['orderby' => $orderby, 'tag' => 'blue']);
}
foreach (['author', 'parent', 'menu_order'] as $orderby) {
    query("order by $orderby of all", ['orderby' => $orderby, 'category_name' => 'munchen', 'posts_per_page' => -1]);
    query("order by $orderby of pages", ['orderby' => $orderby, 'order' => 'ASC', 'post_type' => 'page', 'posts_per_page' => -1]);
}
each_of('order by nothing else', [
    ['order' => 'ASC'] + $plain, ['order' => 'desc', 'paged' => 2], ['orderby' => 'post__in', 'category_name' => 'cafes'], ['orderby' => 'include', 'post__in' => ids('post-020', 'post-010', 'post-030')] + $plain, ['orderby' => 'post__in', 'order' => 'ASC', 'post__in' => ids('post-020', 'post-010', 'post-030')] + $plain,
    ['orderby' => 'post__in', 'post__in' => ids('post-020', 'post-010', 'post-030', 'post-010')] + $plain, ['orderby' => 'post__in', 'post__in' => ids('post-020', 'post-010', 'post-030'), 'posts_per_page' => 2, 'paged' => 2], ['orderby' => 'post__in', 'post__in' => array_reverse(range(20, 260)), 'posts_per_page' => -1] + $plain,
    ['orderby' => 'relevance', 'paged' => 2], ['orderby' => 'title', 'order' => 'ASC', 'post_name__in' => ['no-title', 'blanks', 'emoji', 'curly', 'umlaut', 'chinese', 'right-to-left', 'angle', 'percent']] + $plain,
    ['category_name' => 'food-drink', 'orderby' => 'title', 'order' => 'ASC', 'posts_per_page' => -1], ['tag' => 'smile', 'orderby' => 'name', 'order' => 'ASC', 'posts_per_page' => -1], ['date_query' => ['after' => '2021-06-14', 'before' => '2021-06-16'], 'posts_per_page' => -1] + $plain,
    ['category_name' => 'sports', 'date_query' => ['after' => '2021-06-15 11:00', 'before' => '2021-06-15 13:00'], 'posts_per_page' => 2],
]);

// --- one post ----------------------------------------------------------------------------------------------------

each_of('by id', [
    ['p' => id('post-001')], ['p' => (string) id('post-001')], ['p' => 99999], ['p' => id('protected-0')], ['p' => id('draft-0')], ['p' => id('private-0')], ['p' => id('future-0')], ['p' => id('trashed__trashed')], ['p' => page('about')], ['p' => page('about'), 'post_type' => 'page'], ['p' => 1, 'post_type' => 'product'], ['p' => 1],
    ['p' => 1, 'post_type' => ['post', 'product']], ['p' => id('post-001'), 'post_type' => 'page'], ['p' => id('picture-0', 'attachment')], ['p' => id('picture-0', 'attachment'), 'post_type' => 'attachment'], ['p' => id('book-5', 'book'), 'post_type' => 'book'], ['p' => id('event-3', 'event'), 'post_type' => 'event'], ['p' => id('secret-1', 'secret'), 'post_type' => 'secret'],
    ['p' => id('post-001'), 'cat' => term('привет')], ['p' => id('post-001'), 'category_name' => 'empty'], ['p' => id('post-001'), 'paged' => 2], ['p' => id('post-001'), 'offset' => 3], ['p' => id('post-001'), 'author' => user('nobody')], ['p' => id('post-001'), 's' => 'nothing like it'], ['p' => id('post-001'), 'post__not_in' => ids('post-001')],
    ['p' => id('post-001'), 'post__in' => ids('post-002')], ['p' => id('post-001'), 'date_query' => ['after' => '2023']], ['p' => id('post-001'), 'tag__in' => [term('unused', 'post_tag')]], ['p' => id('post-001'), 'name' => 'post-002'], ['p' => id('draft-1'), 'post_status' => 'draft'], ['p' => id('note-1', 'note'), 'post_type' => 'note'],
    ['p' => id('post-001'), 'tax_query' => [clause('topic', 'slug', 'lonely')]], ['p' => id('post-001'), 'post_parent' => 5], ['p' => id('post-001'), 'posts_per_page' => -1],
]);
each_of('by name', [
    ['name' => 'post-001'], ['name' => 'Post-001'], ['name' => 'no-such-post'], ['name' => 'привет-мир'], ['name' => '%d0%bf%d1%80%d0%b8%d0%b2%d0%b5%d1%82-%d0%bc%d0%b8%d1%80'], ['name' => 'cafe-munchen'], ['name' => 'café-münchen'], ['name' => 'contact'], ['name' => 'contact', 'post_type' => 'page'], ['name' => 'team', 'post_type' => 'page'], ['name' => 'anna', 'post_type' => 'page'],
    ['name' => 'about/team', 'post_type' => 'page'], ['name' => 'about'], ['name' => 'book-3'], ['name' => 'book-3', 'post_type' => 'book'], ['name' => 'book-5', 'post_type' => 'book'], ['name' => 'volume-one', 'post_type' => 'chapter'], ['name' => 'volume-one/chapter-1', 'post_type' => 'chapter'], ['name' => 'chapter-1', 'post_type' => 'chapter'], ['name' => 'protected-1'], ['name' => 'draft-1'], ['name' => 'draft-1', 'post_status' => 'draft'],
    ['name' => 'private-1'], ['name' => 'sticky-old', 'category_name' => 'empty'], ['name' => 'post-001', 'paged' => 3], ['name' => 'post-001', 'author__in' => [user('nobody')]], ['name' => 'post-001', 'post__not_in' => ids('post-001')], ['name' => 'post-001 post-002'], ['name' => 'post-001,post-002'], ['name' => 'event-3', 'post_type' => ['event', 'post']], ['name' => 'same-second-a', 's' => 'zzz'],
    ['name' => 'picture-0'], ['name' => 'post-001', 'date_query' => ['after' => '2023']], ['name' => 'post-001', 'offset' => 1], ['name' => 'post-001', 'post_type' => ['post', 'page']],
]);
each_of('by page id', [
    ['page_id' => page('about')], ['page_id' => (string) page('about/team')], ['page_id' => page('locked')], ['page_id' => page('draft-parent')], ['page_id' => page('private-parent')], ['page_id' => 99999], ['page_id' => id('post-001')], ['page_id' => page('about'), 'post__in' => ids('post-001')], ['page_id' => page('about'), 'post__not_in' => [page('about')]], ['page_id' => page('about'), 'author' => user('nobody')],
    ['page_id' => page('about'), 'paged' => 2], ['page_id' => page('about'), 's' => 'zzz'], ['page_id' => page('about'), 'category_name' => 'news'], ['page_id' => page('about'), 'post_type' => 'post'], ['page_id' => id('volume-one', 'chapter'), 'post_type' => 'chapter'], ['page_id' => page('about'), 'post_parent' => 7], ['page_id' => page('about'), 'date_query' => ['before' => '2000']], ['page_id' => 1], ['page_id' => page('about'), 'posts_per_page' => -1], ['page_id' => page('about'), 'post_name__in' => ['x']],
]);
each_of('by page path', [
    ['pagename' => 'about'], ['pagename' => '/about/'], ['pagename' => 'about/team'], ['pagename' => 'about/team/anna'], ['pagename' => 'company/team'], ['pagename' => 'company/team/anna'], ['pagename' => 'team'], ['pagename' => 'anna'], ['pagename' => 'team/anna'], ['pagename' => 'history'], ['pagename' => 'about/history'], ['pagename' => 'About'], ['pagename' => 'about/nobody'], ['pagename' => 'company/history'],
    ['pagename' => 'uber-uns'], ['pagename' => 'über-uns'], ['pagename' => 'привет'], ['pagename' => 'locked'], ['pagename' => 'draft-parent'], ['pagename' => 'draft-parent/child'], ['pagename' => 'private-parent/child'], ['pagename' => 'child'], ['pagename' => 'contact'], ['pagename' => 'post-001'], ['pagename' => 'volume-one', 'post_type' => 'chapter'], ['pagename' => 'volume-one/chapter-1', 'post_type' => 'chapter'],
    ['pagename' => 'about', 'paged' => 2], ['pagename' => 'about', 'category_name' => 'news'], ['pagename' => 'about', 'author' => user('nobody')], ['pagename' => 'about', 'post__not_in' => [page('about')]], ['pagename' => 'about', 'post__in' => ids('post-001')], ['pagename' => 'about', 's' => 'zzz'], ['pagename' => 'about', 'post_type' => 'post'], ['pagename' => 'about', 'posts_per_page' => -1], ['pagename' => 'picture-0'], ['pagename' => 'about', 'offset' => 2],
]);

// --- lists of posts, parents -------------------------------------------------------------------------------------

each_of('lists', [
    ['post__in' => ids('post-001', 'post-002', 'draft-0', 'private-0', 'protected-0')] + $plain, ['post__in' => [99999]], ['post__in' => [99999]] + $plain, ['post__in' => [page('about'), id('post-001')]] + $plain, ['post__in' => [page('about'), id('post-001'), 1], 'post_type' => ['post', 'page', 'product']] + $plain, ['post__in' => array_map('strval', ids('post-003', 'post-004'))] + $plain,
    ['post__in' => ids('post-001', 'post-002'), 'post__not_in' => ids('post-002')] + $plain, ['post__in' => range(1, 150), 'posts_per_page' => 120] + $plain, ['post__in' => ids('post-001', 'post-002'), 'category_name' => 'world'], ['post__not_in' => range(100, 240), 'posts_per_page' => 20] + $plain, ['post__not_in' => [99999]] + $plain, ['post__not_in' => array_map('strval', ids('sticky-new', 'sticky-middle'))], ['post__not_in' => range(1, 160), 'paged' => 2],
    ['post_name__in' => ['post-001', 'post-005', 'no-such-post']] + $plain, ['post_name__in' => ['no-such-post']] + $plain, ['post_name__in' => ['no-such-post']], ['post_name__in' => ['привет-мир', 'café-münchen']] + $plain, ['post_name__in' => ['team', 'anna'], 'post_type' => 'page'] + $plain, ['post_name__in' => ['post 001', 'post-002']] + $plain, ['post_name__in' => ['post-001,post-002']] + $plain,
    ['post_name__in' => array_map(fn(int $n) => sprintf('post-%03d', $n), range(0, 119)), 'posts_per_page' => -1] + $plain, ['post_name__in' => ['draft-0', 'post-001']] + $plain, ['post_name__in' => ['book-1', 'post-001'], 'post_type' => ['post', 'book']] + $plain, ['post_name__in' => ['Post-001']] + $plain, ['post_name__in' => ['post-001'], 'post__in' => ids('post-002')] + $plain,
]);
each_of('parents', array_map(fn(array $args) => $args + ['post_type' => 'page'] + $plain, [
    ['post_parent' => 0], ['post_parent' => page('about')], ['post_parent' => (string) page('company')], ['post_parent' => 99999], ['post_parent' => page('draft-parent')], ['post_parent__in' => [page('about'), page('company/team')]], ['post_parent__in' => [0]], ['post_parent__in' => [0, page('about')]], ['post_parent__in' => [99999]], ['post_parent__not_in' => [0]], ['post_parent__not_in' => [page('company')]], ['post_parent__not_in' => [0, page('company')]],
    ['post_parent' => page('about'), 'orderby' => 'menu_order', 'order' => 'ASC'], ['post_parent' => page('about'), 'post_parent__in' => [page('company')]], ['post_parent' => page('about'), 'post_parent__not_in' => [page('about')]], ['post_parent__in' => [page('about'), page('company')], 'post_parent__not_in' => [page('company')]], ['post_parent' => page('about'), 'author' => $anna], ['post_parent' => page('company'), 's' => 'leaf', 'orderby' => 'ID'], ['post_parent' => page('company'), 'post_name__in' => ['team', 'leaf-3']],
    ['post_parent__not_in' => [page('company')], 'posts_per_page' => 3, 'paged' => 2], ['post_parent' => page('company'), 'tax_query' => [clause('region', 'slug', 'munich')]], ['tax_query' => [clause('region', 'slug', 'bavaria')]],
]));
each_of('parents of posts', [
    ['post_parent' => 0] + $plain, ['post_parent' => 5], ['post_parent' => 5] + $plain, ['post_parent__in' => [0]] + $plain, ['post_parent__in' => [5]], ['post_parent__in' => [0, 5], 'posts_per_page' => 3], ['post_parent__not_in' => [0]], ['post_parent__not_in' => [0]] + $plain, ['post_parent__not_in' => [5]] + $plain, ['post_parent' => 0, 'category_name' => 'cafes'], ['post_parent' => page('about'), 'post_type' => ['post', 'page']] + $plain, ['post_parent__not_in' => [0], 'post_type' => ['page', 'chapter']] + $plain,
]);

// --- authors -----------------------------------------------------------------------------------------------------

each_of('authors', [
    ['author' => $bob], ['author' => (string) $bob], ['author' => "$bob,$anna"], ['author' => "$bob, $anna", 'posts_per_page' => 20], ['author' => "-$bob"], ['author' => "-$bob,-$anna", 'posts_per_page' => 20], ['author' => "$bob,-$anna"], ['author' => user('nobody')], ['author' => user('drafter')], ['author' => user('booker')], ['author' => user('booker'), 'post_type' => 'book'], ['author' => 99999], ['author' => -99999], ['author' => 0], ['author' => user('agent7')],
    ['author_name' => 'robert'], ['author_name' => 'bob'], ['author_name' => 'anna-mueller'], ['author_name' => 'Anna-Mueller'], ['author_name' => 'jurgen-gross'], ['author_name' => 'jürgen-groß'], ['author_name' => 'juergen'], ['author_name' => 'nobody'], ['author_name' => 'drafter'], ['author_name' => 'secretive'], ['author_name' => 'booker', 'post_type' => 'book'], ['author_name' => 'booker'], ['author_name' => '7'], ['author_name' => 'no-such-user'], ['author_name' => 'author/robert'],
    ['author__in' => [$bob, $anna]], ['author__in' => [(string) $bob], 'posts_per_page' => 4] + $plain, ['author__in' => [user('nobody')]], ['author__in' => [user('nobody')]] + $plain, ['author__in' => [$bob, 99999]] + $plain, ['author__not_in' => [$bob, $anna, $editor, 1]] + $plain, ['author__not_in' => [user('nobody')]] + $plain, ['author__not_in' => [99999], 'paged' => 2],
    ['author' => $bob, 'author__not_in' => [$bob]], ['author' => $bob, 'author__not_in' => [$anna]], ['author' => "$bob,$anna", 'author__not_in' => [$anna]], ['author' => $bob, 'author__in' => [$anna]], ['author' => "$bob,$anna", 'author__in' => [$anna, $editor]], ['author__in' => [$bob, $anna], 'author__not_in' => [$anna]] + $plain, ['author_name' => 'robert', 'author__not_in' => [$anna]], ['author_name' => 'robert', 'author__not_in' => [$bob]], ['author_name' => 'robert', 'author__in' => [$anna]], ['author_name' => 'robert', 'author' => $anna], ['author_name' => 'no-such-user', 'author__not_in' => [$anna]],
    ['author_name' => 'robert', 'post_type' => 'page'], ['author_name' => 'anna-mueller', 'post_type' => ['post', 'page', 'book'], 'posts_per_page' => 20], ['author' => user('drafter'), 'post_status' => 'draft'], ['author_name' => 'drafter', 'post_status' => 'draft'], ['author' => $bob, 'posts_per_page' => -1], ['author_name' => 'robert', 'paged' => 2], ['author_name' => 'robert', 'offset' => 5, 'posts_per_page' => 3],
]);

// --- categories, tags --------------------------------------------------------------------------------------------

$news = term('news');
$world = term('world');
$europe = term('europe');
$sports = term('sports');
each_of('categories', [
    ['cat' => $news], ['cat' => (string) $news], ['cat' => $europe], ['cat' => "$europe,$sports"], ['cat' => "$world,-$europe"], ['cat' => "-$news", 'posts_per_page' => 5], ['cat' => "-$news,-$sports", 'posts_per_page' => 5], ['cat' => 99999], ['cat' => -99999, 'posts_per_page' => 5], ['cat' => 0, 'posts_per_page' => 3], ['cat' => term('empty')], ['cat' => "$europe $sports"], ['cat' => "$europe,99999"],
    ['category_name' => 'news', 'posts_per_page' => -1], ['category_name' => 'world'], ['category_name' => 'news/world'], ['category_name' => 'news/world/europe'], ['category_name' => 'sports/world'], ['category_name' => 'sports-world'], ['category_name' => 'nowhere/europe'], ['category_name' => 'europe,asia'], ['category_name' => 'europe+local'], ['category_name' => 'news+sports'], ['category_name' => 'local+munchen'], ['category_name' => 'food-drink+europe'], ['category_name' => 'europe food-drink'], ['category_name' => 'europe,no-such'], ['category_name' => 'no-such'], ['category_name' => 'no-such,neither'], ['category_name' => 'news+no-such'],
    ['category_name' => 'cafes'], ['category_name' => 'cafés'], ['category_name' => 'munchen'], ['category_name' => 'münchen'], ['category_name' => 'München'], ['category_name' => 'привет'], ['category_name' => 'food-drink'], ['category_name' => 'food-drink/cafes'], ['category_name' => 'News'], ['category_name' => 'empty'], ['category_name' => '2023'], ['category_name' => 'uncategorized', 'posts_per_page' => 5], ['category_name' => 'europe, asia'], ['category_name' => 'europe asia'],
    ['category__in' => [$news]], ['category__in' => [$world, $sports]], ['category__in' => ["$europe"]], ['category__in' => [99999]], ['category__in' => [$europe, 99999]], ['category__and' => [$news, $sports]], ['category__and' => [$news]], ['category__and' => [term('news'), term('sports'), term('привет')]], ['category__and' => terms('category', 'cafes', 'munchen')], ['category__and' => terms('category', 'local', 'munchen')], ['category__and' => [$news, 99999]], ['category__not_in' => [$news], 'posts_per_page' => 5], ['category__not_in' => [$world, $europe, $sports], 'posts_per_page' => 5] + $plain, ['category__not_in' => [99999]] + $plain,
    ['category__in' => [$news, $world], 'category__not_in' => [$sports]], ['category__in' => [$news], 'category__and' => [$news, $sports]], ['cat' => $news, 'category__not_in' => [$europe]], ['cat' => $news, 'category__in' => [$sports]], ['category_name' => 'news', 'category__not_in' => terms('category', 'world')], ['category_name' => 'news', 'cat' => $sports], ['category_name' => 'news', 'cat' => -$europe], ['category_name' => 'news', 'category__in' => terms('category', 'food-drink', 'asia')], ['cat' => -$news, 'category__not_in' => [$sports]] + $plain,
    ['category_name' => 'news', 'category__and' => terms('category', 'news', 'sports')],
]);
$red = term('red', 'post_tag');
$green = term('green', 'post_tag');
$blue = term('blue', 'post_tag');
each_of('tags', [
    ['tag' => 'red'], ['tag' => 'red,green'], ['tag' => 'red+green'], ['tag' => 'red green'], ['tag' => 'red, green'], ['tag' => 'Red'], ['tag' => 'new-york'], ['tag' => 'New York'], ['tag' => 'salt-pepper'], ['tag' => 'c'], ['tag' => 'uber'], ['tag' => 'über'], ['tag' => 'smile'], ['tag' => 'quotes'], ['tag' => 'unused'], ['tag' => 'no-such'], ['tag' => 'red,no-such'], ['tag' => 'red+no-such'], ['tag' => 'red+green+blue'], ['tag' => 'red+blue'], ['tag' => 'blue red'], ['tag' => 'green+new-york'],
    ['tag_id' => $red], ['tag_id' => "$red"], ['tag_id' => 99999], ['tag_id' => 0, 'posts_per_page' => 3], ['tag__in' => [$red, $blue]], ['tag__in' => ["$red"]], ['tag__in' => [99999]], ['tag__in' => [$red, 99999]], ['tag__and' => [$red, $blue]], ['tag__and' => [$red, $green]], ['tag__and' => [$red]], ['tag__and' => [$red, 99999]], ['tag__not_in' => [$red]], ['tag__not_in' => [$red, $green, $blue]] + $plain, ['tag__not_in' => [99999]] + $plain,
    ['tag__in' => [$red, $green], 'tag__not_in' => [$blue]], ['tag' => 'red', 'tag__not_in' => [$blue]], ['tag' => 'red', 'tag__in' => [$green]], ['tag' => 'red', 'tag_id' => $green], ['tag__and' => [$red, $blue], 'tag__not_in' => [$green]], ['tag__in' => [$red], 'tag__and' => [$green, $blue]],
    ['tag' => 'red', 'category_name' => 'news'], ['tag' => 'red', 'category__not_in' => [$news]], ['tag__in' => [$red, $green], 'cat' => "-$sports"], ['tag__not_in' => [$red], 'category_name' => 'europe'], ['tag__and' => [$red, $blue], 'category__and' => [$news, $sports]], ['tag__and' => [$red, $blue], 'category__in' => [$news, $sports, $europe]], ['tag_id' => $red, 'cat' => $europe], ['tag' => 'red,green', 'category_name' => 'europe,asia', 'author__in' => [$bob, $anna, 1]],
]);

// --- tax_query ---------------------------------------------------------------------------------------------------

$one = fn(...$arguments) => ['tax_query' => [clause(...$arguments)]];
each_of('tax_query', [
    $one('topic', 'slug', 'rust'), $one('topic', 'slug', ['rust', 'php']), $one('topic', 'term_id', term('php', 'topic')), $one('topic', 'term_id', [(string) term('php', 'topic')]), $one('topic', 'name', 'WordPress'), $one('topic', 'name', ['Rust', 'PHP']), $one('topic', 'slug', 'rust', 'IN'), $one('topic', 'slug', 'rust', 'NOT IN'), $one('topic', 'slug', ['rust', 'php'], 'AND'), $one('topic', 'slug', ['rust', 'red'], 'NOT IN'), $one('topic', 'slug', 'lonely'), $one('topic', 'slug', 'no-such'),
    $one('topic', 'slug', ['rust', 'no-such']), $one('topic', 'slug', ['no-such'], 'NOT IN'), $one('topic', 'slug', ['rust', 'no-such'], 'AND'), $one('topic', 'slug', 'red'), $one('topic', 'slug', 'rust', 'IN', false), $one('topic', 'slug', 'rust', 'IN', true),
    $one('category', 'slug', 'news'), $one('category', 'slug', 'news', 'IN', false), $one('category', 'slug', 'news', 'IN', true), $one('category', 'term_id', $world), $one('category', 'term_id', $world, 'IN', false), $one('category', 'name', 'World'), $one('category', 'name', 'World', 'IN', false), $one('category', 'name', 'Local', 'NOT IN'), $one('category', 'name', 'Food & Drink'), $one('category', 'name', 'Cafés'), $one('category', 'name', 'cafes'), $one('category', 'name', 'Привет'), $one('category', 'slug', 'привет'), $one('category', 'slug', 'cafés'), $one('category', 'name', '2023'),
    $one('category', 'slug', 'news', 'NOT IN'), $one('category', 'slug', 'news', 'NOT IN', false), $one('category', 'slug', ['news', 'sports'], 'AND'), $one('category', 'slug', ['news', 'sports'], 'AND', false), $one('category', 'slug', ['world', 'europe'], 'AND'), $one('category', 'term_id', [$news, $sports]), $one('category', 'term_id', 99999), $one('category', 'term_id', [99999], 'NOT IN'),
    $one('post_tag', 'name', 'Salt, Pepper'), $one('post_tag', 'name', 'C++'), $one('post_tag', 'name', 'New York'), $one('post_tag', 'name', 'new york'), $one('post_tag', 'name', '😀 smile'), $one('post_tag', 'name', 'Tom’s "tag"'), $one('post_tag', 'slug', ['red', 'blue'], 'AND'), $one('post_tag', 'slug', 'red', 'NOT IN'), $one('post_tag', 'name', 'Über'), $one('post_tag', 'slug', 'über'),
    $one('genre', 'slug', 'fiction'), $one('genre', 'slug', 'sci-fi'), $one('genre', 'slug', 'fiction', 'IN', false), $one('genre', 'slug', 'fiction', 'NOT IN'), $one('genre', 'slug', 'news'), $one('genre', 'slug', 'fiction') + ['post_type' => 'book'], $one('genre', 'slug', 'fiction', 'NOT IN') + ['post_type' => 'book'], $one('genre', 'slug', 'fiction', 'IN', false) + ['post_type' => 'book'], $one('genre', 'slug', 'fiction') + ['post_type' => ['book', 'chapter']], $one('genre', 'name', 'Science Fiction') + ['post_type' => 'book'], $one('genre', 'slug', 'fiction') + ['post_type' => 'post'],
    $one('genre', 'slug', 'fiction', 'NOT IN') + ['post_type' => 'post'] + $plain, $one('topic', 'slug', 'rust') + ['post_type' => 'book'], $one('topic', 'slug', 'rust') + ['post_type' => 'event'], $one('topic', 'slug', 'rust') + ['post_type' => ['post', 'book', 'event']], $one('topic', 'slug', 'rust', 'NOT IN') + ['post_type' => ['post', 'event']] + $plain, $one('topic', 'slug', 'rust') + ['post_type' => 'page'],
    $one('region', 'slug', 'bavaria'), $one('region', 'slug', 'bavaria') + ['post_type' => 'event'], $one('region', 'slug', 'munich') + ['post_type' => ['page', 'event']], $one('region', 'slug', 'bavaria', 'NOT IN') + ['post_type' => 'event'], $one('region', 'slug', 'bavaria', 'IN', false) + ['post_type' => 'event'], $one('product_cat', 'slug', 'widgets'), $one('product_cat', 'slug', 'widgets') + ['post_type' => 'product'], $one('product_cat', 'slug', ['widgets', 'gadgets'], 'AND') + ['post_type' => 'product'], $one('product_cat', 'slug', 'widgets', 'NOT IN') + ['post_type' => 'product'],
    $one('product_cat', 'slug', 'widgets', 'IN', false) + ['post_type' => 'product', 'orderby' => 'title', 'order' => 'ASC'], $one('license', 'slug', 'cc0'), $one('license', 'slug', 'cc0') + ['post_status' => 'inherit'], $one('license', 'slug', 'cc0') + ['post_type' => 'attachment', 'post_status' => 'inherit'], $one('mood', 'slug', 'happy'), $one('mood', 'slug', 'happy', 'NOT IN'),
    $one('topic', 'slug', 'rust') + ['category_name' => 'news'], $one('topic', 'slug', 'rust', 'NOT IN') + ['category_name' => 'news'], $one('category', 'slug', 'sports') + ['category_name' => 'news'], $one('category', 'slug', 'europe', 'NOT IN') + ['category_name' => 'news'], $one('category', 'slug', 'europe', 'NOT IN') + ['category__not_in' => [$sports]] + $plain, $one('post_tag', 'slug', 'red') + ['tag' => 'green'], $one('topic', 'slug', 'php') + ['tag__in' => [$red, $blue], 'cat' => -$sports],
]);
$topic = fn($terms, $operator = null) => clause('topic', 'slug', $terms, $operator);
$category = fn($terms, $operator = null, $children = null) => clause('category', 'slug', $terms, $operator, $children);
$tag = fn($terms, $operator = null) => clause('post_tag', 'slug', $terms, $operator);
each_of('tax_query of several', [
    related('AND', $topic('rust'), $tag('red')), related('AND', $topic('rust'), $topic('php')), related('AND', $topic(['rust', 'php']), $topic(['php', 'wordpress'])), related('AND', $topic('rust'), $topic('php', 'NOT IN')), related('AND', $topic('rust', 'NOT IN'), $topic('php', 'NOT IN')), related('AND', $category('news'), $category('sports')), related('AND', $category('news'), $category('world', 'NOT IN')), related('AND', $category('news'), $category('news', 'NOT IN', false)),
    related('AND', $category('news', null, false), $category('sports', null, false)), related('AND', $category('news'), $tag('red', 'NOT IN')), related('AND', $category(['news', 'sports'], 'AND'), $tag('red')), related('AND', $topic('no-such'), $tag('red')), related('AND', $topic('no-such', 'NOT IN'), $tag('red')), related('AND', $tag(['red', 'blue'], 'AND'), $topic('php', 'NOT IN'), $category('sports', 'NOT IN')), ['tax_query' => [$topic('rust'), $tag('red')]], ['tax_query' => [$category('europe'), $tag('red', 'NOT IN')]],
    related('OR', $topic('rust'), $tag('red')), related('OR', $topic('rust'), $topic('php')), related('OR', $category('europe'), $category('cafes')), related('OR', $category('news', null, false), $tag('new-york')), related('OR', $topic('no-such'), $tag('red')), related('OR', $topic('no-such'), $tag('neither')), related('OR', $topic('lonely'), $category('cyrillic')), related('OR', $topic('rust', 'NOT IN'), $tag('red')), related('OR', $topic('rust', 'NOT IN'), $tag('red', 'NOT IN')), related('OR', $tag(['red', 'blue'], 'AND'), $topic('red')),
    related('OR', $topic('no-such', 'NOT IN'), $tag('red')), related('or', $topic('rust'), $category('munchen')), related('OR', $topic('rust')), related('OR', $topic('rust'), $tag('red')) + ['posts_per_page' => -1], related('OR', $topic('rust'), $tag('red')) + ['paged' => 2], related('OR', $topic('rust'), $tag('red')) + ['offset' => 3, 'posts_per_page' => 4], related('OR', $topic('rust'), $tag('red')) + ['author' => $bob], related('OR', $topic('rust'), $tag('red')) + ['orderby' => 'title', 'order' => 'ASC'],
    related('OR', $topic('rust'), $tag('red')) + ['category_name' => 'cafes'], related('OR', $topic('lonely'), $tag('quotes')) + ['category_name' => 'cyrillic'], related('OR', $topic('red'), $category('cafes')) + ['tag' => 'uber'], related('OR', $topic('red'), $category('cafes')) + ['cat' => $sports], related('OR', $topic('red'), $category('cafes')) + ['tag__in' => [$red]], related('OR', $topic('red'), $category('cafes')) + ['category__not_in' => [$europe]], related('OR', $topic('rust'), $tag('red')) + ['post_type' => 'book'], related('OR', $topic('rust'), $tag('red')) + ['post_type' => ['post', 'book']],
    related('OR', $topic('rust'), $tag('red')) + ['s' => 'apple'], related('OR', $topic('rust'), $tag('red')) + ['date_query' => ['after' => '2020']], related('OR', $topic('rust'), $tag('red')) + ['post__not_in' => ids('sticky-new')], related('OR', $topic('rust'), $tag('red')) + ['post__in' => range(20, 60)],
    related('OR', clause('genre', 'slug', 'crime'), clause('topic', 'slug', 'rust')), related('AND', clause('genre', 'slug', 'fiction'), clause('topic', 'slug', 'rust')), related('AND', clause('genre', 'slug', 'fiction'), clause('genre', 'slug', 'sci-fi', 'NOT IN')) + ['post_type' => 'book'],
]);

// --- dates -------------------------------------------------------------------------------------------------------

each_of('dates', array_map(fn(array $date) => ['date_query' => $date] + $plain, [
    ['after' => '2023'], ['after' => '2023-06'], ['after' => '2023-06-07'], ['after' => '2023-06-07 12:30'], ['after' => '2023-06-07 12:30:00'], ['after' => '2023-06-07 12:30:30'], ['before' => '2015'], ['before' => '2015-02'], ['before' => '2014-03-01'], ['before' => '2023-06-07 12:30'], ['before' => '2023-06-07 12:30:30'], ['before' => '2023-06-07'],
    ['after' => '2023', 'inclusive' => true], ['after' => '2023-06', 'inclusive' => true], ['after' => '2023-06-07', 'inclusive' => true], ['after' => '2023-06-07 12:30', 'inclusive' => true], ['after' => '2023-06-07 12:30:30', 'inclusive' => true], ['before' => '2015', 'inclusive' => true], ['before' => '2015-02', 'inclusive' => true], ['before' => '2023-06-07', 'inclusive' => true], ['before' => '2023-06-07 12:30', 'inclusive' => true], ['before' => '2023-06-07 12:30:30', 'inclusive' => true],
    ['after' => '2023-06-07', 'before' => '2023-06-08'], ['after' => '2023-06-07', 'before' => '2023-06-07', 'inclusive' => true], ['after' => '2023-06-06', 'before' => '2023-06-08'], ['after' => '2023-06-07 12:29', 'before' => '2023-06-07 12:31'], ['after' => '2019-12-31', 'before' => '2020-01-02'], ['after' => '2019', 'before' => '2021'], ['after' => '2020', 'before' => '2020', 'inclusive' => true], ['after' => '2020-02', 'before' => '2020-02', 'inclusive' => true], ['after' => '2020-02-29', 'before' => '2020-02-29', 'inclusive' => true], ['before' => '2020-02-29', 'after' => '2020-01'],
    ['after' => '2021', 'before' => '2020'], ['after' => '2023-03-26 01:59:59', 'before' => '2023-03-26 03:00:00'], ['after' => '2023-03-26 01:59:59', 'before' => '2023-03-26 03:00:00', 'inclusive' => true], ['after' => '2023-03-26 02:30:00'], ['after' => '2023-03-26 02:00:00', 'before' => '2023-03-27'], ['after' => '2023-10-29 02:00:00', 'before' => '2023-10-29 04:00:00'], ['after' => '2023-10-29 02:30:00', 'before' => '2023-10-30'], ['after' => '2023-12-31', 'before' => '2024-01-02'], ['after' => '2023-12-31 23:00', 'before' => '2024-01-01 01:00'],
    ['before' => '1970-01-01'], ['before' => '1970-01-02'], ['before' => '1970'], ['before' => '1970-01-01 00:00:00', 'inclusive' => true], ['after' => '1970-01-01 00:00:00', 'before' => '2014-02'], ['after' => '1969', 'before' => '1971'], ['before' => '1969', 'inclusive' => true], ['after' => '1970-01-01', 'inclusive' => true, 'before' => '2014-01-31'],
    ['after' => ['year' => 2023]], ['after' => ['year' => 2023, 'month' => 6]], ['after' => ['year' => 2023, 'month' => 6, 'day' => 7]], ['before' => ['year' => 2015]], ['before' => ['year' => 2015, 'month' => 2]], ['before' => ['year' => 2014, 'month' => 3, 'day' => 1], 'inclusive' => true], ['after' => ['year' => '2023', 'month' => '6'], 'inclusive' => true], ['after' => ['year' => 2020], 'before' => ['year' => 2020], 'inclusive' => true], ['after' => ['year' => 2021], 'before' => '2022-03-05'],
    ['after' => '3 hours ago'], ['after' => '2 days ago'], ['after' => '3 weeks ago'], ['after' => '3 months ago'], ['after' => '2 years ago'], ['after' => '1 day ago'], ['after' => '3 days ago', 'inclusive' => true], ['before' => '8 years ago'], ['before' => '90 days ago', 'after' => '3 years ago'], ['before' => '2 hours ago'], ['before' => '1 month ago', 'after' => '2024-06'],
    ['column' => 'post_modified', 'after' => '2024'], ['column' => 'post_modified', 'before' => '2014-06'], ['column' => 'post_modified', 'after' => '2024-02-28', 'before' => '2024-03-01'], ['column' => 'post_modified', 'after' => '2024-02-29', 'before' => '2024-02-29', 'inclusive' => true], ['column' => 'post_modified', 'after' => '2024-02-29', 'before' => '2024-04'], ['column' => 'post_date', 'after' => '2024'], ['column' => 'post_modified', 'after' => '2 days ago'], ['column' => 'post_modified', 'after' => ['year' => 2023, 'month' => 11]],
    [['after' => '2023-06-07']], [['after' => '2023', 'before' => '2023-04', 'inclusive' => true]], [['column' => 'post_modified', 'after' => '2024-01']],
]));
each_of('dates and more', [
    ['date_query' => ['after' => '2023'], 'category_name' => 'europe'], ['date_query' => ['after' => '2019', 'before' => '2021'], 'author' => $anna], ['date_query' => ['after' => '2020'], 's' => 'apple'], ['date_query' => ['after' => '2020'], 'post_type' => 'book'], ['date_query' => ['after' => '2020', 'before' => '2022-06'], 'post_type' => ['post', 'page', 'book'], 'posts_per_page' => 30], ['date_query' => ['before' => '2016'], 'order' => 'ASC', 'posts_per_page' => 4, 'paged' => 2], ['date_query' => ['after' => '2018'], 'posts_per_page' => -1],
    ['date_query' => ['after' => '2022-01', 'before' => '2022-04'], 'post_type' => 'event'], ['date_query' => ['after' => '2021'], 'tag' => 'red', 'orderby' => 'modified'], ['date_query' => ['after' => '2021-01-10', 'before' => '2021-02'], 'post_type' => 'page'] + $plain, ['date_query' => ['after' => '2021'], 'post_status' => 'draft'] + $plain, ['date_query' => ['after' => '2021-03'], 'post_type' => 'note'] + $plain, ['date_query' => ['after' => '2023'], 'offset' => 2, 'posts_per_page' => 3], ['date_query' => ['before' => '1971'], 'post_status' => 'publish'],
    ['date_query' => ['after' => '2014-01-31', 'before' => '2014-02-02']],
]);

// --- search ------------------------------------------------------------------------------------------------------

each_of('search', [
    ['s' => 'apple'], ['s' => 'apple banana'], ['s' => '"apple banana"'], ['s' => 'banana apple'], ['s' => 'apple -banana'], ['s' => '-apple', 'post_type' => 'post'], ['s' => '-apple -banana', 'post_type' => 'post'], ['s' => 'Straße'], ['s' => 'strasse'], ['s' => 'naïve'], ['s' => 'naive'], ['s' => 'don’t'], ['s' => "don't"], ['s' => 'C++'], ['s' => '100%'], ['s' => '50%_off'], ['s' => '_'], ['s' => '你好'], ['s' => 'שלום'], ['s' => '🎉'], ['s' => 'nothing like it'], ['s' => 'a'], ['s' => 'the'], ['s' => ' apple '], ['s' => 'C:\\temp'], ['s' => 'Tom & Jerry'], ['s' => '<b>'], ['s' => 'Привет'], ['s' => '&amp;'],
    ['s' => 'hidden'], ['s' => 'sticky'], ['s' => 'sticky', 'orderby' => 'date', 'order' => 'ASC'], ['s' => 'apple', 'orderby' => 'date'], ['s' => 'apple', 'orderby' => 'title', 'order' => 'ASC'], ['s' => 'apple', 'orderby' => 'relevance'], ['s' => 'apple', 'orderby' => 'relevance', 'order' => 'ASC'], ['s' => 'apple', 'orderby' => 'ID', 'posts_per_page' => 3], ['s' => 'apple', 'order' => 'ASC'], ['s' => 'apple', 'posts_per_page' => -1], ['s' => 'apple', 'paged' => 2], ['s' => 'apple', 'posts_per_page' => 5, 'paged' => 2], ['s' => 'apple', 'offset' => 3, 'posts_per_page' => 4],
    ['s' => 'apple', 'post_type' => 'post'], ['s' => 'apple', 'post_type' => 'book'], ['s' => 'apple', 'post_type' => 'snippet'], ['s' => 'apple', 'post_type' => ['post', 'book']], ['s' => 'apple', 'post_type' => ['book', 'note', 'snippet']], ['s' => 'apple', 'post_type' => ['post', 'snippet'], 'orderby' => 'date'], ['s' => 'apple', 'post_type' => 'secret'], ['s' => 'team', 'post_type' => 'page'], ['s' => 'team'], ['s' => 'chapter', 'post_type' => 'chapter'], ['s' => 'widget'], ['s' => 'widget', 'post_type' => 'product', 'orderby' => 'title', 'order' => 'ASC'],
    ['s' => 'apple', 'category_name' => 'news'], ['s' => 'apple', 'tag' => 'red'], ['s' => 'apple', 'author' => $bob], ['s' => 'apple', 'author__in' => [$bob, $anna]], ['s' => 'apple', 'cat' => -$news], ['s' => 'apple', 'post__in' => range(20, 60)], ['s' => 'apple', 'post__in' => [60, 28, 20, 36], 'orderby' => 'post__in'], ['s' => 'apple', 'post__not_in' => range(20, 200)], ['s' => 'apple', 'post_name__in' => ['post-000', 'post-008', 'post-001']], ['s' => 'apple', 'ignore_sticky_posts' => true], ['s' => 'apple', 'post_status' => 'publish', 'post_type' => 'post'],
    ['s' => 'picture', 'post_type' => 'attachment', 'post_status' => 'inherit'], ['s' => '', 'post_type' => 'post', 'posts_per_page' => 3], ['s' => '', 'paged' => 2, 'post_type' => 'post'], ['s' => '', 'post_type' => 'post', 'category_name' => 'cafes'], ['s' => 'event', 'post_type' => 'event', 'orderby' => 'date'], ['s' => 'draft', 'post_status' => 'draft', 'post_type' => 'post'],
]);

// --- statuses, media ---------------------------------------------------------------------------------------------

each_of('status', [
    ['post_status' => 'publish'], ['post_status' => 'draft'] + $plain, ['post_status' => 'private'] + $plain, ['post_status' => 'pending'] + $plain, ['post_status' => 'future'] + $plain, ['post_status' => ['publish', 'draft']] + $plain, ['post_status' => 'publish,private', 'posts_per_page' => 20] + $plain, ['post_status' => ['draft', 'pending', 'future'], 'orderby' => 'title', 'order' => 'ASC'] + $plain, ['post_status' => 'trash'] + $plain, ['post_status' => 'draft', 'post_type' => 'page'] + $plain, ['post_status' => 'draft', 'post_type' => 'book'], ['post_status' => 'draft', 'post_type' => 'product'],
    ['post_status' => 'private', 'author_name' => 'robert'], ['post_status' => 'draft', 'category_name' => 'news'], ['post_status' => 'draft', 'tag' => 'red'], ['post_status' => 'future', 'order' => 'ASC'] + $plain, ['post_status' => ['publish', 'private'], 'post_type' => ['post', 'page'], 'posts_per_page' => 30] + $plain, ['post_status' => 'inherit'], ['post_status' => 'inherit', 'post_type' => 'post'] + $plain, ['post_status' => ['publish']] + $plain,
]);
each_of('media', array_map(fn(array $args) => $args + ['post_type' => 'attachment', 'post_status' => 'inherit'], [
    [], ['posts_per_page' => -1], ['posts_per_page' => 3], ['posts_per_page' => 3, 'paged' => 2], ['order' => 'ASC'], ['orderby' => 'title'], ['post_parent' => id('post-001')], ['post_parent' => 0], ['post_parent__in' => ids('post-001', 'post-002')], ['post_parent__not_in' => ids('post-001')], ['author' => $bob], ['post__in' => [id('picture-3', 'attachment'), id('picture-1', 'attachment')], 'orderby' => 'post__in'], ['name' => 'picture-1'], ['post_name__in' => ['picture-1', 'picture-8']], ['offset' => 2], ['date_query' => ['after' => '2020-01-05']],
]));
each_of('media without a status', [['post_type' => 'attachment'], ['post_type' => ['post', 'attachment'], 'posts_per_page' => 4], ['post_type' => 'attachment', 'post_status' => 'publish'], ['post_type' => ['post', 'attachment'], 'post_status' => ['publish', 'inherit'], 'posts_per_page' => 20] + $plain]);

// --- each argument with each other -------------------------------------------------------------------------------

$filters = [
    'author' => ['author' => $bob], 'author_name' => ['author_name' => 'anna-mueller'], 'author__in' => ['author__in' => [$bob, $editor]], 'author__not_in' => ['author__not_in' => [$anna, $bob]],
    'cat' => ['cat' => $news], 'cat excluded' => ['cat' => -$world], 'category_name' => ['category_name' => 'news/world'], 'category__in' => ['category__in' => [$europe, $sports, $news]], 'category__and' => ['category__and' => terms('category', 'news', 'sports')], 'category__not_in' => ['category__not_in' => [$news, $sports]],
    'tag' => ['tag' => 'red,blue'], 'tag_id' => ['tag_id' => $green], 'tag__in' => ['tag__in' => [$red, $green]], 'tag__and' => ['tag__and' => terms('post_tag', 'red', 'blue')], 'tag__not_in' => ['tag__not_in' => [$blue]],
    'tax_query' => ['tax_query' => [$topic(['rust', 'php'])]], 'tax_query excluded' => ['tax_query' => [$topic('rust', 'NOT IN')]], 'tax_query OR' => related('OR', $topic('wordpress'), $category('europe')),
    's' => ['s' => 'apple'], 'date' => ['date_query' => ['after' => '2017', 'before' => '2022']], 'modified' => ['date_query' => ['column' => 'post_modified', 'after' => '2020-06-15']],
    'post__in' => ['post__in' => range(15, 330, 3)], 'post__not_in' => ['post__not_in' => range(16, 330, 5)], 'post_name__in' => ['post_name__in' => array_merge(['sticky-new', 'sticky-old', 'protected-1'], array_map(fn(int $n) => sprintf('post-%03d', $n), range(0, 229, 7)))],
    'post_parent' => ['post_parent' => 0], 'types' => ['post_type' => ['post', 'book', 'page']], 'statuses' => ['post_status' => ['publish', 'draft', 'private']], 'sticky' => ['sticky' => true], 'not sticky' => ['sticky' => false], 'ignore_sticky_posts' => ['ignore_sticky_posts' => true],
];
$shapes = [
    'paged' => ['posts_per_page' => 4, 'paged' => 2], 'offset' => ['offset' => 3, 'posts_per_page' => 5], 'all' => ['posts_per_page' => -1], 'by title' => ['orderby' => 'title', 'order' => 'ASC', 'posts_per_page' => 6], 'by modified' => ['orderby' => 'modified', 'posts_per_page' => 6], 'by ID' => ['orderby' => 'ID', 'order' => 'ASC', 'posts_per_page' => 120],
    'by author' => ['orderby' => 'author', 'posts_per_page' => -1], 'by name' => ['orderby' => 'name', 'posts_per_page' => 7, 'paged' => 2], 'oldest' => ['order' => 'ASC', 'posts_per_page' => 3],
];
$names = array_keys($filters);
foreach ($names as $n => $first) {
    foreach (array_slice($names, $n + 1) as $second) {
        // `+` and not a merge: an argument that both have would be lost.
        if (!array_intersect_key($filters[$first], $filters[$second])) {
            query("$first and $second", $filters[$first] + $filters[$second] + ['posts_per_page' => 6]);
        }
    }
}
foreach ($names as $n => $filter) {
    foreach (array_keys($shapes) as $m => $shape) {
        if (($n + $m) % 2 === 0) {
            query("$filter, $shape", $filters[$filter] + $shapes[$shape]);
        }
    }
}
// Three at a time, one after the other.
foreach ($names as $n => $first) {
    $second = $names[($n + 7) % count($names)];
    $third = $names[($n + 16) % count($names)];
    $args = $filters[$first] + $filters[$second] + $filters[$third];
    if (count($args) === count($filters[$first]) + count($filters[$second]) + count($filters[$third])) {
        $shape = array_keys($shapes)[$n % count($shapes)];
        query("$first, $second and $third, $shape", $args + $shapes[$shape]);
    }
}
