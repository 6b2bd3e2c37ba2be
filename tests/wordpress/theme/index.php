<?php
/** The smallest theme whose pages carry what WordPress puts into a page's head, such as the link to its API. */
?>
<!DOCTYPE html>
<html <?php language_attributes(); ?>>
<head>
<meta charset="<?php bloginfo('charset'); ?>">
<title><?php bloginfo('name'); ?></title>
<?php wp_head(); ?>
</head>
<body>
<?php while (have_posts()) { ?>
<?php the_post(); ?>
<article><h2><?php the_title(); ?></h2><?php the_content(); ?></article>
<?php } ?>
</body>
</html>
