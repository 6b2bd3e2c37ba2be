<?php
/**
 * Fills a new site with what breaks programs: `php seed.php SITE`, once, after `install.php`.
 *
 * Ids come out the same at each run. So does everything else but the five posts of the section "recent".
 */

$_SERVER['HTTP_HOST'] = '127.0.0.1';
require $argv[1] . '/wp-load.php';
require ABSPATH . 'wp-admin/includes/taxonomy.php';

// The names in this file stay clear of WordPress's globals, `$post` and `$page` among them.
// As an author who may write any HTML would save it.
kses_remove_filters();
remove_action('post_updated', 'wp_save_post_revision');
add_filter('wp_revisions_to_keep', '__return_zero');
wp_defer_term_counting(true);
wp_defer_comment_counting(true);
$wpdb->query('SET autocommit = 0');

update_option('timezone_string', 'Europe/Berlin');
update_option('permalink_structure', '/%year%/%monthnum%/%day%/%postname%/');
update_option('blogdescription', 'Posts that break programs');
update_option('default_ping_status', 'closed');

// --- users -------------------------------------------------------------------------------------------------------

$users = ['admin' => 1];
$insert_user = function (string $login, string $nicename, string $name, string $role = 'author') use (&$users): void {
    $users[$login] = wp_insert_user([
        'user_login' => $login, 'user_nicename' => $nicename, 'display_name' => $name, 'nickname' => $name,
        'user_email' => "$login@example.com", 'user_pass' => 'not a secret', 'role' => $role,
        'user_registered' => '2014-01-01 00:00:00',
    ]);
};
$insert_user('editor', 'editor', 'Ed Itor', 'editor');
$insert_user('amueller', 'anna-mueller', 'Anna Müller');
$insert_user('bob', 'robert', 'Robert “Bob” O’Neill');
$insert_user('juergen', 'jurgen-gross', 'Jürgen Groß');
$insert_user('nobody', 'nobody', 'No Body');                // has no posts
$insert_user('drafter', 'drafter', 'Draft Er');             // has drafts only
$insert_user('booker', 'booker', 'Book Er');                // has books only
$insert_user('secretive', 'secretive', 'Secret Ive');       // has posts of a type that is not in REST only
$insert_user('agent7', '7', 'Seven');                       // a nicename that looks like an id

add_filter('random_password', fn() => 'abcdEFGHijklMNOPqrstUVWX');
WP_Application_Passwords::create_new_application_password($users['editor'], ['name' => 'tests']);
remove_all_filters('random_password');

// --- terms -------------------------------------------------------------------------------------------------------

$terms = [];
$insert_term = function (string $taxonomy, string $key, string $name, string $parent = '', ?string $slug = null) use (&$terms): void {
    $made = wp_insert_term($name, $taxonomy, ['slug' => $slug ?? $key, 'parent' => $parent === '' ? 0 : $terms["$taxonomy:$parent"]]);
    if (is_wp_error($made)) {
        throw new RuntimeException("$taxonomy `$key`: " . $made->get_error_message());
    }
    $terms["$taxonomy:$key"] = $made['term_id'];
};
$insert_term('category', 'news', 'News');
$insert_term('category', 'world', 'World', 'news');
$insert_term('category', 'europe', 'Europe', 'world');
$insert_term('category', 'asia', 'Asia', 'world');
$insert_term('category', 'local', 'Local', 'news');
$insert_term('category', 'sports', 'Sports');
$insert_term('category', 'sports-world', 'World', 'sports');               // the name of another category
$insert_term('category', 'sports-local', 'Local', 'sports');
$insert_term('category', 'food-drink', 'Food & Drink');
$insert_term('category', 'cafes', 'Cafés', 'food-drink', 'cafés');         // WordPress saves the slug without accents
$insert_term('category', 'munchen', 'München', '', 'münchen');
$insert_term('category', 'cyrillic', 'Привет', '', 'привет');              // saved percent-encoded
$insert_term('category', 'empty', 'Empty');
$insert_term('category', '2023', '2023');                                  // a name that looks like an id
foreach (['red' => 'Red', 'green' => 'Green', 'blue' => 'Blue', 'new-york' => 'New York', 'salt-pepper' => 'Salt, Pepper', 'c' => 'C++',
    'uber' => 'Über', 'smile' => '😀 smile', 'quotes' => 'Tom’s "tag"', 'unused' => 'Unused'] as $key => $name) {
    $insert_term('post_tag', $key, $name);
}
$insert_term('genre', 'fiction', 'Fiction');
$insert_term('genre', 'sci-fi', 'Science Fiction', 'fiction');
$insert_term('genre', 'space-opera', 'Space Opera', 'sci-fi');
$insert_term('genre', 'crime', 'Crime', 'fiction');
$insert_term('genre', 'fact', 'Fact');
$insert_term('genre', 'news', 'News');                                     // the slug of a category
foreach (['rust' => 'Rust', 'php' => 'PHP', 'wordpress' => 'WordPress', 'red' => 'Red', 'lonely' => 'Lonely'] as $key => $name) {
    $insert_term('topic', $key, $name);
}
$insert_term('product_cat', 'widgets', 'Widgets');
$insert_term('product_cat', 'mini', 'Mini', 'widgets');
$insert_term('product_cat', 'gadgets', 'Gadgets');
$insert_term('region', 'bavaria', 'Bavaria');
$insert_term('region', 'munich', 'Munich', 'bavaria');
$insert_term('region', 'berlin', 'Berlin');
$insert_term('license', 'cc0', 'CC0');
$insert_term('license', 'by-sa', 'BY-SA 4.0');
$insert_term('mood', 'happy', 'Happy');
$insert_term('mood', 'sad', 'Sad');

// --- posts -------------------------------------------------------------------------------------------------------

$modified = [];
/** Inserts a post: `terms` are `taxonomy:key` names, `modified` is a date, `author` a login, `sticky` a flag. */
$insert_post = function (string $title, string $date, array $with = []) use (&$users, &$terms, &$modified): int {
    $taxonomies = [];
    foreach ($with['terms'] ?? [] as $name) {
        $taxonomies[strtok($name, ':')][] = $terms[$name];
    }
    $id = wp_insert_post(wp_slash([
        'post_type' => $with['type'] ?? 'post',
        'post_status' => $with['status'] ?? 'publish',
        'post_title' => $title,
        'post_name' => $with['slug'] ?? '',
        'post_date' => $date,
        'post_content' => $with['content'] ?? "<p>$title.</p>",
        'post_excerpt' => $with['excerpt'] ?? '',
        'post_author' => $users[$with['author'] ?? 'admin'],
        'post_parent' => $with['parent'] ?? 0,
        'post_password' => $with['password'] ?? '',
        'post_mime_type' => $with['mime'] ?? '',
        'menu_order' => $with['order'] ?? 0,
        'comment_status' => $with['comments'] ?? 'open',
        'meta_input' => $with['meta'] ?? [],
    ]), true);
    if (is_wp_error($id)) {
        throw new RuntimeException("`$title`: " . $id->get_error_message());
    }
    foreach ($taxonomies as $taxonomy => $ids) {
        wp_set_object_terms($id, $ids, $taxonomy);
    }
    if ($with['sticky'] ?? false) {
        stick_post($id);
    }
    $modified[$id] = $with['modified'] ?? $date;
    return $id;
};

// Products come first, so that `Widget Pro` has the id 1.
$insert_product = fn(string $name, ?float $price, array $with = []) => $insert_post($name, '2024-01-0' . (1 + crc32($name) % 9) . ' 09:00:00', [
    'type' => 'product', 'meta' => ($price === null ? [] : ['price' => $price]) + ['sku' => 'W-' . sanitize_title($name), 'in_stock' => $name !== 'Widget Max'],
] + $with);
$insert_product('Widget Pro', 29.99, ['terms' => ['product_cat:widgets']]);
$insert_product('Widget Lite', 9.99, ['terms' => ['product_cat:widgets']]);
$insert_product('Widget Max', 99.0, ['terms' => ['product_cat:widgets', 'product_cat:gadgets']]);
$insert_product('Widget Mini', 4.5, ['terms' => ['product_cat:mini']]);
$insert_product('Gadget & Co', 1234567.89, ['terms' => ['product_cat:gadgets']]);
$insert_product('Free Gadget', 0.0, ['terms' => ['product_cat:gadgets'], 'author' => 'editor']);
$insert_product('Priceless', null);
$insert_product('Secret Widget', 1.0, ['password' => 'x', 'terms' => ['product_cat:widgets']]);
$insert_product('Widget Next', 39.99, ['status' => 'draft']);

// 230 posts over ten years; every number below is prime to the others, so that all combinations occur.
$categories = ['news', 'world', 'europe', 'asia', 'local', 'sports', 'sports-world', 'food-drink', 'cafes', 'munchen', 'uncategorized'];
$terms['category:uncategorized'] = 1;
$tags = ['red', 'green', 'blue', 'new-york', 'salt-pepper', 'c', 'uber'];
$topics = ['rust', 'php', 'wordpress'];
$authors = ['admin', 'amueller', 'bob', 'juergen', 'editor'];
$words = ['apple', 'banana', 'cherry', 'Straße', 'naïve', 'don’t', 'C++', '100%'];
$start = new DateTimeImmutable('2014-01-05 00:00:00', new DateTimeZone('UTC'));
for ($i = 0; $i < 230; $i++) {
    $date = $start->modify('+' . ($i * 17) . ' days')->modify('+' . ($i * 7919 % 86400) . ' seconds');
    $has = ["category:{$categories[$i % 11]}"];
    if ($i % 13 < 3) {
        $has[] = "category:{$categories[($i + 5) % 11]}";
    }
    if ($i % 4 !== 0) {
        $has[] = "post_tag:{$tags[$i % 7]}";
    }
    if ($i % 3 === 0) {
        $has[] = "post_tag:{$tags[($i + 2) % 7]}";
    }
    if ($i % 5 < 3) {
        $has[] = "topic:{$topics[$i % 3]}";
    }
    if ($i % 6 === 0) {
        $has[] = 'mood:' . ($i % 12 === 0 ? 'happy' : 'sad');
    }
    $word = $words[$i % 8];
    $other = $words[$i * 3 % 8];
    $number = sprintf('%03d', $i);
    $insert_post("Post $number " . ($i % 9 === 0 ? $word : ''), $date->format('Y-m-d H:i:s'), [
        'slug' => "post-$number",
        'author' => $authors[$i * 3 % 5 === 4 && $i % 2 ? 0 : $i * 3 % 5],
        'terms' => $has,
        'modified' => $date->modify('+' . ($i * 37 % 90) . ' days')->format('Y-m-d H:i:s'),
        'content' => "<h2>Part $number</h2>\n<p>It says <em>$word</em> and <a href=\"/about/\">$other</a> &amp; more.</p>\n<ul><li>one</li><li>two</li></ul>",
        'excerpt' => $i % 10 === 0 ? "About $other" : '',
        'meta' => ($i % 7 === 0 ? ['subtitle' => "Sub & $word"] : []) + ($i % 20 === 0 ? ['internal' => 'never shown', '_acf' => ['rating' => $i % 6, 'note' => "<b>$word</b>"]] : []),
    ]);
}

// Titles.
$titles = [
    'curly' => 'Tom &amp; Jerry&#8217;s &lt;b&gt;', 'markup' => 'A <b>bold</b> <em>title</em>', 'twice' => 'Escaped &amp;amp; twice', 'quotes' => '"Double" and \'single\' -- dashes...',
    'emoji' => '👩‍👩‍👧‍👦 family 🎉 & party', 'no-title' => '', 'blanks' => ' &nbsp; ', 'right-to-left' => 'שלום עולם', 'chinese' => '你好，世界', 'angle' => '1 < 2 && 3 > 2',
    'backslash' => 'C:\\temp\\new', 'percent' => '100% of 50%_off', 'entity' => '&nbsp;&copy; &eacute;t&eacute; &#x1F600; &bogus; &amp;lt;', 'line' => "Two\nlines", 'umlaut' => 'Äpfel und Übermut',
];
foreach (array_keys($titles) as $n => $slug) {
    $insert_post($titles[$slug], sprintf('2022-03-%02d 10:00:00', 1 + $n), ['slug' => $slug, 'author' => 'bob', 'terms' => ['category:food-drink', 'post_tag:smile']]);
}
$insert_post('Привет, мир', '2022-04-01 10:00:00', ['slug' => 'привет-мир', 'terms' => ['category:cyrillic', 'post_tag:quotes']]);
$insert_post('Café in München', '2022-04-02 10:00:00', ['slug' => 'café-münchen', 'author' => 'juergen', 'terms' => ['category:cafes', 'category:munchen', 'post_tag:uber']]);
$insert_post('Title with 2023 in it', '2022-04-03 10:00:00', ['terms' => ['category:2023']]);
$insert_post('Seven wrote this', '2022-04-04 10:00:00', ['author' => 'agent7', 'slug' => 'seven', 'terms' => ['category:news', 'post_tag:red']]);
$insert_post('Search terms: apple banana', '2022-04-05 10:00:00', ['slug' => 'apple-banana', 'terms' => ['category:local']]);
$insert_post('banana apple, the other way', '2022-04-06 10:00:00', ['slug' => 'banana-apple', 'terms' => ['category:local', 'post_tag:green']]);

// Dates: one second shared, midnights, ends of years and months, a leap day, both sides of the clock's changes.
foreach (['a', 'b', 'c', 'd'] as $name) {
    $insert_post("Same second $name", '2021-06-15 12:00:00', ['slug' => "same-second-$name", 'author' => $name === 'a' ? 'amueller' : 'bob', 'terms' => ['category:sports', 'post_tag:blue']]);
}
foreach (['2019-12-31 23:59:59', '2020-01-01 00:00:00', '2020-02-29 12:00:00', '2020-03-01 00:00:00', '2023-03-26 01:59:59', '2023-03-26 02:30:00', '2023-03-26 03:00:00', '2023-06-07 00:00:00',
    '2023-06-07 12:30:00', '2023-06-07 12:30:30', '2023-06-07 23:59:59', '2023-06-08 00:00:00', '2023-10-29 02:30:00', '2023-10-29 03:00:00', '2023-12-31 23:30:00', '2024-01-01 00:30:00'] as $n => $date) {
    $insert_post("Edge $date", $date, ['slug' => 'edge-' . preg_replace('/\D+/', '-', $date), 'author' => $n % 2 ? 'amueller' : 'juergen', 'modified' => $n % 3 ? $date : '2024-02-29 00:00:00', 'terms' => ['category:europe', 'topic:red']]);
}
$insert_post('Before the epoch', '1969-12-31 23:59:59', ['slug' => 'before-the-epoch', 'terms' => ['category:news']]);
$insert_post('The epoch', '1970-01-01 00:00:00', ['slug' => 'the-epoch', 'terms' => ['category:news']]);

// Who may see it.
foreach (['2016-05-05 08:00:00', '2022-05-05 08:00:00', '2024-05-05 08:00:00'] as $n => $date) {
    $insert_post("Protected $n", $date, ['slug' => "protected-$n", 'password' => 'open sesame', 'author' => 'amueller', 'content' => '<p>hidden</p>', 'terms' => ['category:world', 'post_tag:red', 'topic:rust']]);
    $insert_post("Draft $n", $date, ['slug' => "draft-$n", 'status' => 'draft', 'author' => 'drafter', 'terms' => ['category:news', 'post_tag:red']]);
    $insert_post("Private $n", $date, ['slug' => "private-$n", 'status' => 'private', 'author' => 'bob', 'terms' => ['category:news', 'post_tag:blue']]);
    $insert_post("Pending $n", $date, ['slug' => "pending-$n", 'status' => 'pending', 'author' => 'drafter', 'terms' => ['category:news']]);
    $insert_post("Future $n", '20' . (90 + $n) . '-01-01 00:00:00', ['slug' => "future-$n", 'author' => 'amueller', 'terms' => ['category:sports']]);
}
wp_trash_post($insert_post('Trashed', '2024-05-06 08:00:00', ['slug' => 'trashed', 'terms' => ['category:news']]));

// Sticky: new, old, in the middle, two at one second, protected, and two that nobody may see.
$insert_post('Sticky new', '2024-09-01 08:00:00', ['slug' => 'sticky-new', 'sticky' => true, 'author' => 'amueller', 'terms' => ['category:news', 'post_tag:red', 'topic:rust']]);
$insert_post('Sticky old', '2014-02-01 08:00:00', ['slug' => 'sticky-old', 'sticky' => true, 'author' => 'bob', 'terms' => ['category:sports', 'post_tag:green']]);
$insert_post('Sticky middle', '2019-07-01 08:00:00', ['slug' => 'sticky-middle', 'sticky' => true, 'author' => 'juergen', 'terms' => ['category:europe', 'post_tag:red']]);
$insert_post('Sticky twin a', '2018-07-01 08:00:00', ['slug' => 'sticky-twin-a', 'sticky' => true, 'author' => 'editor', 'terms' => ['category:local']]);
$insert_post('Sticky twin b', '2018-07-01 08:00:00', ['slug' => 'sticky-twin-b', 'sticky' => true, 'author' => 'editor', 'terms' => ['category:local']]);
$insert_post('Sticky protected', '2020-07-01 08:00:00', ['slug' => 'sticky-protected', 'sticky' => true, 'password' => 'open sesame', 'terms' => ['category:news']]);
$insert_post('Sticky draft', '2020-07-02 08:00:00', ['slug' => 'sticky-draft', 'sticky' => true, 'status' => 'draft']);
$insert_post('Sticky private', '2020-07-03 08:00:00', ['slug' => 'sticky-private', 'sticky' => true, 'status' => 'private']);

// Recent: the only ones whose dates depend on the clock, for queries such as `3 days ago`.
foreach (['1 hour', '26 hours', '10 days', '2 months', '1 year'] as $n => $ago) {
    $insert_post("Written $ago ago", current_datetime()->modify("-$ago")->format('Y-m-d H:i:s'), ['slug' => "recent-$n", 'author' => $authors[$n], 'terms' => ['category:local', 'post_tag:blue']]);
}

// Content.
$insert_post('Blocks', '2022-06-01 10:00:00', ['slug' => 'blocks', 'content' => "<!-- wp:heading -->\n<h2>Blocks</h2>\n<!-- /wp:heading -->\n<!-- wp:code -->\n<pre class=\"wp-block-code\"><code>if (a &lt; b &amp;&amp; c) {}</code></pre>\n<!-- /wp:code -->\n"
    . "<!-- wp:table -->\n<figure class=\"wp-block-table\"><table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1</td><td>2 | 3</td></tr></tbody></table></figure>\n<!-- /wp:table -->\n<!-- wp:more --><!--more--><!-- /wp:more -->\n<p>After more.</p>"]);
$insert_post('Shortcodes and scripts', '2022-06-02 10:00:00', ['slug' => 'scripts', 'content' => "[gallery ids=\"1,2\"] [unknown]x[/unknown]<script>alert('x')</script><style>p{color:red}</style><p onclick=\"x()\">Text * with _marks_ # and [brackets](x)</p>"]);
$insert_post('Empty', '2022-06-03 10:00:00', ['slug' => 'no-content', 'content' => '', 'excerpt' => 'Only <b>this</b> &amp; that&hellip;']);
$insert_post('Long', '2022-06-04 10:00:00', ['slug' => 'long', 'content' => str_repeat("<p>" . str_repeat('word ', 200) . "</p>\n", 50)]);
$talked = $insert_post('Talked about', '2022-06-05 10:00:00', ['slug' => 'talked-about', 'terms' => ['category:munchen']]);
for ($n = 0; $n < 3; $n++) {
    wp_insert_comment(['comment_post_ID' => $talked, 'comment_author' => "Reader $n", 'comment_content' => "Comment & $n", 'comment_date' => "2022-06-06 10:00:0$n", 'comment_approved' => 1]);
}
add_post_meta($talked, 'sources', 'https://a.example/');
add_post_meta($talked, 'sources', 'https://b.example/?x=1&y=2');

// Pages: three levels, one slug below different parents, a post's slug, parents that nobody may see.
$insert_page = function (string $title, string $slug, int $parent, int $order, array $with = []) use ($insert_post): int {
    static $day = 0;
    $day++;
    return $insert_post($title, sprintf('2021-%02d-%02d 10:00:00', 1 + intdiv($day, 28), 1 + $day % 28), ['type' => 'page', 'slug' => $slug, 'parent' => $parent, 'order' => $order] + $with);
};
$about = $insert_page('About', 'about', 0, 2, ['terms' => ['region:bavaria']]);
$team = $insert_page('Team', 'team', $about, 1, ['author' => 'amueller']);
$insert_page('Anna', 'anna', $team, 2, ['author' => 'amueller']);
$insert_page('Bob', 'bob', $team, 1, ['author' => 'bob']);
$insert_page('History', 'history', $about, 2);
$company = $insert_page('Company', 'company', 0, 1, ['terms' => ['region:munich']]);
$company_team = $insert_page('Team of the company', 'team', $company, 1);
$insert_page('Anna at the company', 'anna', $company_team, 1);
$insert_page('Team', 'team', 0, 3, ['terms' => ['region:berlin']]);
$insert_page('Contact', 'contact', 0, 3);
$insert_post('Contact, a post', '2022-07-01 10:00:00', ['slug' => 'contact']);
$insert_page('Über uns', 'über-uns', 0, 4, ['author' => 'juergen']);
$insert_page('Привет', 'привет', 0, 4);
$insert_page('Locked', 'locked', 0, 5, ['password' => 'open sesame']);
$hidden = $insert_page('Draft parent', 'draft-parent', 0, 6, ['status' => 'draft']);
$insert_page('Child of a draft', 'child', $hidden, 1);
$inside = $insert_page('Private parent', 'private-parent', 0, 6, ['status' => 'private']);
$insert_page('Child of a private page', 'child', $inside, 1);
for ($n = 1; $n <= 12; $n++) {
    $insert_page("Leaf $n", "leaf-$n", $company, $n % 4, ['author' => $authors[$n % 5]]);
}

// Books, chapters, notes, events, and types that REST or search do not show.
$genres = ['fiction', 'sci-fi', 'space-opera', 'crime', 'fact', 'news'];
for ($n = 0; $n < 24; $n++) {
    $insert_post("Book $n " . $words[$n % 8], sprintf('20%02d-%02d-11 20:00:00', 12 + intdiv($n, 2), 1 + $n % 12), [
        'type' => 'book', 'slug' => "book-$n", 'author' => ['booker', 'amueller', 'bob'][$n % 3], 'password' => $n === 5 ? 'x' : '',
        'status' => $n === 7 ? 'draft' : 'publish', 'meta' => $n % 5 === 0 ? ['_acf' => ['isbn' => "978-$n"]] : [],
        'terms' => array_merge(["genre:{$genres[$n % 6]}"], $n % 4 === 0 ? ["topic:{$topics[$n % 3]}"] : [], $n % 3 === 0 ? ['post_tag:red'] : []),
    ]);
}
$volume = $insert_post('Volume one', '2020-01-10 10:00:00', ['type' => 'chapter', 'slug' => 'volume-one', 'order' => 1, 'terms' => ['genre:fiction']]);
$second = $insert_post('Volume two', '2020-01-11 10:00:00', ['type' => 'chapter', 'slug' => 'volume-two', 'order' => 2, 'author' => 'bob']);
for ($n = 1; $n <= 6; $n++) {
    $chapter = $insert_post("Chapter $n", sprintf('2020-02-%02d 10:00:00', $n), ['type' => 'chapter', 'slug' => 'chapter-' . (1 + ($n - 1) % 3), 'parent' => $n < 4 ? $volume : $second, 'order' => 7 - $n, 'author' => $authors[$n % 5], 'terms' => ["genre:{$genres[$n % 6]}"]]);
}
$insert_post('Section', '2020-03-01 10:00:00', ['type' => 'chapter', 'slug' => 'section', 'parent' => $chapter, 'order' => 1]);
for ($n = 0; $n < 12; $n++) {
    $insert_post("Note $n", sprintf('2021-0%d-02 0%d:00:00', 1 + $n % 9, $n % 3), ['type' => 'note', 'slug' => "note-$n", 'author' => $authors[$n % 5], 'password' => $n === 3 ? 'x' : '', 'excerpt' => $n % 2 ? "apple note $n" : '']);
    $insert_post("Event $n", sprintf('2022-%02d-20 19:30:00', 1 + $n), ['type' => 'event', 'slug' => "event-$n", 'author' => $authors[$n % 5], 'terms' => array_merge(['region:' . ['bavaria', 'munich', 'berlin'][$n % 3]], $n % 2 ? ["topic:{$topics[$n % 3]}"] : [])]);
}
for ($n = 0; $n < 4; $n++) {
    $insert_post("Snippet $n apple", "2021-10-0" . ($n + 1) . ' 10:00:00', ['type' => 'snippet', 'slug' => "snippet-$n"]);
    $insert_post("Secret $n apple", "2021-11-0" . ($n + 1) . ' 10:00:00', ['type' => 'secret', 'slug' => "secret-$n", 'author' => 'secretive']);
}

// Media: attached, unattached, attached to what nobody may see.
$uploads = wp_upload_dir('2020/01');
wp_mkdir_p($uploads['path']);
$pixel = base64_decode('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==');
$id_of = fn(string $slug, string $type = 'post') => (int) $wpdb->get_var($wpdb->prepare("SELECT ID FROM $wpdb->posts WHERE post_name = %s AND post_type = %s", $slug, $type));
$owners = [0, $id_of('post-001'), $id_of('post-002'), $id_of('draft-0'), $id_of('private-0'), $about, $id_of('protected-0'), $id_of('book-1', 'book'), 0, 0, $id_of('post-001'), $id_of('post-010')];
foreach ($owners as $n => $owner) {
    $name = "picture-$n." . ($n === 9 ? 'txt' : 'png');
    file_put_contents("{$uploads['path']}/$name", $n === 9 ? 'text' : $pixel);
    $id = $insert_post("Picture $n", sprintf('2020-01-%02d 10:00:00', 1 + $n), [
        'type' => 'attachment', 'status' => 'inherit', 'slug' => "picture-$n", 'parent' => $owner, 'mime' => $n === 9 ? 'text/plain' : 'image/png', 'author' => $authors[$n % 5],
        'content' => "Description $n", 'excerpt' => "Caption & $n", 'terms' => $n % 3 === 0 ? ['license:cc0'] : ($n === 4 ? ['license:by-sa'] : []),
        'meta' => ['_wp_attached_file' => "2020/01/$name", '_wp_attachment_image_alt' => "A pixel & $n"] + ($n === 9 ? [] : ['_wp_attachment_metadata' => ['width' => 1, 'height' => 1, 'file' => "2020/01/$name", 'sizes' => []]]),
    ]);
    if ($n === 1 || $n === 11) {
        set_post_thumbnail($owner, $id);
    }
}

// --- what WordPress has no argument for --------------------------------------------------------------------------

foreach ($modified as $id => $date) {
    $wpdb->update($wpdb->posts, ['post_modified' => $date, 'post_modified_gmt' => get_gmt_from_date($date)], ['ID' => $id]);
}
wp_defer_term_counting(false);
wp_defer_comment_counting(false);
flush_rewrite_rules(false);
$wpdb->query('COMMIT');

printf("seeded %d posts, %d terms, %d users\n", count($modified), count($terms), count($users));
